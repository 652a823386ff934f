"""A reforecast holds the forecasts of past days against what was observed, on days that nothing was fitted to."""

import numpy as np
import pytest
from sqlalchemy import delete, update

from hydrology.base.absent import Absent
from hydrology.base.calendar import Period, as_date, day
from hydrology.base.errors import DataProblem, InvalidInput
from hydrology.scores.probabilistic import crps
from hydrology.uncertainty.error_model import LEVELS
from hydrology.verification.forecasts import CALIBRATED, FORECASTERS, RAW
from hydrology.verification.results import SEASONS
from hydrology.verification.verify import CLIMATOLOGY, PERSISTENCE
from operations.basin_data.dataset import load_discharge
from operations.verification.reforecast import Reforecast, reforecast
from records.database.engine import Database
from records.runs import run_arrays
from records.series.year_rows import SERIES
from records.verification import lead_scores
from records.verification.lead_scores import VERIFICATION, BasinVerification
from records.versions import error_models
from records.versions.error_models import BASIN_ERRORS, ERROR_MODELS
from testing.country import BASINS, CLOCK
from testing.work import work_of
from tests.operations.forecasting.test_forecast import one_run
from tests.operations.verification.test_calibrate import UNSEEN, calibrated, newest, reported

__all__ = ["calibrated"]

BASIN = BASINS[0]
YEAR = Period.parse("2000-10-01..2001-09-30")


def verified(
    database: Database, period: Period = YEAR, *, every: int = 5, horizon: int = 3, basins: tuple[str, ...] = BASINS
) -> Reforecast:
    return reforecast(work_of(database, CLOCK), newest(database), basins, period, every=every, horizon=horizon)


def stored_of(database: Database, basin: str = BASIN, season: str = "all") -> dict[tuple[str, int], BasinVerification]:
    with database.reading() as session:
        rows = lead_scores.of_basin(session, newest(database), basin, season)
    return {(row.forecaster, row.lead): row for row in rows}


def test_one_t0_has_the_scores_of_the_forecast_that_is_issued_there(calibrated: Database) -> None:
    t0, leads = day("2001-03-01"), range(1, 6)
    verified(calibrated, Period(t0, day("2001-03-06")), every=366, horizon=7)
    _, series = reported(calibrated, one_run(calibrated, t0=t0, horizon=5))
    with calibrated.reading() as session:
        flow = load_discharge(session, BASIN, ["synthetic"], Period(t0, day("2001-03-06")))
    assert not isinstance(flow, Absent)
    observed = flow.astype(float)
    rows = stored_of(calibrated)
    quantiles = {
        CALIBRATED: series[run_arrays.CALIBRATED].values.T,
        RAW: np.quantile(series["discharge"].values, LEVELS, axis=0).T,
    }
    for name, of_leads in quantiles.items():
        expected = crps(of_leads.astype(float), LEVELS, observed[1:])
        assert [rows[name, lead].scores.crps_mm_per_day for lead in leads] == pytest.approx(expected, rel=1e-3)
        assert [rows[name, lead].scores.n for lead in range(1, 8)] == [1] * 5 + [0] * 2
    of_persistence = [rows[PERSISTENCE, lead].scores.crps_mm_per_day for lead in leads]
    assert of_persistence == pytest.approx(np.abs(observed[1:] - observed[0]))


def test_every_forecaster_lead_and_season_is_stored_with_its_sample(calibrated: Database) -> None:
    done = verified(calibrated)
    with calibrated.reading() as session:
        model = error_models.get(session, newest(calibrated), [])
    assert model is not None
    assert (done.basins, done.left_out, done.error_model) == (BASINS, {}, model.sha256)
    rows = stored_of(calibrated)
    assert set(rows) == {(name, lead) for name in FORECASTERS for lead in (1, 2, 3)}
    ours = rows[CALIBRATED, 1]
    assert (ours.first_day, ours.last_day, ours.every_days) == (YEAR.first, YEAR.last, 5)
    assert (ours.error_model, ours.attributes_assumed) == (model.sha256, [])
    assert {rows[name, 1].error_model for name in (RAW, CLIMATOLOGY, PERSISTENCE)} == {None}
    assert ours.scores.n == len(range(0, 364, 5))
    assert sum(stored_of(calibrated, season=season)[CALIBRATED, 1].scores.n for season in SEASONS) == 2 * ours.scores.n
    assert (ours.scores.years, "coverage_90_low" in ours.scores.missing) == (1, True)
    assert rows[CLIMATOLOGY, 2].scores.crpss_climatology == 0
    certain = rows[CALIBRATED, 1].scores.crps_mm_per_day
    assert certain is not None
    assert certain < rows[CLIMATOLOGY, 1].scores.crps_mm_per_day  # type: ignore[operator]


def test_the_same_again_replaces_all_that_was_stored_of_the_period(calibrated: Database) -> None:
    verified(calibrated)
    before = stored_of(calibrated)
    verified(calibrated)
    again = stored_of(calibrated)
    assert {key: row.scores for key, row in again.items()} == {key: row.scores for key, row in before.items()}
    verified(calibrated, horizon=1, basins=(BASIN,))
    assert {lead for _, lead in stored_of(calibrated)} == {1}
    assert {lead for _, lead in stored_of(calibrated, BASINS[1])} == {1, 2, 3}


@pytest.mark.parametrize(
    ("period", "sentence"),
    [
        ("2002-01-01..2002-12-31", r"overlaps the train period 2001-10-01\.\.2003-09-30 of version"),
        ("2004-01-01..2004-06-30", r"overlaps the validation period"),
        ("2004-10-01..2005-09-30", rf"overlaps {UNSEEN}, on which the error model of version .* was fitted"),
    ],
)
def test_days_that_anything_was_fitted_to_are_refused(calibrated: Database, period: str, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        verified(calibrated, Period.parse(period))
    assert stored_of(calibrated) == {}


def test_without_an_error_model_the_calibrated_scores_are_missing_with_the_reason(trained_store: Database) -> None:
    assert verified(trained_store, basins=(BASIN,)).error_model is None
    rows = stored_of(trained_store)
    ours = rows[CALIBRATED, 1].scores
    assert ours.crps_mm_per_day is None
    assert {str(reason).endswith("fit one (freshet calibrate).") for reason in ours.missing.values()} == {True}
    assert rows[RAW, 1].scores.crps_mm_per_day is not None


def test_a_basin_that_the_error_model_was_not_fitted_to_is_marked(calibrated: Database) -> None:
    with calibrated.transaction() as session:
        session.execute(delete(BASIN_ERRORS).filter_by(basin_id=BASIN))
    verified(calibrated)
    unknown, known = stored_of(calibrated)[CALIBRATED, 1], stored_of(calibrated, BASINS[1])[CALIBRATED, 1]
    reason = unknown.scores.missing["crps_mm_per_day"]
    assert "was not fitted to the flow of SYNTH-01, and it has no regional numbers" in str(reason)
    assert unknown.error_model is None
    assert known.error_model is not None
    with calibrated.transaction() as session:
        session.execute(delete(VERIFICATION).where(VERIFICATION.c.basin_id != BASIN))
        pooled = lead_scores.pooled(session, newest(calibrated))
    (of_lead,) = (of for of in pooled if (of.forecaster, of.lead) == (CALIBRATED, 1))
    assert (of_lead.scores["crps_mm_per_day"].n, of_lead.missing["crps_mm_per_day"]) == (0, reason)


def test_an_ungauged_basin_has_regional_errors_without_an_earlier_forecast(calibrated: Database) -> None:
    with calibrated.transaction() as session:
        session.execute(delete(BASIN_ERRORS).filter_by(basin_id=BASIN))
        session.execute(update(ERROR_MODELS).values(for_unseen=True))
    verified(calibrated)
    row = stored_of(calibrated)[CALIBRATED, 1]
    assert row.error_model is not None
    assert None not in (row.scores.crps_mm_per_day, row.scores.coverage_90)


def test_a_basin_without_flow_is_left_out_and_none_at_all_is_a_problem(calibrated: Database) -> None:
    with calibrated.transaction() as session:
        of_year = delete(SERIES).filter_by(basin_id=BASIN, variable="discharge")
        session.execute(of_year.where(SERIES.c.year <= as_date(YEAR.last).year))
    done = verified(calibrated)
    assert done.basins == BASINS[1:]
    assert "SYNTH-01 has no observed discharge in" in str(done.left_out[BASIN])
    with pytest.raises(DataProblem, match="No basin can be simulated"):
        verified(calibrated, basins=(BASIN,))


def test_pooled_scores_are_those_of_the_basins(calibrated: Database) -> None:
    verified(calibrated)
    version = newest(calibrated)
    with calibrated.reading() as session:
        pooled = {(of.forecaster, of.lead): of for of in lead_scores.pooled(session, version)}
    values = [stored_of(calibrated, basin)[CALIBRATED, 2].scores.coverage_90 for basin in BASINS]
    of_lead = pooled[CALIBRATED, 2]
    assert (of_lead.period, of_lead.basins, of_lead.scores["coverage_90"].n) == (YEAR, 3, 3)
    assert of_lead.scores["coverage_90"].median == sorted(values)[1]  # type: ignore[type-var]
    assert pooled[PERSISTENCE, 2].scores["coverage_90"].n == 0
