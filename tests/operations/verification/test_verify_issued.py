"""Forecasts that were issued are held against what was observed since."""

from datetime import UTC, datetime

import numpy as np
import pytest
from sqlalchemy import delete
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.basins import gauge_product
from hydrology.base.calendar import Period, as_date, day
from hydrology.base.reasons import Reason
from hydrology.base.series import DailySeries, Flag
from hydrology.scores.probabilistic import crps
from hydrology.uncertainty.error_model import LEVELS
from hydrology.verification.forecasts import ADJUSTED, AS_ISSUED, CALIBRATED, FORECASTERS, RAW
from hydrology.verification.verify import CLIMATOLOGY, PERSISTENCE
from operations.basin_data.dataset import load_discharge
from operations.verification import verify_issued as verifying
from operations.verification.calibrate import calibrate
from operations.verification.recalibrate import settled
from operations.verification.verify_issued import Verified, verify
from records.database.engine import Database
from records.database.stored import add_all, as_values
from records.runs import run_arrays, run_types, runs
from records.runs.tables import Adjustment
from records.series import series, series_writer
from records.series.year_rows import SERIES
from records.verification import lead_scores
from records.versions import error_models, promotions, versions
from runtime.clock import Clock
from testing.country import BASINS, CLOCK
from testing.records import a_source
from testing.work import work_of
from tests.operations.forecasting.test_forecast import one_run
from tests.operations.forecasting.test_past_forecasts import ISSUE_DAYS, SETTLED, WEATHER, lived, lived_file

pytestmark = pytest.mark.extended

__all__ = ["lived", "lived_file"]

BASIN = BASINS[1]
Rows = dict[tuple[str, int], lead_scores.BasinVerification]


def newest(database: Database) -> versions.Version:
    with database.reading() as session:
        return versions.newest(session)


def judged(database: Database, clock: Clock = SETTLED) -> Verified:
    (done,) = verify(work_of(database, clock), newest(database).id)
    return done


def stored_of(database: Database, basin: str = BASIN, weather: str = WEATHER) -> Rows:
    with database.reading() as session:
        rows = lead_scores.of_basin(session, versions.newest(session).id, basin)
    return {(row.forecaster, row.lead): row for row in rows if row.weather == weather}


def at(text: str) -> Clock:
    return Clock(datetime.fromisoformat(text).replace(tzinfo=UTC))


def test_the_scores_compare_issued_forecasts_with_observations(lived: Database) -> None:
    done = judged(lived)
    assert (done.basins, done.changed, done.left_out) == (BASINS, BASINS, {})
    rows = stored_of(lived)
    assert set(rows) == {(name, lead) for name in FORECASTERS for lead in range(1, 6)}
    with lived.reading() as session:
        version = versions.newest(session)
        (issue_days,) = settled(session, SETTLED, version.id)
        keys = [(run.id, BASIN) for run in issue_days.runs]
        flows = runs.series_of_many(session, keys, ("discharge", run_arrays.CALIBRATED))
        days = Period(issue_days.days[0], issue_days.days[-1] + np.timedelta64(5, "D"))
        flow = load_discharge(session, BASIN, version.area_products, days)
    assert not isinstance(flow, Absent)
    of_lead = np.stack([flows[key]["discharge"].values.reshape(-1, 5)[:, 2] for key in keys])
    observed, last = flow.astype(float)[3:38], flow.astype(float)[:35]
    raw = rows[RAW, 3]
    expected = crps(np.quantile(of_lead, LEVELS, axis=1).T, LEVELS, observed)
    assert raw.scores.crps_mm_per_day == pytest.approx(expected.mean())
    assert rows[PERSISTENCE, 3].scores.crps_mm_per_day == pytest.approx(np.abs(observed - last).mean())
    assert (raw.origin, raw.weather, raw.every_days, raw.scores.n) == ("issued", WEATHER, None, len(ISSUE_DAYS))
    assert (raw.period_use, raw.scores.independent_issues) == ("held out", -(-len(ISSUE_DAYS) // 3))
    assert (raw.first_day, raw.last_day) == (days.first, days.last)
    assert rows[CLIMATOLOGY, 3].scores.crpss_climatology == 0
    calibrated = np.stack([flows[key][run_arrays.CALIBRATED].values[:, 2] for key in keys]).astype(float)
    expected = crps(calibrated, LEVELS, observed)
    assert rows[CALIBRATED, 3].scores.crps_mm_per_day == pytest.approx(expected.mean())


def test_the_same_runs_again_change_nothing(lived: Database) -> None:
    judged(lived)
    before = [stored_of(lived, basin) for basin in BASINS]
    done = judged(lived)
    assert (done.basins, done.changed) == (BASINS, ())
    assert [stored_of(lived, basin) for basin in BASINS] == before


def test_a_revised_flow_changes_the_scores_of_its_basin_alone(lived: Database) -> None:
    judged(lived)
    before = {basin: stored_of(lived, basin) for basin in BASINS}
    revised = day("2005-03-20")
    with lived.transaction() as session:
        product = gauge_product(BASIN)
        stored = series.read(session, BASIN, product, "discharge", Period(revised, revised))
        assert stored is not None
        other = DailySeries(revised, 3 * stored.values, np.array([Flag.APPROVED], np.uint8), stored.unit)
        series_writer.write(session, BASIN, product, "discharge", other, a_source(session), CLOCK.wall())
    assert judged(lived).changed == (BASIN,)
    after = stored_of(lived)
    assert after[RAW, 1].scores.n == before[BASIN][RAW, 1].scores.n
    assert after[RAW, 1].scores.crps_mm_per_day != before[BASIN][RAW, 1].scores.crps_mm_per_day
    assert stored_of(lived, BASINS[0]) == before[BASINS[0]]


@pytest.mark.parametrize(
    ("now", "counted"),
    [("2005-03-29", {}), ("2005-04-02", {1: 4, 2: 3, 3: 2, 4: 1, 5: 0}), ("2005-05-07", {1: 35, 5: 35})],
)
def test_flow_counts_once_it_is_30_days_old(lived: Database, now: str, counted: dict[int, int]) -> None:
    done = judged(lived, at(now))
    rows = stored_of(lived)
    assert {lead: rows[RAW, lead].scores.n for lead in counted} == counted
    assert bool(rows) == bool(counted)
    if not counted:
        assert done.basins == ()


def test_as_more_flow_settles_the_scores_go_on(lived: Database) -> None:
    judged(lived, at("2005-04-02"))
    done = judged(lived)
    assert done.changed == BASINS
    assert {row.scores.n for (name, _), row in stored_of(lived).items() if name == RAW} == {len(ISSUE_DAYS)}


def test_each_kind_of_weather_is_scored_separately(lived: Database) -> None:
    for kind in ("observed", "climatology"):
        one_run(lived, t0="2005-03-10", horizon=3, weather=kind)
    judged(lived)
    of_each = {kind: stored_of(lived, weather=kind) for kind in ("observed", "climatology", WEATHER)}
    assert {kind: rows[RAW, 1].scores.n for kind, rows in of_each.items()} == {
        "observed": 1,
        "climatology": 1,
        WEATHER: len(ISSUE_DAYS),
    }
    assert of_each["observed"][RAW, 1].scores.crps_mm_per_day != of_each["climatology"][RAW, 1].scores.crps_mm_per_day


def test_the_last_of_several_forecasts_from_one_day_counts(lived: Database) -> None:
    for horizon in (3, 2):
        one_run(lived, t0="2005-03-10", horizon=horizon)
    judged(lived)
    rows = stored_of(lived, weather="observed")
    assert [rows[RAW, lead].scores.n for lead in (1, 2, 3)] == [1, 1, 0]


def test_the_newest_years_of_each_kind_of_weather_count(lived: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    one_run(lived, t0="2005-02-10", horizon=1)
    monkeypatch.setattr(verifying, "LAST_DAYS", np.timedelta64(9, "D"))
    judged(lived)
    assert stored_of(lived)[RAW, 1].scores.n == 10
    assert stored_of(lived, weather="observed")[RAW, 1].scores.n == 1


def test_days_that_the_error_model_was_fitted_to_do_not_count_for_it(lived: Database) -> None:
    calibrate(work_of(lived, CLOCK), newest(lived).id, BASINS, Period.parse("2003-10-01..2005-09-30"))
    one_run(lived, t0="2005-03-10", horizon=3)
    judged(lived)
    rows = stored_of(lived, weather="observed")
    assert rows[CALIBRATED, 1].scores.missing["crps_mm_per_day"] == absent(Reason.ERROR_MODELS_LEARNT)
    assert rows[RAW, 1].scores.crps_mm_per_day is not None
    # Fitted to other days, it counts.
    calibrate(work_of(lived, CLOCK), newest(lived).id, BASINS, Period.parse("2003-10-01..2005-01-31"))
    one_run(lived, t0="2005-03-11", horizon=3)
    judged(lived)
    rows = stored_of(lived, weather="observed")
    with lived.reading() as session:
        model = error_models.get(session, versions.newest(session).id, [])
    assert model is not None
    assert [rows[name, 1].scores.n for name in (RAW, CALIBRATED)] == [2, 1]
    assert rows[CALIBRATED, 1].error_model == model.sha256
    skill = rows[CALIBRATED, 1].scores
    assert skill.crpss_persistence is not None


def test_days_that_the_weights_were_fitted_to_do_not_count(lived: Database) -> None:
    one_run(lived, t0="2003-03-10", horizon=3)
    one_run(lived, t0="2004-09-29", horizon=3)  # of the validation period
    judged(lived, at("2005-05-15"))
    assert stored_of(lived, weather="observed") == {}


def test_a_basin_without_flow_is_left_out_and_its_stored_scores_are_deleted(lived: Database) -> None:
    judged(lived)
    with lived.transaction() as session:
        session.execute(delete(SERIES).filter_by(basin_id=BASIN, variable="discharge"))
    done = judged(lived)
    assert done.basins == (BASINS[0], BASINS[2])
    assert list(done.left_out) == [BASIN]
    assert stored_of(lived) == {}


def test_without_a_version_each_that_is_current_is_judged(lived: Database) -> None:
    (done,) = verify(work_of(lived, SETTLED))
    with lived.reading() as session:
        assert promotions.in_use(session) == {done.version_id: list(BASINS)}


def test_adjusted_forecasts_are_judged_beside_the_same_ones_as_issued(lived: Database) -> None:
    calibrate(work_of(lived, CLOCK), newest(lived).id, BASINS, Period.parse("2003-10-01..2005-01-31"))
    adjusted, late, not_published = (one_run(lived, t0=f"2005-03-{at}", horizon=5) for at in (10, 14, 18))
    with lived.transaction() as session:
        publish_adjustment(session, adjusted, published_at=midnight_after(adjusted))
        publish_adjustment(session, late, published_at=SETTLED.now())  # in hindsight
        publish_adjustment(session, not_published, published_at=None)
    judged(lived)
    rows = stored_of(lived, weather="observed")
    assert {lead for forecaster, lead in rows if forecaster == ADJUSTED} == {2, 3, 4, 5}
    with lived.reading() as session:
        flow = runs.series_of(session, adjusted.id, BASIN, (run_arrays.CALIBRATED,))[run_arrays.CALIBRATED].values
        came = load_discharge(session, BASIN, newest(lived).area_products, Period(adjusted.t0 + 3, adjusted.t0 + 3))
    assert not isinstance(came, Absent)
    for forecaster, quantiles in ((AS_ISSUED, flow[:, 2]), (ADJUSTED, 2 * flow[:, 1])):
        scores = rows[forecaster, 3].scores
        expected = crps(quantiles[None].astype(float), LEVELS, came.astype(float)).mean()
        assert scores.n == 1
        assert scores.crps_mm_per_day == pytest.approx(expected, rel=1e-5)
    assert rows[CALIBRATED, 3].scores.n == 3


def midnight_after(run: run_types.Run) -> datetime:
    """Return the first instant of a run's first forecast day."""
    return datetime.combine(as_date(run.t0 + 1), datetime.min.time(), UTC)


def publish_adjustment(session: Session, run: run_types.Run, published_at: datetime | None) -> None:
    """Store an adjustment of a run that was the latest: twice the flow, a day later."""
    adjustment = Adjustment(
        id=f"of-{run.id}",
        run_id=run.id,
        basin_id=BASIN,
        factor=2.0,
        shift_days=1,
        chances={},
        words="More snow than it knows of.",
        author="Ann",
        key_id="key",
        created_at=run.issued_at,
        published_at=published_at,
        publisher=None if published_at is None else "Ann",
    )
    add_all(session, Adjustment, [as_values(adjustment)])
