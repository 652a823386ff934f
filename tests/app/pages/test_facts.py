"""The five facts of a basin: each has a value, or few words on why there is none."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.http.base_schema import Period
from app.outlooks.schemas import BasinOutlook, OutlookPeak, SeasonNow
from app.pages.basins import facts
from app.versions.scores.schemas import BasinSkill, Score
from app.versions.verification.schemas import BasinVerification, LeadVerification, MonthSkill
from hydrology.base.absent import absent
from hydrology.base.reasons import Reason
from records.database.engine import Database
from records.runs import runs
from testing.records import BASIN, a_reason
from tests.app import factories
from tests.app.basins.test_thresholds import fill_records as store_record
from tests.app.forecasts.test_forecasts import fill_records
from tests.app.pages.page_text import facts_of

NO_SCORE = absent(Reason.FAILED, message="not evaluated")


def test_a_calibrated_forecast_has_threat_peak_and_snow(database: Database, client: TestClient) -> None:
    store_record(database)
    fill_records(database, factories.forecast())
    shown = facts_of(client.get(f"/basins/{BASIN}").text)
    assert list(shown) == ["Threat", "Next peak", "Snow now", "Season's volume", "Skill here"]
    assert "flood" in shown["Threat"]
    assert "in 3 days" in shown["Threat"]
    assert "90 % range: " in shown["Next peak"]
    assert shown["Snow now"].startswith("150 % of normal")
    assert shown["Season's volume"].startswith("Not known no seasonal run yet; next 3 days")
    assert shown["Skill here"] == "Not known not evaluated here yet"


@pytest.mark.parametrize(
    ("t0", "stale", "end"),
    [
        (date(2008, 4, 1), True, "60 to 140 %; stale"),
        (date(2008, 4, 1), False, "60 to 140 %"),
        (date(2008, 3, 9), True, "60 to 140 %; from T0 9 March 2008; stale"),
        (date(2008, 3, 31), False, "60 to 140 %; from T0 31 March 2008"),
    ],
)
def test_a_seasonal_volume_of_another_t0_or_of_old_is_marked(t0: date, stale: bool, end: str) -> None:
    fields: Any = {
        "exceeded_percent": [10, 50, 90],
        "percent_of_normal": [140.0, 100.0, 60.0],
        "calibrated": True,
        "period": Period(first_day=date(2008, 4, 1), last_day=date(2008, 7, 31)),
        "t0": t0,
        "stale": stale,
    }
    shown = facts.season(_outlook(t0=date(2008, 4, 1), season=SeasonNow.model_construct(**fields)))
    assert shown.value == "100 % of normal"
    assert shown.detail.endswith(end)


def test_a_forecast_without_an_error_model_gives_the_reason_in_few_words(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    result = factories.forecast(snow=False)
    summary = replace(result.basin.summary, calibration=a_reason("No error model."))
    series = [one for one in result.series if one.variable not in (runs.CALIBRATED, runs.PATHS)]
    fill_records(sqlite_database, replace(result, basin=replace(result.basin, summary=summary), series=series))
    shown = facts_of(sqlite_client.get(f"/basins/{BASIN}").text)
    assert shown["Threat"] == "Not known No uncertainty estimate yet"
    assert shown["Next peak"].endswith("No uncertainty estimate yet")
    assert shown["Snow now"].startswith("Not known")


def test_a_provisional_range_is_labelled(sqlite_database: Database, sqlite_client: TestClient) -> None:
    fill_records(sqlite_database, factories.forecast())
    answer = sqlite_client.get(f"/v1/basins/{BASIN}/outlook", params={"units": "mm/day"})
    days = [date(2008, 10, lead) for lead in (1, 2, 3)]
    peak = OutlookPeak(discharge=2.0, p05=1.0, p95=3.0, day_p05=days[0], day=days[1], day_p95=days[2])
    outlook = BasinOutlook.model_validate_json(answer.text).model_copy(update={"peak": peak})
    labels = {"observed": "90 % range", "provisional": "provisional range", "backfilled": "range from past forecasts"}
    for kind, label in (labels | {"fitted": "90 % range"}).items():
        shown = facts.peak(outlook, kind)
        assert shown.value == "2.00 mm/day on 2 October"
        assert shown.detail.startswith(f"{label}: 1.00 to 3.00 mm/day, 1 to 3 October")
    falling = facts.peak(outlook.model_copy(update={"peak": None}), "fitted")
    assert (falling.value or "").startswith("None, falling from ")


def _outlook(**fields: Any) -> BasinOutlook:
    return BasinOutlook.model_construct(**fields)


@pytest.mark.parametrize(
    ("skills", "value"),
    [
        ((0.5, 0.4, 0.2), "Reliable to day 5"),
        ((0.5, -0.1, 0.2), "Reliable to day 1"),
        ((-0.2, 0.1, 0.1), "Not reliable"),
    ],
)
def test_forecasts_are_reliable_until_the_first_lead_that_does_not_beat_climatology(
    skills: tuple[float, ...], value: str
) -> None:
    rows = [_row(lead, crpss) for lead, crpss in zip((1, 3, 5), skills, strict=True)]
    shown = facts.skill(NO_SCORE, _verified(rows), None, 4)
    assert shown.value is not None
    assert shown.value.startswith(value)


def test_a_range_that_does_not_hold_is_not_reliable() -> None:
    rows = [_row(1, 0.5), _row(3, 0.4, coverage=0.6)]
    assert facts.skill(NO_SCORE, _verified(rows), None, 4).value == "Reliable to day 1"


def test_issued_forecasts_with_the_same_weather_count_before_reforecasts() -> None:
    rows = [_row(1, 0.9), _row(1, 0.1, origin="issued", weather="ecmwf/ifs")]
    assert "10 % better" in facts.skill(NO_SCORE, _verified(rows), "ecmwf/ifs", 4).detail
    assert "90 % better" in facts.skill(NO_SCORE, _verified(rows), None, 4).detail


def test_the_headline_is_the_day_to_which_forecasts_of_the_month_are_skilful() -> None:
    lows = {1: (0.4, 0.4), 2: (0.1, 0.2), 3: (-0.1, 0.1)}
    rows = [_row(lead, 0.5, months=_months(april=low, may=later)) for lead, (low, later) in lows.items()]
    in_april, in_may, in_june = (facts.skill(NO_SCORE, _verified(rows), None, month).value for month in (4, 5, 6))
    assert (in_april, in_may) == ("Skilful to day 2 in April", "Skilful to day 3 in May")
    assert in_june == "Reliable to day 3"
    assert facts.by_months(rows) == [("April", "Skilful to day 2"), ("May", "Skilful to day 3")]


def test_the_skill_shown_is_computed_here_rather_than_shipped_and_of_the_newest_days() -> None:
    early, late = ("1989-10-01", "1996-09-30"), ("1989-10-01", "1999-09-30")
    shipped, computed, newer = _score(0.9, late, shipped=True), _score(0.7, early), _score(0.8, late)
    others = [_score(1.0, late, member="3"), _score(1.0, late, lead="1"), _score(1.0, late, season="winter")]
    for stored, shown in (
        ([shipped], 0.9),
        ([computed, shipped], 0.7),
        ([shipped, computed, *others], 0.7),
        ([newer, computed, shipped], 0.8),
        ([_score(None, early), shipped], 0.9),
    ):
        assert _detail(stored) == f"NSE {shown:.2f} in years not used in training"
    assert _detail(others) == "not evaluated here yet"
    learnt = [_score(0.99, late, period_use=use) for use in ("training", "validation", "mixed")]
    assert _detail([*learnt, computed]) == "NSE 0.70 in years not used in training"
    assert _detail(learnt) == "evaluated here in years that it learnt from alone"


def _detail(scores: list[Score]) -> str:
    fields: dict[str, Any] = {"scores": scores}
    return facts.skill(BasinSkill.model_construct(**fields), NO_SCORE, None, 3).detail


def _score(value: float | None, period: tuple[str, str], **chosen: Any) -> Score:
    first, last = map(date.fromisoformat, period)
    fields: dict[str, Any] = dict.fromkeys(("lead", "season", "threshold"), "all")
    fields |= {"member": "mean", "metric": "nse", "period_use": "held out", "shipped": False, "value": value, **chosen}
    return Score.model_construct(**fields, period=Period(first_day=first, last_day=last))


def _months(**lows: float) -> list[MonthSkill]:
    names = ("", "january", "february", "march", "april", "may", "june", *("",) * 6)
    return [
        MonthSkill(month=month, n=50, years=10, crpss=0.5, low=lows.get(names[month]), high=0.9)
        for month in range(1, 13)
    ]


def _row(lead: int, crpss: float, coverage: float = 0.9, **chosen: Any) -> LeadVerification:
    fields: dict[str, Any] = {"origin": "reforecast", "weather": "observed", "forecaster": "calibrated", **chosen}
    fields |= {"lead": lead, "crpss_climatology": crpss, "crpss_climatology_low": None, "coverage_90": coverage}
    fields.setdefault("months", None)
    return LeadVerification.model_construct(**fields)


def _verified(rows: list[LeadVerification]) -> BasinVerification:
    fields: dict[str, Any] = {"basin": BASIN, "verification": rows}
    return BasinVerification.model_construct(**fields)
