"""A version that combines others: each part on its own weather product, and their flow is the weighted mean."""

from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from sqlalchemy import delete

from extensions.receipts.reproduce import reproduce
from extensions.weights.learning import learn_weights, weights_by_errors
from hydrology.attribution import PARTS
from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import STALE_AFTER_DAYS, Period, day
from hydrology.base.errors import InvalidInput
from hydrology.base.products import Credit
from hydrology.base.reasons import Reason
from hydrology.scores.scores import nse
from hydrology.water.ledger import PRECIPITATION
from jobspec.changes import Changes, Increment, Storm
from jobspec.jobs.forecasting import ForecastParams, ReplayParams, VolumesParams, WhatIfParams
from jobspec.training import FineTuningConfig
from models.forcing import days_of
from operations.basin_data.dataset import load_forcing
from operations.daily.daily_forecasts import DailyRequest, issue_newest
from operations.daily.replay import replay
from operations.forecasting.forecast import forecast, forecast_volumes
from operations.verification.calibrate import calibrate
from operations.verification.compare import compare
from operations.verification.error_split import split_errors
from operations.verification.evaluate import evaluate
from operations.verification.reforecast import reforecast
from operations.verification.simulated_levels import compute
from operations.verification.snow_cells import Reference, combined_snow, read_snow
from operations.versions.load_networks import load_version
from operations.what_if import what_if
from records.database.engine import Database
from records.feeds import feeds
from records.runs import run_arrays, run_types, runs, states
from records.runs.filled_note import weather_note
from records.runs.run_summary import RunChange
from records.runs.run_types import RunBasin
from records.runs.runs import RunRequest
from records.series import series
from records.series.year_rows import SERIES
from records.simulations import snow_cells
from records.verification import error_splits, scores
from records.verification.error_splits import ErrorFilter
from records.versions import combinations, promotions, versions
from records.versions.versions import Version
from runtime.clock import Clock
from testing.country import BASINS, CLOCK, FIRST, SECOND, combined, second_version
from testing.late_archive import LateArchive
from testing.training import train
from testing.work import work_of
from tests.operations.forecasting.test_forecast import blank

T0, BASIN = day("2004-03-10"), BASINS[0]
JUDGED = Period.parse("2004-10-01..2005-09-30")
START = datetime(2005, 5, 1, 14, tzinfo=UTC)


@pytest.fixture
def both(trained_store: Database) -> Version:
    return combined(trained_store, CLOCK)


def issued(database: Database, version: str, **request: object) -> run_types.Run:
    asked = {"basins": [*BASINS], "t0": T0, "version": version, "horizon": 6} | request
    (run,) = forecast(work_of(database, CLOCK), RunRequest(ForecastParams.model_validate(asked)))
    assert run.status == "issued"
    return run


def arrays(database: Database, run: run_types.Run, basin: str = BASIN) -> dict[str, run_arrays.RunSeries]:
    with database.reading() as session:
        return dict(runs.series_of(session, run.id, basin))


def row(database: Database, run: run_types.Run, basin: str = BASIN) -> RunBasin:
    with database.reading() as session:
        return runs.basin_of(session, run.id, basin)


@pytest.mark.parametrize("weather", ["observed", "climatology"])
def test_the_members_are_those_of_the_parts_and_the_mean_is_weighted(
    trained_store: Database, both: Version, weather: str
) -> None:
    run = issued(trained_store, both.id, weather=weather)
    of_parts = [issued(trained_store, part.version, weather=weather) for part in both.parts]
    whole_run = arrays(trained_store, run)
    own = [arrays(trained_store, part) for part in of_parts]
    flows = [of_part["discharge"].values for of_part in own]
    np.testing.assert_array_equal(whole_run["discharge"].values, np.concatenate(flows))
    assert run.members == whole_run["discharge"].axes["member"] == ["synthetic-0", "synthetic-1", "second-1"]
    mean = sum(
        part.weight * flow.reshape(-1, flow.shape[-1]).mean(axis=0, dtype=float)
        for part, flow in zip(both.parts, flows, strict=True)
    )
    np.testing.assert_allclose(run_arrays.mean_of_members(whole_run), mean, rtol=1e-12)
    rain = [of_part["precipitation"].values for of_part in own]
    np.testing.assert_allclose(whole_run["precipitation"].values, 0.7 * rain[0] + 0.3 * rain[1], rtol=1e-6)


def test_a_version_with_members_of_its_own_is_its_only_part(trained_store: Database, both: Version) -> None:
    with trained_store.reading() as session:
        loaded = load_version(session, both.parts[0].version)
    (part,) = loaded.version.parts
    assert (part.version, part.weight, part.labels) == (loaded.version.id, 1, ["0", "1"])
    assert (part.fitted, part.validation) == (both.parts[0].fitted, both.parts[0].validation)
    assert [one.loaded for one in loaded.parts] == [loaded]
    assert not loaded.version.combines
    summary = row(trained_store, issued(trained_store, part.version)).summary
    assert (summary.parts, summary.subset) == ((), None)


def twice(database: Database) -> tuple[Version, Version]:
    """Return a version, and one that combines it with a copy of itself."""
    with database.transaction() as session:
        one = versions.newest(session)
        fields = {name: getattr(one, name) for name in versions.NewVersion.__dataclass_fields__}
        copy = versions.create(
            session, versions.NewVersion(**fields | {"label": "copy"}), versions.members_of(session, one.id)
        )
        weights = {one.id: 0.5, copy.id: 0.5}
        return one, combinations.combine(session, weights, label=None, wall=CLOCK.wall(), now=CLOCK.now())


def test_two_copies_of_a_version_answer_as_it_does(trained_store: Database) -> None:
    """Its flow, its water, why it changed, its variance, its response to rain, and the split of its errors."""
    found = []
    for version in twice(trained_store):
        with trained_store.transaction() as session:
            promotions.promote(session, version.id, BASINS, reason="in turn", by="someone", at=CLOCK.now())
        params = ReplayParams(period=Period.parse("2005-04-02..2005-04-03"), horizon=4, traces=3)
        _, run = replay(work_of(trained_store, CLOCK), RunRequest(params)).runs
        assert split_errors(work_of(trained_store, CLOCK), version, day("2005-04-20")) == 2 * len(BASINS)
        spread = arrays(
            trained_store, issued(trained_store, version.id, weather="climatology", perturbed_states=3, horizon=3)
        )
        with trained_store.reading() as session:
            worst = error_splits.worst(session, "peak", ErrorFilter(version=version.id), 9)
        errors = {(one.basin_id, str(one.t0)): [*asdict(one.volume).values()] for one in worst}
        found.append((run, arrays(trained_store, run), spread, errors))
    (_, once, spread, errors), (run, again, spread_again, errors_again) = found
    np.testing.assert_allclose(run_arrays.mean_of_members(again), run_arrays.mean_of_members(once), rtol=1e-12)
    for name in ("precipitation", "storage", "loss", run_arrays.CHANGES):
        np.testing.assert_allclose(again[name].values, once[name].values, rtol=1e-6, atol=1e-12)
    peaks = again[run_types.PEAKS_BY_RAIN].values
    np.testing.assert_array_equal(peaks, np.concatenate([once[run_types.PEAKS_BY_RAIN].values] * 2, axis=-1))
    variance, variance_again = (one[run_types.VARIANCE].values for one in (spread, spread_again))
    np.testing.assert_allclose(variance_again, variance, rtol=1e-5)
    assert (variance > 0).all()
    assert errors.keys() == errors_again.keys()
    np.testing.assert_allclose([*errors_again.values()], [errors[key] for key in errors_again], rtol=1e-9, atol=1e-9)


def test_the_ledger_names_the_precipitation_of_each_product_and_closes(trained_store: Database, both: Version) -> None:
    t0 = day("2004-04-20")  # rain falls in the days after it
    run = issued(trained_store, both.id, weather="climatology", t0=t0)
    own = [
        arrays(trained_store, issued(trained_store, part.version, weather="climatology", t0=t0)) for part in both.parts
    ]
    with trained_store.reading() as session:
        *members, of_version = runs.ledger_of(session, run.id, BASIN)
    assert of_version.member == run_arrays.OF_VERSION
    assert of_version.closes
    assert all(ledger.closes for ledger in members)
    rains = [of_part["precipitation"].values.mean(axis=0, dtype=float).sum() for of_part in own]
    assert of_version.terms[f"{PRECIPITATION} of {FIRST}"] == pytest.approx(0.7 * rains[0], rel=1e-6)
    assert of_version.terms[f"{PRECIPITATION} of {SECOND}"] == pytest.approx(0.3 * rains[1], rel=1e-6)
    assert rains[0] > 0
    assert PRECIPITATION not in of_version.terms
    flow = run_arrays.mean_of_members(arrays(trained_store, run)).sum()
    assert -of_version.terms["discharge"] == pytest.approx(flow, rel=1e-6)


@pytest.mark.extended
@pytest.mark.parametrize("weather", ["observed", "climatology", "dry"])
def test_a_run_computed_again_has_the_stored_bits(trained_store: Database, both: Version, weather: str) -> None:
    calibrate(work_of(trained_store, CLOCK), both.id, BASINS)
    run = issued(trained_store, both.id, weather=weather, age=True, t0=day("2005-03-10"))
    receipt = reproduce(work_of(trained_store), run.id)
    assert receipt.reproduced == len(BASINS)
    assert {*receipt.basins[0].equal} == {*arrays(trained_store, run)}


def test_states_are_stored_once_with_the_parts(trained_store: Database, both: Version) -> None:
    run = issued(trained_store, both.id)
    with trained_store.reading() as session:
        assert not states.page(session, both.id, BASIN, before=None, limit=5)
        held = {part.name: states.require(session, part.version, BASIN, T0).sha256 for part in both.parts}
    assert {part.name: part.state_hash for part in row(trained_store, run).summary.parts} == held


def test_a_what_if_run_changes_every_part(trained_store: Database, both: Version) -> None:
    changes = Changes(storm=Storm(mm=30, lead=2), increment=Increment(mm=10))
    asked = WhatIfParams(basins=[*BASINS], t0=T0, horizon=6, version=both.id, changes=changes)
    base = issued(trained_store, both.id)
    (run,) = what_if(work_of(trained_store, CLOCK), RunRequest(asked))
    assert run.what_if is not None
    assert run.what_if.base == base.id
    wetter, before = (arrays(trained_store, one)["precipitation"].values for one in (run, base))
    np.testing.assert_allclose((wetter - before)[1], 30, rtol=1e-5)
    assert reproduce(work_of(trained_store), run.id).reproduced == len(BASINS)


def test_a_basin_whose_parts_can_be_changed_is_run_though_a_part_cannot_anywhere(
    trained_store: Database, both: Version
) -> None:
    with trained_store.transaction() as session:
        session.execute(delete(SERIES).filter_by(basin_id=BASIN, product=SECOND))
    for basin in BASINS[1:]:
        blank(trained_store, basin, "tmax", 2004, 71, 69.0, product=SECOND)  # 12 March: 74 degrees are impossible
    asked = WhatIfParams(basins=[*BASINS], t0=T0, horizon=6, version=both.id, changes=Changes(degrees=5))
    (run,) = what_if(work_of(trained_store, CLOCK), RunRequest(asked))
    with trained_store.reading() as session:
        statuses = {one.basin_id: one.status for one in runs.basins_of(session, run.id)}
    assert statuses == {BASIN: "issued"} | dict.fromkeys(BASINS[1:], "failed")


def test_seasonal_volumes_run_on_it(trained_store: Database, both: Version) -> None:
    asked = VolumesParams(basins=[*BASINS], t0=T0, version=both.id)
    assert all(run.status == "issued" for run in forecast_volumes(work_of(trained_store, CLOCK), RunRequest(asked)))


def test_scores_are_of_the_weighted_mean_and_of_each_product_alone(trained_store: Database, both: Version) -> None:
    done = evaluate(work_of(trained_store, CLOCK), both.id, JUDGED, BASINS)
    own = [
        evaluate(work_of(trained_store, CLOCK), part.version, JUDGED, BASINS, stored=False) for part in both.parts[:1]
    ]
    with trained_store.reading() as session:
        stored = {
            one.member: one.value for one in scores.scores(session, versions=[both.id], basins=[BASIN], metrics=["nse"])
        }
    assert stored.keys() == {"mean", FIRST, SECOND}
    assert stored[FIRST] == pytest.approx(own[0].basins[0].scores["nse"].value, rel=1e-9)
    judged = done.basins[0]
    assert stored["mean"] == pytest.approx(nse(judged.simulated, judged.observed).value, rel=1e-6)
    assert done.worst_residual is not None
    assert done.worst_residual < 1e-5
    compared = compare(work_of(trained_store, CLOCK), [both.id, both.parts[0].version], JUDGED)
    assert [one.members for one in compared.result.versions] == [3, 2]


@pytest.mark.extended
def test_its_evaluation_chooses_the_snow_cells_of_its_parts(trained_store: Database, both: Version) -> None:
    evaluate(work_of(trained_store, CLOCK), both.id, JUDGED, BASINS)
    for part in both.parts:
        alone = evaluate(work_of(trained_store, CLOCK), part.version, JUDGED, BASINS, stored=False)
        expected = {one.basin: one.snow for one in alone.basins if one.snow is not None}
        with trained_store.reading() as session:
            stored = {one.basin_id: one for one in snow_cells.own_cells(session, part.version)}
        assert expected
        assert {basin: (one.cells, one.test_r, one.bias_pct) for basin, one in stored.items()} == {
            basin: (one.cells, one.test_r, one.bias_pct) for basin, one in expected.items()
        }


@pytest.mark.extended
def test_its_snow_is_judged_as_the_weighted_mean_of_its_parts(trained_store: Database, both: Version) -> None:
    evaluate(work_of(trained_store, CLOCK), both.id, JUDGED, BASINS)
    with trained_store.reading() as session:
        (judged, *_) = [one for one in snow_cells.own_cells(session, both.id) if one.test_r is not None]
        basin, mean = judged.basin_id, np.zeros(len(JUDGED))
        for part in both.parts:
            loaded = load_version(session, part.version)
            loading = load_forcing(session, basin, loaded.config)
            assert not isinstance(loading, Absent)
            outputs, _ = loaded.ensemble.simulate(loading.forcing, None, ("storage",))
            storage = outputs["storage"][:, 0, days_of(loading.period, JUDGED)]
            for label, of_member in zip(part.labels, storage, strict=True):
                cells = of_member[:, judged.cells[label]].sum(axis=1)
                mean += part.in_basin(basin).weight * cells / len(storage)
        stored = series.read(session, basin, judged.product, "swe", JUDGED)
    assert stored is not None
    swe = stored.values
    assert judged.test_r == pytest.approx(np.corrcoef(mean, swe)[0, 1], rel=1e-4)
    assert judged.bias_pct == pytest.approx(100 * (mean.sum() / swe.sum() - 1), rel=1e-3)
    snow = row(trained_store, issued(trained_store, both.id), basin).summary.snow
    assert not isinstance(snow, Absent)
    assert not isinstance(snow.skill, Absent)
    assert (snow.skill.version, snow.skill.r, snow.skill.bias_pct) == (both.id, judged.test_r, judged.bias_pct)


@pytest.mark.extended
def test_its_snow_is_judged_on_days_that_no_part_was_fitted_to(trained_store: Database, both: Version) -> None:
    with trained_store.reading() as session:
        whole = load_version(session, both.id)
    first, second = whole.parts
    late = Period.parse("2004-10-01..2005-03-31")
    ensemble = second.loaded.ensemble
    config = ensemble.config.model_copy(update={"train_period": late})
    second = replace(second, loaded=replace(second.loaded, own=replace(ensemble, config=config)))
    record = Period(first.loaded.config.train_period.first, JUDGED.last)
    snow = np.random.default_rng(0).uniform(1, 100, len(record)).astype(np.float32)
    reference = Reference(BASIN, record, "a reference", snow)
    forgotten = np.where((record.days >= late.first) & (record.days <= late.last), 0, snow)
    readings = []
    for one, read in ((first, forgotten), (second, snow)):
        cells = np.stack([np.zeros_like(read), read], axis=-1)
        storage = np.repeat(cells[None], len(one.loaded.labels), axis=0)
        reading = read_snow(CLOCK, one.loaded, reference, storage, test=JUDGED)
        assert reading is not None
        readings.append((one, reading))
    judged = combined_snow(CLOCK, whole, readings, JUDGED)
    assert judged is not None
    assert judged.test_r == pytest.approx(1)
    assert judged.bias_pct == pytest.approx(0, abs=1e-9)
    assert (judged.training_first, judged.training_last) == (record.first, late.last)


@pytest.mark.extended
def test_where_a_part_is_missing_its_snow_has_the_skill_of_a_part(trained_store: Database, both: Version) -> None:
    evaluate(work_of(trained_store, CLOCK), both.id, JUDGED, BASINS)
    with trained_store.transaction() as session:
        (judged, *_) = [one.basin_id for one in snow_cells.own_cells(session, both.id) if one.test_r is not None]
        session.execute(delete(SERIES).filter_by(basin_id=judged, product=SECOND))
    snow = row(trained_store, issued(trained_store, both.id, basins=[judged]), judged).summary.snow
    assert not isinstance(snow, Absent)
    assert not isinstance(snow.skill, Absent)
    assert snow.skill.version == both.parts[0].version


def test_reforecasts_and_levels_are_of_it(trained_store: Database, both: Version) -> None:
    calibrate(work_of(trained_store, CLOCK), both.id, BASINS)
    assert reforecast(work_of(trained_store, CLOCK), both.id, BASINS, JUDGED, every=30, horizon=2).basins == BASINS
    (levels,) = compute(work_of(trained_store, CLOCK), both.id, BASINS)
    assert levels.basins == BASINS


@pytest.mark.extended
def test_weights_are_learnt_where_no_weight_was_fitted(trained_store: Database, both: Version) -> None:
    ids = [part.version for part in both.parts]
    learnt = learn_weights(work_of(trained_store), ids, None, BASINS)
    assert sum(learnt.common.values()) == pytest.approx(1)
    assert (learnt.by_basin, learnt.nse) == ({}, None)  # of a single year
    with pytest.raises(InvalidInput, match="overlaps"):
        learn_weights(work_of(trained_store), ids, Period.parse("2002-10-01..2003-09-30"), BASINS)


def test_weights_by_basin_are_learnt_where_they_pay() -> None:
    names = [f"basin {number}" for number in range(40)]
    sizes = np.array([[0.3, 0.9], [0.9, 0.3]])[np.arange(40) % 2]
    flows = np.random.default_rng(0).normal(size=(40, 8, 2, 100)) * sizes[:, np.newaxis, :, np.newaxis]
    errors = flows @ flows.swapaxes(-1, -2) / 800
    learnt = weights_by_errors(["first", "second"], names, errors)
    assert learnt.nse is not None
    assert learnt.nse[1] > learnt.nse[0] + 0.05
    assert [learnt.by_basin[name]["first"] for name in names[:2]] == pytest.approx([0.9, 0.1], abs=0.11)
    assert all(sum(own.values()) == pytest.approx(1) for own in learnt.by_basin.values())
    assert min(weight for own in learnt.by_basin.values() for weight in own.values()) > 0
    alike = weights_by_errors(["first", "second"], names, np.broadcast_to(errors[:1], errors.shape))
    assert alike.by_basin == {}


def test_a_basin_has_its_own_weights_in_flow_rain_and_scores(trained_store: Database, both: Version) -> None:
    first, second = (part.version for part in both.parts)
    with trained_store.transaction() as session:
        own = combinations.combine(
            session,
            {first: 0.7, second: 0.3},
            label="own",
            wall=CLOCK.wall(),
            now=CLOCK.now(),
            by_basin={BASIN: {first: 1, second: 3}},
        )
        assert own.id != both.id
        assert versions.get(session, own.id) == own
    t0 = day("2004-04-20")
    run, *alone = (issued(trained_store, one, weather="dry", t0=t0) for one in (own.id, first, second))
    for basin, weight in ((BASIN, 0.25), (BASINS[1], 0.7)):
        of_first, of_second = (run_arrays.mean_of_members(arrays(trained_store, one, basin)) for one in alone)
        mean = run_arrays.mean_of_members(arrays(trained_store, run, basin))
        np.testing.assert_allclose(mean, weight * of_first + (1 - weight) * of_second, rtol=1e-6)
        shares = {part.name: part.weight for part in row(trained_store, run, basin).summary.parts}
        assert shares == pytest.approx({FIRST: weight, SECOND: 1 - weight})
        with trained_store.reading() as session:
            assert all(ledger.closes for ledger in runs.ledger_of(session, run.id, basin))
    assert reproduce(work_of(trained_store), run.id).reproduced == len(BASINS)
    judged = [
        evaluate(work_of(trained_store, CLOCK), one, JUDGED, [BASIN], stored=False) for one in (own.id, first, second)
    ]
    flow, *parts = (one.basins[0].simulated for one in judged)
    np.testing.assert_allclose(flow, 0.25 * parts[0] + 0.75 * parts[1], rtol=1e-5)


@pytest.mark.extended
def test_its_parts_are_fine_tuned_and_combined_again(trained_store: Database, both: Version) -> None:
    tuning = FineTuningConfig.model_validate(
        {
            "parent": both.id,
            "train_period": "2001-10-01..2003-09-30",
            "validation_period": "2003-10-01..2004-09-30",
            "windows": {"spinup_days": 60, "loss_days": 60, "batch": 4},
            "schedule": {"steps": 4, "warmup_steps": 1, "peak_learning_rate": 0.01},
            "validate_every": 2,
        }
    )
    done = train(work_of(trained_store, CLOCK), tuning, [BASIN])
    with trained_store.reading() as session:
        tuned = versions.get(session, done.version_id)
        parents = [versions.get(session, part.version).parent_id for part in tuned.parts]
        assert not set(promotions.current(session, BASINS).values()) & {tuned.id, *(one.version for one in tuned.parts)}
    assert parents == [part.version for part in both.parts]
    assert [(part.product, part.weight) for part in tuned.parts] == [(FIRST, 0.7), (SECOND, 0.3)]
    assert (tuned.parent_id, tuned.scope) == (both.id, (BASIN,))
    assert set(both.used_periods) <= set(tuned.used_periods)
    assert train(work_of(trained_store, CLOCK), tuning, [BASIN]).version_id == tuned.id


class Service:
    """A store with two products that come day by day, forecast every day."""

    def __init__(self, database: Database) -> None:
        self.database, self.now = database, START
        self.both = combined(database, CLOCK)
        with database.transaction() as session:
            promotions.promote(session, self.both.id, BASINS, reason="both", by="someone", at=self.now)
        self.archives = {name: LateArchive.take(database, name, BASINS, self.yesterday) for name in (FIRST, SECOND)}
        self.lacking = dict.fromkeys(self.archives, self.yesterday)

    @property
    def yesterday(self) -> np.datetime64:
        return day(self.now.date()) - 1

    def go_on(self, *products: str, ahead: bool = False) -> run_types.Run:
        """Go on by a day, bring the days of some products until yesterday, and forecast.

        Args:
            ahead: whether there is a weather forecast, too.
        """
        self.now += timedelta(days=1)
        for name in products:
            days = Period(self.lacking[name] + 1, self.yesterday)
            self.archives[name].bring(self.database, Clock(self.now), days, flow=False)
            self.lacking[name] = self.yesterday
        if ahead:
            self.archives[FIRST].forecast(self.database, self.now, self.yesterday + 1, 5, warmer=(-1.0, 0.0, 1.0))
        done = issue_newest(work_of(self.database, Clock(self.now)), BASINS, DailyRequest(5))
        assert not done.failed
        (run,) = done.issued
        assert (run.status, run.weather_until) == ("issued", self.yesterday)
        return run

    def hashes(self) -> dict[str, dict[str, str]]:
        """Return the hash of the states of yesterday, by part and basin."""
        with self.database.reading() as session:
            return {
                part.name: states.valid_hashes(session, part.version, self.yesterday, BASINS)
                for part in self.both.parts
            }


@pytest.fixture
def service(trained_store: Database) -> Service:
    return Service(trained_store)


@pytest.mark.extended
def test_a_missing_product_leaves_the_others_and_catches_up(service: Service) -> None:
    evaluate(work_of(service.database, CLOCK), service.both.id, Period.parse("2004-10-01..2005-03-31"), BASINS)
    calibrate(work_of(service.database, CLOCK), service.both.id, BASINS)
    came = [(FIRST, SECOND), (FIRST,), (FIRST,), (SECOND,), (FIRST, SECOND)]
    of_days = [service.go_on(*products) for products in came]
    for run, products in zip(of_days, came, strict=True):
        of_basin = row(service.database, run)
        assert [part.product for part in of_basin.summary.parts] == [*products]
        assert sum(part.weight for part in of_basin.summary.parts) == pytest.approx(1)
        assert (of_basin.summary.subset is None) == (len(products) == 2)
        assert not isinstance(of_basin.summary.calibration, Absent)
        assert reproduce(work_of(service.database), run.id).reproduced == len(BASINS)
    alone = row(service.database, of_days[1]).summary.subset
    assert alone is not None
    assert alone.products == (FIRST,)
    assert SECOND in alone.missing
    assert alone.nse is not None
    assert alone.nse_of_all is not None
    note = weather_note(of_days[1], row(service.database, of_days[1]).summary)
    assert note is not None
    assert f"On {FIRST} alone." in note
    assert f"{alone.nse:.2f}" in note
    with service.database.reading() as session:
        for run in of_days:
            assert all(ledger.closes for ledger in runs.ledger_of(session, run.id, BASIN))


@pytest.mark.extended
def test_a_late_product_is_filled_and_reproduced(service: Service) -> None:
    calibrate(work_of(service.database, CLOCK), service.both.id, BASINS)
    came: list[tuple[str, ...]] = [(FIRST, SECOND), (FIRST,), (), (FIRST, SECOND)]
    of_days = [service.go_on(*products, ahead=True) for products in came]
    assert [run.forcing_kind for run in of_days] == ["supplied"] * len(came)
    assert [run.filled_days for run in of_days] == [0, 1, 2, 0]
    for run in of_days:
        first, second = row(service.database, run).summary.parts
        assert (first.product, second.product) == (FIRST, SECOND)
        assert [bool(one.filled_weather) for one in (first, second)] == [run.filled_days > 0] * 2
    late = row(service.database, of_days[1]).summary
    assert {one.source for one in late.parts[0].filled_weather} == {"product"}
    assert {one.source for one in late.parts[1].filled_weather} == {"forecast"}
    note = weather_note(of_days[1], late)
    assert note is not None
    assert note.startswith(f"{SECOND}: Weather of 2 May is not observed yet: it is the forecast of ")
    for run in of_days:
        assert not isinstance(row(service.database, run).summary.calibration, Absent)
        receipt = reproduce(work_of(service.database), run.id)
        assert [one.different for one in receipt.basins] == [()] * len(BASINS)


def test_t0_never_goes_back_where_a_product_catches_up(service: Service) -> None:
    service.now += timedelta(days=STALE_AFTER_DAYS)  # its weather forecast could fill the day that is missing then
    service.archives[FIRST].forecast(service.database, service.now, service.yesterday + 1, 5, warmer=(-1.0, 0.0, 1.0))
    alone = service.go_on(FIRST, ahead=True)
    assert (alone.t0, [part.product for part in row(service.database, alone).summary.parts]) == (
        service.yesterday,
        [FIRST],
    )
    back = Period(service.lacking[SECOND] + 1, service.yesterday - 1)
    service.archives[SECOND].bring(service.database, Clock(service.now), back, flow=False)
    service.now += timedelta(hours=1)
    assert issue_newest(work_of(service.database, Clock(service.now)), BASINS, DailyRequest(5)).issued == []


def changes(database: Database, run: run_types.Run) -> tuple[RunChange, dict[str, np.ndarray]]:
    found, of_run = row(database, run).summary.change, arrays(database, run)
    assert isinstance(found, RunChange)
    return found, dict(zip(PARTS, of_run[run_arrays.CHANGES].values[0], strict=True))


def flow_of(database: Database, run: run_types.Run, weights: tuple[float, float, float]) -> np.ndarray:
    """Return the mean flow of a run with some weights of its members."""
    members = arrays(database, run)["discharge"].values
    return np.average(members.reshape(len(members), -1, members.shape[-1]).mean(axis=1), axis=0, weights=weights)


@pytest.mark.extended
def test_a_missing_product_is_a_cause_of_change_of_its_own(service: Service) -> None:
    came: list[tuple[str, ...]] = [(FIRST, SECOND), (FIRST, SECOND), (FIRST,), (FIRST, SECOND)]
    _, second, third, fourth = [service.go_on(*products) for products in came]
    whole, alone = (0.35, 0.35, 0.3), (0.5, 0.5, 0.0)
    of_days = {run.id: run_arrays.mean_of_members(arrays(service.database, run)) for run in (second, third, fourth)}
    for before, after in ((second, third), (third, fourth)):
        found, causes = changes(service.database, after)
        assert found.run == before.id
        change = of_days[after.id][:-1] - of_days[before.id][1:]
        np.testing.assert_allclose(np.nansum([*causes.values()], axis=0), change, rtol=1e-5, atol=1e-9)
        assert found.products_before == ((FIRST, SECOND) if before is second else (FIRST,))
    at_second = flow_of(service.database, second, alone) - flow_of(service.database, second, whole)
    _, causes = changes(service.database, third)
    np.testing.assert_allclose(causes["model_version"], at_second[1:], rtol=1e-5, atol=1e-9)
    assert np.abs(causes["observed_weather"]).max() > 0
    at_fourth = flow_of(service.database, fourth, whole) - flow_of(service.database, fourth, alone)
    _, causes = changes(service.database, fourth)
    np.testing.assert_allclose(causes["model_version"], at_fourth[:-1], rtol=1e-5, atol=1e-9)


@pytest.mark.extended
def test_states_are_as_if_no_product_had_been_missing(service: Service) -> None:
    for products in [(FIRST, SECOND), (FIRST,), (SECOND,), (FIRST, SECOND)]:
        service.go_on(*products)
    late = service.hashes()
    with service.database.transaction() as session:
        for part in service.both.parts:
            for basin in BASINS:
                states.invalidate(session, basin, part.product, day("2000-01-01"), Absent("no_state"), service.now)
    forecast(
        work_of(service.database, Clock(service.now)),
        RunRequest(
            ForecastParams(basins=[*BASINS], t0=service.yesterday, weather="climatology", version=service.both.id),
            purpose="on-request",
        ),
    )
    assert service.hashes() == late


def test_a_basin_without_a_product_is_forecast_on_the_others(trained_store: Database, both: Version) -> None:
    with trained_store.transaction() as session:
        session.execute(delete(SERIES).filter_by(basin_id=BASIN, product=SECOND))
    run = issued(trained_store, both.id)
    there, other = row(trained_store, run), row(trained_store, run, BASINS[1])
    assert [part.name for part in there.summary.parts] == [FIRST]
    assert len(other.summary.parts) == 2
    with trained_store.reading() as session:
        assert not states.page(session, both.parts[1].version, BASIN, before=None, limit=5)
        own = states.require(session, both.parts[0].version, BASIN, T0)
    assert there.summary.storage_mm == pytest.approx(float(np.asarray(own.storage_mm).mean()))
    assert there.summary.subset is not None
    assert there.summary.subset.nse is None
    done = evaluate(work_of(trained_store, CLOCK), both.id, JUDGED, BASINS)
    known = row(trained_store, issued(trained_store, both.id)).summary.subset
    assert known is not None
    assert (known.nse, known.nse_of_all) == (done.basins[0].scores["nse"].value, None)
    assert {one.basin: [*one.subsets] for one in done.basins} == {
        BASIN: [FIRST],
        BASINS[1]: [FIRST, SECOND],
        BASINS[2]: [FIRST, SECOND],
    }


def test_it_credits_every_product_and_counts_what_was_filled_in_each(trained_store: Database, both: Version) -> None:
    with trained_store.transaction() as session:
        feeds.store_credit(session, FIRST, "open-meteo-archive era5", Credit("By Open-Meteo.com.", "CC BY 4.0"))
        feeds.store_credit(session, SECOND, "daymet", Credit("By the ORNL DAAC.", "public domain"))
    for product, variable, count in ((FIRST, "tmax", 2), (SECOND, "tmax", 3), (SECOND, "vp", 1)):
        blank(trained_store, BASIN, variable, 2004, 40, float("nan"), count, product=product)
    summary = row(trained_store, issued(trained_store, both.id)).summary
    assert summary.product_credit == Credit("By Open-Meteo.com. By the ORNL DAAC.", "CC BY 4.0; public domain")
    assert summary.filled_forcing == {"tmax": 5, "vp": 1}


def test_it_states_why_a_part_has_no_age_of_its_water(trained_store: Database, both: Version) -> None:
    with trained_store.transaction() as session:
        session.execute(delete(SERIES).where(SERIES.c.product == SECOND, SERIES.c.year < T0.astype(object).year))
    run = issued(trained_store, both.id, age=True)
    assert run_types.AGE not in arrays(trained_store, run)
    summary = row(trained_store, run).summary
    assert len(summary.parts) == 2
    assert summary.age_reason == absent(Reason.RECORD_TOO_SHORT_FOR_AGE, days=69)


def test_a_twin_combines_the_twins_of_the_parts(trained_store: Database) -> None:
    with trained_store.transaction() as session:
        twin = versions.newest(session)
        fields = {name: getattr(twin, name) for name in versions.NewVersion.__dataclass_fields__}
        of_all_years = versions.NewVersion(**fields | {"properties": replace(twin.properties, twin=twin.id)})
        first = versions.create(session, of_all_years, versions.members_of(session, twin.id))
        second = second_version(session, twin)
        weights = {first.id: 0.6, second.id: 0.4}
        one = combinations.combine(session, weights, label="all", wall=CLOCK.wall(), now=CLOCK.now())
        assert one.twin_id is not None
        judged = versions.get(session, one.twin_id)
    assert {part.version: part.weight for part in judged.parts} == {twin.id: 0.6, second.id: 0.4}
    assert [of.scored_as for of in (one, first, second, judged)] == [judged.id, twin.id, second.id, judged.id]
    assert one.first_stored(lambda version: version if version == judged.id else None) == (judged.id, judged.id)
