"""The five facts of a basin: each has a value, or few words on why there is none."""

from dataclasses import fields, replace
from datetime import UTC, date, datetime
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.http.base_schema import Period as Days
from app.outlooks.schemas import BasinOutlook, ForecastSkill, OutlookPeak, SeasonNow, SkillNow
from app.pages import basin_facts
from app.pages.basin_facts import by_months, verified_rows
from hydrology.base.absent import absent
from hydrology.base.calendar import day
from hydrology.base.reasons import Reason
from hydrology.verification.results import MonthSkill, Verification
from hydrology.verification.skilful_days import MIN_ISSUES
from records.database.engine import Database
from records.runs import run_arrays
from records.runs.run_summary import ReferenceSnow
from records.verification.lead_scores import BasinVerification
from testing.records import BASIN, a_reason
from tests.app import factories
from tests.app.basins.test_thresholds import fill_records as store_record
from tests.app.forecasts.test_forecasts import fill_records
from tests.app.pages.page_text import facts_of

OF_ROWS = Days(first_day=date(1989, 10, 1), last_day=date(1999, 9, 30))


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
    shown = basin_facts.season(_outlook(t0=date(2008, 4, 1), season=SeasonNow.model_construct(**fields)))
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
    rare: dict[str, Any] = {"return_period_years": 24.0, "return_period_bound": "more"}
    peak = OutlookPeak(discharge=2.0, p05=1.0, p95=3.0, day_p05=days[0], day=days[1], day_p95=days[2], **rare)
    outlook = BasinOutlook.model_validate_json(answer.text).model_copy(update={"peak": peak})
    labels = {"observed": "90 % range", "provisional": "provisional range", "backfilled": "range from past forecasts"}
    for kind, label in (labels | {"fitted": "90 % range"}).items():
        shown = basin_facts.peak(outlook, kind)
        assert shown.value == "2.00 mm/day on 2 October"
        assert shown.detail.startswith(f"{label}: 1.00 to 3.00 mm/day, 1 to 3 October")
        assert shown.detail.endswith("; return period more than 24 years")
    falling = basin_facts.peak(outlook.model_copy(update={"peak": None}), "fitted")
    assert (falling.value or "").startswith("No peak, falling from ")


def _outlook(**fields: Any) -> BasinOutlook:
    return BasinOutlook.model_construct(**fields)


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ({"skilful_to_day": 2}, "Skilful to day 2 in April"),
        ({"skilful_to_day": 0, "reliable_to_day": 3}, "Not skilful in April"),
        ({"reliable_to_day": 5}, "Reliable to day 5"),
        ({"reliable_to_day": 0}, "Not reliable"),
    ],
)
def test_the_headline_of_skill_is_that_of_the_month_else_of_any(fields: dict[str, int], value: str) -> None:
    shown = basin_facts.skill(_skilled(fields))
    assert shown.value == value
    assert shown.detail == (
        "40 % better than climatology on day 2, with the weather known; 365 independent forecasts, 1989-10-01 to "
        "1999-09-30"
    )


def test_before_any_verification_there_is_a_word_for_held_out_days() -> None:
    of_nse: dict[str, Any] = {"nse": 0.75, "nse_period": OF_ROWS, "forecasts": None}
    shown = basin_facts.skill(_outlook(skill=SkillNow.model_construct(**of_nse)))
    assert (shown.value, shown.detail) == ("Good", "NSE 0.75 (1 is perfect) on held-out days, 1989-10-01 to 1999-09-30")
    assert basin_facts.skill(_outlook(skill=None)).detail == "not evaluated on held-out days here yet"


def test_too_few_independent_forecasts_carry_no_word() -> None:
    reason = str(absent(Reason.TOO_FEW_INDEPENDENT_ISSUES, issues=23, minimum=MIN_ISSUES))
    outlook = _skilled({}).model_copy(update={"missing": {"skill.forecasts.reliable_to_day": reason}})
    assert (basin_facts.skill(outlook).value, basin_facts.skill(outlook).detail) == (None, reason)


def _skilled(fields: dict[str, int]) -> BasinOutlook:
    known: dict[str, Any] = {"weather": "observed", "period": OF_ROWS, "month": 4, "evidence_day": 2}
    known |= {"better_percent": 40.0, "independent_issues": 365, "skilful_to_day": None, "reliable_to_day": None}
    return _with_skill(**known | fields)


def _with_skill(**fields: Any) -> BasinOutlook:
    of_skill: dict[str, Any] = {"forecasts": ForecastSkill.model_construct(**fields)}
    return _outlook(skill=SkillNow.model_construct(**of_skill))


def test_the_table_of_leads_is_the_verification_behind_the_outlook() -> None:
    lows = {1: (0.4, 0.4), 2: (0.1, 0.2), 3: (-0.1, 0.1)}
    rows = [_row(lead, months=_months(april=low, may=later)) for lead, (low, later) in lows.items()]
    others = [_row(1, origin="issued"), _row(1, forecaster="raw"), _row(1, version_id="another")]
    chosen: dict[str, Any] = {"version": "a", "origin": "reforecast", "weather": "observed", "period": OF_ROWS}
    shown = verified_rows([*others, *reversed(rows)], _with_skill(**chosen))
    assert shown == rows
    assert by_months(shown) == [("April", "Skilful to day 2", 40), ("May", "Skilful to day 3", 40)]


def _months(**lows: float) -> tuple[MonthSkill, ...]:
    names = ("", "january", "february", "march", "april", "may", "june", *("",) * 6)
    return tuple(
        MonthSkill(month=month, n=50, years=10, crpss=0.5, low=lows.get(names[month]), high=0.9, independent_issues=40)
        for month in range(1, 13)
    )


def _row(lead: int, months: tuple[MonthSkill, ...] | None = None, **chosen: Any) -> BasinVerification:
    figures: dict[str, Any] = dict.fromkeys(field.name for field in fields(Verification)) | {"missing": {}}
    scores = Verification(**figures | {"n": 50, "years": 10, "crpss_climatology": 0.5, "months": months})
    key: dict[str, Any] = {"version_id": "a", "origin": "reforecast", "forecaster": "calibrated"}
    return BasinVerification(
        **key | chosen,
        basin_id="SYNTH-01",
        weather="observed",
        first_day=day(OF_ROWS.first_day),
        last_day=day(OF_ROWS.last_day),
        lead=lead,
        season="all",
        every_days=1,
        error_model=None,
        attributes_assumed=[],
        period_use="held out",
        scores=scores,
        verified_at=datetime(2008, 10, 1, tzinfo=UTC),
    )
