"""Verification results are stored by basin and lead time, replaced by period, and summarised over basins."""

from dataclasses import replace

import pytest
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from hydrology.base.absent import absent
from hydrology.base.calendar import day
from hydrology.base.reasons import Reason
from hydrology.verification.results import MonthSkill, Reliability, Verification
from records.database.engine import Database
from records.verification import lead_scores
from records.verification.lead_scores import BasinVerification
from testing.records import BASIN, NOW, a_basin, a_version, instant

SCORES = Verification(
    n=730,
    years=10,
    independent_issues=365,
    crps_mm_per_day=0.24,
    crpss_climatology=0.71,
    crpss_climatology_low=0.66,
    crpss_climatology_high=0.75,
    crpss_persistence=0.5,
    crpss_persistence_low=0.4,
    crpss_persistence_high=0.6,
    coverage_90=0.91,
    coverage_90_low=0.89,
    coverage_90_high=0.93,
    coverage_50=0.5,
    width_90_mm_per_day=1.5,
    width_50_mm_per_day=0.5,
    nse_of_median=0.84,
    threshold_mm_per_day=12.5,
    brier=0.01,
    pod=0.7,
    far=None,
    csi=0.6,
    pit=(73.0,) * 10,
    reliability=Reliability((0.01, 0.95), (0.0, 1.0), (720, 10)),
    months=tuple(MonthSkill(month, 60, 10, 0.7, 0.6, 0.8, 30) for month in range(1, 13)),
    missing={"far": absent(Reason.NO_WARNING)},
)


def a_verification(session: Session, **chosen: object) -> BasinVerification:
    a_basin(session)
    row = BasinVerification(
        version_id="",
        basin_id=BASIN,
        origin="reforecast",
        weather="observed",
        first_day=day("1989-10-01"),
        last_day=day("1999-09-30"),
        forecaster="calibrated",
        lead=1,
        season="all",
        every_days=5,
        error_model="0" * 64,
        attributes_assumed=["soil_porosity"],
        period_use="held out",
        scores=SCORES,
        verified_at=NOW,
    )
    version = chosen.get("version_id") or a_version(session).id
    return replace(row, **{**chosen, "version_id": version})  # type: ignore[arg-type]


def test_it_comes_back_by_period_lead_and_forecaster(database: Database) -> None:
    with database.transaction() as session:
        first = a_verification(session)
        of_others = [replace(first, forecaster=name, error_model=None) for name in ("raw", "climatology")]
        later = replace(first, lead=2)
        lead_scores.replace(session, [later, *of_others, first, replace(first, season="DJF")])
    with database.reading() as session:
        raw, climatology = of_others
        assert lead_scores.of_basin(session, first.version_id, BASIN) == [first, climatology, raw, later]
        assert lead_scores.of_basin(session, first.version_id, BASIN, "DJF") == [replace(first, season="DJF")]
        assert lead_scores.of_basin(session, first.version_id, "SYNTH-01") == []


def test_the_same_period_again_replaces_it_whole_and_others_stay(database: Database) -> None:
    with database.transaction() as session:
        first = a_verification(session)
        elsewhere = replace(first, basin_id=a_basin(session, "SYNTH-01"))
        earlier = replace(first, first_day=day("1980-10-01"), last_day=day("1989-09-30"))
        lead_scores.replace(session, [first, replace(first, lead=2), elsewhere, earlier])
        again = replace(first, scores=replace(SCORES, n=1), verified_at=instant("2009-01-01"))
        lead_scores.replace(session, [again])
        lead_scores.replace(session, [])
        assert lead_scores.of_basin(session, first.version_id, BASIN) == [earlier, again]
        assert lead_scores.of_basin(session, first.version_id, "SYNTH-01") == [elsewhere]


def test_over_basins_those_without_a_score_do_not_count_for_it(database: Database) -> None:
    with database.transaction() as session:
        first = a_verification(session)
        rows = [
            replace(first, basin_id=a_basin(session, f"SYNTH-0{number}"), scores=replace(SCORES, coverage_90=value))
            for number, value in enumerate((0.8, 0.9, 1.0, None))
        ]
        lead_scores.replace(session, [*rows, replace(first, lead=2), replace(first, season="JJA")])
        one, two = lead_scores.pooled(session, first.version_id)
        coverage = one.scores["coverage_90"]
        assert (str(one.period), one.lead, one.forecaster, one.basins) == ("1989-10-01..1999-09-30", 1, "calibrated", 4)
        assert coverage.n == 3
        assert (coverage.p25, coverage.median, coverage.p75) == pytest.approx((0.85, 0.9, 0.95))
        assert (one.scores["far"].n, one.scores["far"].median) == (0, None)
        assert (two.lead, two.basins) == (2, 1)
        (summer,) = lead_scores.pooled(session, first.version_id, "JJA")
        assert (summer.season, summer.basins) == ("JJA", 1)


@pytest.mark.parametrize(
    "change", [{"lead": 0}, {"every_days": 0}, {"last_day": day("1980-01-01")}, {"period_use": "new"}]
)
def test_impossible_values_are_not_stored(database: Database, change: dict[str, object]) -> None:
    with database.transaction() as session:
        row = a_verification(session)
        with pytest.raises(IntegrityError), session.begin_nested():
            lead_scores.replace(session, [replace(row, **change)])  # type: ignore[arg-type]


def test_issued_forecasts_stand_beside_reforecasts_and_the_same_again_writes_nothing(database: Database) -> None:
    with database.transaction() as session:
        reforecast = a_verification(session)
        issued = replace(reforecast, origin="issued", weather="nws/gfs", every_days=None)
        other = replace(issued, weather="climatology")
        version = reforecast.version_id
        lead_scores.replace(session, [reforecast])
        assert lead_scores.replace_issued(session, version, BASIN, [issued, other])
        later = [replace(row, verified_at=instant("2009-01-01")) for row in (other, issued)]
        assert not lead_scores.replace_issued(session, version, BASIN, later)
        assert lead_scores.of_basin(session, version, BASIN) == [other, issued, reforecast]
        lead_scores.replace(session, [replace(reforecast, lead=2)])
        assert lead_scores.of_basin(session, version, BASIN) == [other, issued, replace(reforecast, lead=2)]


def test_a_new_score_or_day_replaces_all_that_was_issued(database: Database) -> None:
    with database.transaction() as session:
        issued = a_verification(session, origin="issued", weather="climatology")
        gone, version = replace(issued, weather="observed"), issued.version_id
        lead_scores.replace_issued(session, version, BASIN, [issued, gone])
        for change in ({"scores": replace(SCORES, n=1)}, {"last_day": day("1999-10-01")}):
            new = replace(issued, **change)
            assert lead_scores.replace_issued(session, version, BASIN, [new])
            assert lead_scores.of_basin(session, version, BASIN) == [new]
        assert lead_scores.replace_issued(session, version, BASIN, [])
        assert not lead_scores.replace_issued(session, version, BASIN, [])
        assert lead_scores.of_basin(session, version, BASIN) == []


def test_over_basins_each_kind_of_weather_is_reported_separately(database: Database) -> None:
    with database.transaction() as session:
        reforecast = a_verification(session)
        version = reforecast.version_id
        lead_scores.replace(session, [reforecast])
        for basin in (BASIN, a_basin(session, "SYNTH-01")):
            issued = replace(reforecast, basin_id=basin, origin="issued", weather="climatology")
            lead_scores.replace_issued(session, version, basin, [issued])
        shown = lead_scores.pooled(session, version)
        assert [(of.origin, of.weather, of.basins) for of in shown] == [
            ("issued", "climatology", 2),
            ("reforecast", "observed", 1),
        ]


def test_what_was_verified_before_independent_forecasts_were_counted_gives_the_reason(database: Database) -> None:
    with database.transaction() as session:
        row = a_verification(session, scores=replace(SCORES, independent_issues=None))
        lead_scores.replace(session, [row])
        (found,) = lead_scores.of_basin(session, row.version_id, BASIN)
        assert found.scores.missing["independent_issues"] == absent(Reason.ISSUES_NOT_COUNTED)
        issued = replace(row, origin="issued", every_days=None)
        lead_scores.replace_issued(session, row.version_id, BASIN, [issued])
        counted = replace(issued, scores=SCORES)
        assert lead_scores.replace_issued(session, row.version_id, BASIN, [counted])  # the same forecasts, counted
