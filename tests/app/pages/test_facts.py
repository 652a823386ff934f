"""The five facts of a basin: each has a value, or few words on why there is none."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.http.base_schema import Period as Days
from app.outlooks.schemas import BasinOutlook, OutlookPeak, SeasonNow
from app.pages.basins import facts
from app.versions.verification_schemas import BasinVerification, LeadVerification, MonthSkill
from hydrology.base.absent import absent
from hydrology.base.calendar import Period
from hydrology.base.reasons import Reason
from hydrology.verification.reliable_days import MIN_ISSUES
from records.database.engine import Database
from records.runs import run_arrays
from records.runs.run_summary import ReferenceSnow
from records.verification.scores import HeldOutScore
from testing.records import BASIN, a_reason
from tests.app import factories
from tests.app.basins.test_thresholds import fill_records as store_record
from tests.app.forecasts.test_forecasts import fill_records
from tests.app.pages.page_text import facts_of

OF_ROWS = Days(first_day=date(1989, 10, 1), last_day=date(1999, 9, 30))
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
    assert shown["Skill here"] == "Not known not evaluated on held-out days here yet"


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
        "period": Days(first_day=date(2008, 4, 1), last_day=date(2008, 7, 31)),
        "t0": t0,
        "stale": stale,
    }
    shown = facts.season(_outlook(t0=date(2008, 4, 1), season=SeasonNow.model_construct(**fields)))
    assert shown.value == "100 % of normal"
    assert shown.detail.endswith(end)


def test_snow_that_the_reference_contradicts_is_uncertain_on_every_page(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    reference = ReferenceSnow(product="uaz", mm=20.0, normal_mm=50.0)
    summary = replace(factories.SUMMARY, snow=replace(factories.RUN_SNOW, reference=reference))
    result = factories.forecast()
    fill_records(sqlite_database, replace(result, basin=replace(result.basin, summary=summary)))
    shown = facts_of(sqlite_client.get(f"/basins/{BASIN}").text)
    assert shown["Snow now"].startswith("Uncertain: model 150 %, reference 40 %")
    rivers = sqlite_client.get("/?colour=snow").text
    assert "uncertain: model 150 %, reference 40 %" in rivers
    assert '<circle class="unknown' in rivers


def test_a_forecast_without_an_error_model_gives_the_reason_in_few_words(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    result = factories.forecast(snow=False)
    summary = replace(result.basin.summary, calibration=a_reason("No error model."))
    series = [one for one in result.series if one.variable not in (run_arrays.CALIBRATED, run_arrays.PATHS)]
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
    shown = facts.skill(None, _verified(rows), None, 4)
    assert shown.value is not None
    assert shown.value.startswith(value)


def test_a_range_that_does_not_hold_is_not_reliable() -> None:
    rows = [_row(1, 0.5), _row(3, 0.4, coverage=0.6)]
    shown = facts.skill(None, _verified(rows), None, 4)
    assert shown.value == "Reliable to day 1"
    assert shown.detail.endswith("; 365 independent forecasts, 1989-10-01 to 1999-09-30")


def test_issued_forecasts_with_the_same_weather_count_before_reforecasts() -> None:
    rows = [_row(1, 0.9), _row(1, 0.1, origin="issued", weather="ecmwf/ifs")]
    assert "10 % better" in facts.skill(None, _verified(rows), "ecmwf/ifs", 4).detail
    assert "90 % better" in facts.skill(None, _verified(rows), None, 4).detail


def test_the_headline_is_the_day_to_which_forecasts_of_the_month_are_skilful() -> None:
    lows = {1: (0.4, 0.4), 2: (0.1, 0.2), 3: (-0.1, 0.1)}
    rows = [_row(lead, 0.5, months=_months(april=low, may=later)) for lead, (low, later) in lows.items()]
    in_april, in_may, in_june = (facts.skill(None, _verified(rows), None, month).value for month in (4, 5, 6))
    assert (in_april, in_may) == ("Skilful to day 2 in April", "Skilful to day 3 in May")
    assert in_june == "Reliable to day 3"
    assert facts.by_months(rows) == [("April", "Skilful to day 2", 40), ("May", "Skilful to day 3", 40)]


def test_before_any_verification_there_is_a_word_for_held_out_days() -> None:
    nse = HeldOutScore(0.75, 3652, False, Period.parse("1989-10-01..1999-09-30"))
    shown = facts.skill(nse, NO_SCORE, None, 3)
    assert (shown.value, shown.detail) == ("Good", "NSE 0.75 on held-out days, 1989-10-01 to 1999-09-30")
    assert facts.skill(None, NO_SCORE, None, 3).detail == "not evaluated on held-out days here yet"


def test_too_few_independent_forecasts_carry_no_word() -> None:
    rows = [_row(lead, 0.5, independent_issues=independent) for lead, independent in ((1, 23), (10, 3))]
    shown = facts.skill(None, _verified(rows), None, 5)
    assert shown.value is None
    assert shown.detail == str(absent(Reason.TOO_FEW_INDEPENDENT_ISSUES, issues=23, minimum=MIN_ISSUES))


def _months(**lows: float) -> list[MonthSkill]:
    names = ("", "january", "february", "march", "april", "may", "june", *("",) * 6)
    return [
        MonthSkill(month=month, n=50, years=10, crpss=0.5, low=lows.get(names[month]), high=0.9, independent_issues=40)
        for month in range(1, 13)
    ]


def _row(lead: int, crpss: float, coverage: float = 0.9, **chosen: Any) -> LeadVerification:
    fields: dict[str, Any] = {"origin": "reforecast", "weather": "observed", "forecaster": "calibrated", **chosen}
    fields |= {"independent_issues": 365} | fields | {"period": OF_ROWS}
    fields |= {"lead": lead, "crpss_climatology": crpss, "crpss_climatology_low": None, "coverage_90": coverage}
    fields.setdefault("months", None)
    return LeadVerification.model_construct(**fields)


def _verified(rows: list[LeadVerification]) -> BasinVerification:
    fields: dict[str, Any] = {"basin": BASIN, "verification": rows}
    return BasinVerification.model_construct(**fields)
