"""An evaluation scores the simulation of a version and stores the scores."""

from dataclasses import astuple, replace
from dataclasses import fields as dataclass_fields

import numpy as np
import pytest

from hydrology.base.absent import Absent
from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem
from hydrology.scores.scores import OF_CURVES, SCORES, all_scores, nse
from operations.basin_data.dataset import load_discharge, load_forcing
from operations.verification.calibrate import calibrate
from operations.verification.evaluate import evaluate
from operations.verification.snow_cells import read_snow, reference_snow
from operations.versions.load_networks import load_version
from records.database.engine import Database
from records.simulations import simulated_series, snow_cells
from records.verification import scores
from records.versions import versions
from testing.country import BASINS, CLOCK, configuration
from testing.training import train
from testing.work import work_of

PERIOD, YEAR_BEFORE = Period.parse("2004-10-01..2005-09-30"), Period.parse("2003-10-01..2004-09-30")


def newest(database: Database) -> str:
    with database.reading() as session:
        return versions.newest(session).id


def test_scores_are_those_of_the_members_mean_from_a_carried_state(trained_store: Database) -> None:
    version = newest(trained_store)
    done = evaluate(work_of(trained_store, CLOCK), version, PERIOD, BASINS)
    with trained_store.reading() as session:
        loaded = load_version(session, version)
        forcing = load_forcing(session, "SYNTH-03", loaded.config)
        observed = load_discharge(session, "SYNTH-03", ["synthetic"], PERIOD)
        rows = scores.scores(session, versions=[version], basins=["SYNTH-03"])
    assert not isinstance(forcing, Absent)
    assert not isinstance(observed, Absent)
    outputs, _ = loaded.ensemble.simulate(forcing.forcing, None, ("discharge",))
    simulated = outputs["discharge"][:, 0, -365:].mean(axis=0)
    expected = nse(simulated, observed).value
    judged = {one.basin: one for one in done.basins}["SYNTH-03"]
    assert judged.scores["nse"].value == pytest.approx(expected, rel=1e-9)
    stored = {row.metric: row for row in rows}
    assert stored.keys() == SCORES.keys()
    assert stored["nse"].value == pytest.approx(expected, rel=1e-9)
    assert (stored["nse"].n, stored["nse"].member) == (365, "mean")
    count, low, median, high = astuple(done.quartiles("nse"))
    values = [one.scores["nse"].value for one in done.basins]
    assert count == 3
    assert [low, median, high] == pytest.approx(list(np.percentile(np.array(values, float), [25, 50, 75])))


def test_draws_are_scored_by_an_error_model_of_other_days(trained_store: Database) -> None:
    version, work = newest(trained_store), work_of(trained_store, CLOCK)
    for fitted, expected in ((YEAR_BEFORE, {score.__name__ for score in OF_CURVES}), (PERIOD, set[str]())):
        calibrate(work, version, BASINS, fitted)
        done = evaluate(work, version, PERIOD, BASINS)
        assert [of.of_draws.keys() for of in done.basins] == [expected] * len(done.basins)
    with trained_store.reading() as session:
        stored = scores.scores(session, versions=[version], basins=[BASINS[0]], members=[scores.DRAWS])
    assert {row.metric for row in stored} == {score.__name__ for score in OF_CURVES}


def test_the_stored_flow_gives_every_score_again(trained_store: Database) -> None:
    version = newest(trained_store)
    done = evaluate(work_of(trained_store, CLOCK), version, PERIOD, BASINS)
    for judged in done.basins:
        with trained_store.reading() as session:
            flow = simulated_series.newest_flow(session, [version], judged.basin)
        assert flow.period == PERIOD
        again = all_scores(flow.simulated, flow.observed, PERIOD.days)
        assert {name: score.value for name, score in again.items()} == {
            name: score.value for name, score in judged.scores.items()
        }
    evaluate(work_of(trained_store, CLOCK), version, PERIOD, BASINS)
    with trained_store.reading() as session:
        assert simulated_series.newest_flow(session, [version], BASINS[0]).evaluated_at <= flow.evaluated_at


def test_the_balance_closes_and_the_version_records_it(trained_store: Database) -> None:
    version = newest(trained_store)
    done = evaluate(work_of(trained_store, CLOCK), version, PERIOD, BASINS)
    assert done.worst_residual is not None
    assert 0 < done.worst_residual <= 1e-5
    with trained_store.reading() as session:
        closure = versions.get(session, version).properties.closure
    assert closure is not None
    assert closure.worst_relative_residual == done.worst_residual


def test_snow_cells_are_chosen_on_training_years_and_judged_on_others(trained_store: Database) -> None:
    version = newest(trained_store)
    done = evaluate(work_of(trained_store, CLOCK), version, PERIOD, BASINS)
    with trained_store.reading() as session:
        rows = {row.basin_id: row for row in snow_cells.own_cells(session, version)}
    assert rows.keys() == set(BASINS)
    snowy = rows["SYNTH-03"]
    assert (str(snowy.training_first), str(snowy.training_last)) == ("2001-10-01", "2003-09-30")
    assert snowy.product == "synthetic_snow"
    for row in rows.values():
        if row.reason is None:
            assert set(row.cells) == {"0", "1"}
            assert all(cells and 0 not in cells for cells in row.cells.values())
            assert row.test_r is not None
        else:
            assert row.test_r is None or row.training_r is None
    fitted = evaluate(work_of(trained_store, CLOCK), version, Period.parse("2001-10-01..2003-09-30"), BASINS)
    for one in fitted.basins:
        assert one.snow is not None
        assert one.snow.test_r is None  # no year is left that took no part in the choice
        assert one.snow.reason is not None
    with trained_store.reading() as session:
        assert {row.basin_id: row for row in snow_cells.own_cells(session, version)} == rows
    assert len(done.basins) == 3


def test_a_period_that_the_forcing_does_not_cover_is_refused(trained_store: Database) -> None:
    with pytest.raises(DataProblem, match="does not cover"):
        evaluate(work_of(trained_store, CLOCK), newest(trained_store), Period.parse("2005-10-01..2006-09-30"), BASINS)


def test_snow_is_judged_on_days_held_out_of_the_training_period(trained_store: Database) -> None:
    training, held_out = "2001-10-01..2004-09-30", Period.parse("2002-10-01..2003-09-30")
    config = configuration(
        train_period=training,
        validation_period="2004-10-01..2005-09-30",
        held_out_period=str(held_out),
        members=1,
    )
    version = train(work_of(trained_store, CLOCK), config, BASINS).version_id
    record = Period.parse(training)
    with trained_store.reading() as session:
        loaded = load_version(session, version)
        reference = reference_snow(session, "SYNTH-03", record)
    assert reference is not None
    storage = np.stack([np.zeros_like(reference.swe), reference.swe], axis=-1)[None]  # a cell that is the snow
    snow = read_snow(CLOCK, loaded, reference, storage, test=held_out)
    assert snow is not None
    assert snow.cells.cells == {"0": [1]}
    assert snow.cells.test_r == pytest.approx(1)
    learnt = Period.parse("2003-10-01..2004-09-30")
    fitted = read_snow(CLOCK, loaded, reference, storage, test=learnt)
    assert fitted is not None
    assert fitted.cells.test_r is None


def test_scores_over_days_that_the_version_used_are_labelled_with_a_warning(trained_store: Database) -> None:
    version = newest(trained_store)
    for days, use in (
        ("2004-10-01..2005-09-30", "held out"),
        ("2003-10-01..2004-09-30", "validation"),
        ("2002-10-01..2003-09-30", "training"),
        ("2003-04-01..2005-03-31", "mixed"),
    ):
        done = evaluate(work_of(trained_store, CLOCK), version, Period.parse(days), BASINS[:1], stored=False)
        assert (done.use, done.scored, done.warning is None) == (use, version, use == "held out"), days
        assert done.warning is None or f"Version {version} has" in done.warning or "was chosen by" in done.warning


def test_stored_scores_state_the_use_of_their_days_in_each_basin(trained_store: Database) -> None:
    version = train(work_of(trained_store, CLOCK), configuration(members=1), BASINS[:1]).version_id
    learnt = "2002-10-01..2003-09-30"
    for days, uses, joint in (
        (str(PERIOD), ["held out", "held out"], "held out"),
        (learnt, ["training", "held out"], "mixed"),  # the second basin is held out in space
    ):
        done = evaluate(work_of(trained_store, CLOCK), version, Period.parse(days), BASINS[:2])
        assert (done.use, done.warning is None) == (joint, joint == "held out")
        with trained_store.reading() as session:
            rows = scores.scores(session, versions=[version], metrics=["nse"], first_day=Period.parse(days).first)
        assert [row.period_use for row in rows] == uses
    alone = evaluate(work_of(trained_store, CLOCK), version, Period.parse(learnt), BASINS[1:2], stored=False)
    assert (alone.use, alone.warning) == ("held out", None)


def test_a_twin_that_has_learnt_from_the_days_too_is_labelled(trained_store: Database) -> None:
    twin = newest(trained_store)
    with trained_store.transaction() as session:
        of_twin = versions.get(session, twin)
        fields = {part.name: getattr(of_twin, part.name) for part in dataclass_fields(versions.NewVersion)}
        every_year = of_twin.config | {"train_period": "2001-10-01..2005-09-30", "validation_period": None}
        fields |= {"config": every_year, "properties": replace(of_twin.properties, twin=twin)}
        version = versions.create(session, versions.NewVersion(**fields), versions.members_of(session, twin)).id
    for days, use in (("2002-10-01..2003-09-30", "training"), ("2004-10-01..2005-09-30", "held out")):
        done = evaluate(work_of(trained_store, CLOCK), version, Period.parse(days), BASINS[:1], stored=False)
        assert (done.scored, done.use) == (twin, use)
        assert (done.warning is None) == (use == "held out")
