"""Versions are compared on the same basins and days, and the same comparison is stored once."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select

from hydrology.base.absent import absent
from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem, InvalidInput
from hydrology.base.reasons import Reason
from hydrology.base.series import DailySeries, Flag
from hydrology.scores.comparisons import difference
from hydrology.scores.scores import SCORES
from jobspec.training import Cosine
from operations.verification.compare import MAX_VERSIONS, compare
from operations.verification.evaluate import evaluate
from records.basins.basins import UnknownBasin
from records.database.engine import Database
from records.database.stored import table_of
from records.series import revisions, series, series_writer
from records.verification import comparisons, scores
from records.verification import scores as verification_scores
from records.versions import versions
from records.versions.versions import Member
from testing.country import BASINS, CLOCK, configuration
from testing.records import a_basin
from testing.training import train
from testing.work import work_of
from tests.operations.forecasting.test_forecast import blank

pytestmark = pytest.mark.extended

HELD_OUT = Period.parse("2004-10-01..2005-09-30")
SOURCE = "somebody/results@1234567"


@pytest.fixture(scope="module")
def two_file(trained_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the country and two versions, the second trained for longer and named."""
    file = Path(shutil.copy(trained_file, tmp_path_factory.mktemp("two") / "freshet.sqlite"))
    database = Database(f"sqlite:///{file}")
    config = configuration(
        schedule=Cosine(steps=16, warmup_steps=2, peak_learning_rate=0.03), validate_every=16, members=1
    )
    train(work_of(database, CLOCK), config, BASINS, label="longer")
    database.close()
    return file


@pytest.fixture
def trained_store(two_file: Path, tmp_path: Path) -> Iterator[Database]:
    """A copy of the country and its two versions."""
    database = Database(f"sqlite:///{shutil.copy(two_file, tmp_path / 'country.sqlite')}")
    yield database
    database.close()


def both(database: Database) -> list[str]:
    """Return the two versions, the older one first."""
    with database.reading() as session:
        return [one.id for one in versions.list_versions(session)][::-1]


def blank_flow(database: Database, basin: str, period: Period) -> None:
    """Write a gauge's flow of a period as missing."""
    with database.transaction() as session:
        old = series.read(session, basin, "synth", "discharge")
        assert old is not None
        gone = (old.days >= period.first) & (old.days <= period.last)
        values = np.where(gone, np.float32(np.nan), old.values)
        flags = np.where(gone, Flag.MISSING, old.flags).astype(np.uint8)
        source = revisions.register_source(session, "test", "0" * 64, 1, CLOCK.wall())
        new = DailySeries(old.start, values, flags, old.unit)
        series_writer.write(session, basin, "synth", "discharge", new, source, CLOCK.now())


def publish(database: Database, *rows: tuple[str, str, float | None], period: Period = HELD_OUT) -> None:
    """Store published NSE of a model by basin."""
    with database.transaction() as session:
        file = revisions.register_source(session, "results.csv", "0" * 64, 1, CLOCK.wall())
        output = scores.Publication(source=SOURCE, citation="Somebody 2019", file_id=file, stored_at=CLOCK.wall())
        published = [
            scores.PublishedScore(
                source=SOURCE,
                model=model,
                basin_id=basin,
                metric="nse",
                first_day=period.first,
                last_day=period.last,
                value=value,
                reason=None if value is not None else absent(Reason.NOT_IN_PUBLISHED_FILE),
            )
            for model, basin, value in rows
        ]
        scores.store_published(session, output, published)


def test_quartiles_and_differences_are_those_of_the_evaluated_scores(trained_store: Database) -> None:
    first, second = both(trained_store)
    result = compare(work_of(trained_store, CLOCK), [first, second], HELD_OUT).result

    with trained_store.reading() as session:
        rows = verification_scores.scores(session, metrics=["nse"])
    ours, theirs = (np.array([row.value for row in rows if row.version_id == one]) for one in (first, second))
    nse = next(score for score in result.scores if score.metric == "nse")
    assert (nse.n, nse.lacking, nse.perfect) == (3, 0, 1)
    for cuts, values in zip(nse.versions, (ours, theirs), strict=True):
        assert [cuts.p25, cuts.median, cuts.p75] == pytest.approx(list(np.percentile(values, [25, 50, 75])))
    (apart,) = nse.differences
    expected = difference(theirs, ours, perfect=1)
    assert (apart.version, apart.n, apart.better, apart.worse) == (second, 3, expected.better, expected.worse)
    assert apart.median == pytest.approx(expected.median)
    assert (apart.p, str(apart.reason)) == (None, "The test needs at least 6 basins that differ; there are 3.")
    assert result.values["nse"] == {first: tuple(ours.tolist()), second: tuple(theirs.tolist())}
    assert [score.metric for score in result.scores] == list(SCORES)


def test_each_version_is_described_with_its_cost(trained_store: Database) -> None:
    first, second = both(trained_store)
    with trained_store.transaction() as session:
        table = table_of(Member)
        members = session.execute(select(table).order_by(table.c.version_id, table.c.label)).all()
        recorded: list[dict[str, Any]] = [{"seconds": 2.5}, {}, {"seconds": 4.0, "machine": "a mill"}]
        for member, log in zip(members, recorded, strict=True):
            own = table.c.version_id == member.version_id, table.c.label == member.label
            session.execute(table.update().where(*own).values(log={"validation": member.log["validation"]} | log))
    compared = compare(work_of(trained_store, CLOCK), [first, second], HELD_OUT).result.versions
    assert [version.label for version in compared] == [None, "longer"]
    assert [version.members for version in compared] == [2, 1]
    assert [version.conserving for version in compared] == [True, True]
    assert "label" in compared[0].missing
    # Gates see the precipitation and 4 auxiliaries, four means of each, 26 attributes, a basin's vector, the embedding
    # and 5 cells. Then i and o, R by its two factors, the embedding's two layers and three basins' vectors.
    weather, vector = (1 + 4) * (1 + 4), 32
    features = weather + 26 + vector + 16 + 5
    gates = (features + 1) * (5 + 5) + features * 16 + (16 + 1) * 5 * 5
    assert compared[0].parameters == gates + (weather + 26 + vector + 1) * 32 + (32 + 1) * 16 + 3 * vector
    assert [version.training_seconds for version in compared] == [None, 4.0]
    assert ["training_seconds" in version.missing for version in compared] == [True, False]
    assert [version.machines for version in compared] == [(), ("a mill",)]


def test_the_same_again_is_the_same_comparison(trained_store: Database) -> None:
    ids = both(trained_store)
    first = compare(work_of(trained_store, CLOCK), ids, HELD_OUT)
    again = compare(work_of(trained_store, CLOCK), ids, HELD_OUT)
    assert again == first
    assert compare(work_of(trained_store, CLOCK), ids[::-1], HELD_OUT).id != first.id


def test_progress_counts_the_basins_of_all_versions(trained_store: Database) -> None:
    shown: list[tuple[int, int]] = []
    compare(
        work_of(trained_store, CLOCK, progress=lambda done, total, _: shown.append((done, total))),
        both(trained_store),
        HELD_OUT,
    )
    assert shown[0] == (3, 6)
    assert shown[-1] == (6, 6)


def test_data_revised_since_an_evaluation_are_scored_again(trained_store: Database) -> None:
    ids = both(trained_store)
    before = compare(work_of(trained_store, CLOCK), ids, HELD_OUT)
    blank(trained_store, "SYNTH-01", "precipitation", 2005, 10, 80.0, 60)
    after = compare(work_of(trained_store, CLOCK), ids, HELD_OUT)
    assert after.id != before.id
    for version in ids:
        assert after.result.values["nse"][version][0] != before.result.values["nse"][version][0]
        assert after.result.values["nse"][version][1:] == before.result.values["nse"][version][1:]


def test_days_that_one_network_skips_are_scored_for_none(trained_store: Database) -> None:
    first, _ = both(trained_store)
    skipping = configuration(network={"architecture": "mmrnn", "cells": 4}, members=1)
    other = train(work_of(trained_store, CLOCK), skipping, BASINS).version_id
    blank(trained_store, "SYNTH-02", "tmax", 2005, 10, float("nan"), 2)
    done = compare(work_of(trained_store, CLOCK), [first, other], HELD_OUT)
    assert done.basins == BASINS
    with trained_store.reading() as session:
        scored = {row.basin_id: row for row in verification_scores.scores(session, versions=[first], metrics=["nse"])}
    assert sorted(scored) == ["SYNTH-01", "SYNTH-03"]  # scores of part of the period are not stored as its score
    ours = done.result.values["nse"][first]
    assert ours[0] == scored["SYNTH-01"].value
    whole = evaluate(work_of(trained_store, CLOCK), first, HELD_OUT, ["SYNTH-02"]).basins[0].scores["nse"]
    assert (whole.n, ours[1] == whole.value) == (365, False)


def test_scores_of_other_days_are_not_taken(trained_store: Database) -> None:
    ids = both(trained_store)
    evaluate(work_of(trained_store, CLOCK), ids[0], Period.parse("2004-10-01..2005-03-31"), BASINS)
    done = compare(work_of(trained_store, CLOCK), ids, HELD_OUT)
    with trained_store.reading() as session:
        whole = verification_scores.scores(
            session, versions=ids[:1], metrics=["nse"], first_day=HELD_OUT.first, last_day=HELD_OUT.last
        )
    assert done.result.values["nse"][ids[0]] == tuple(row.value for row in whole)
    assert [row.n for row in whole if row.last_day == HELD_OUT.last] == [365] * 3


def test_a_basin_that_a_version_cannot_serve_is_left_out_with_its_reason_each_time(trained_store: Database) -> None:
    first, _ = both(trained_store)
    other = train(work_of(trained_store, CLOCK), configuration(seed=5, members=1), BASINS[:2]).version_id
    default = compare(work_of(trained_store, CLOCK), [first, other], HELD_OUT)
    named = compare(work_of(trained_store, CLOCK), [first, other], HELD_OUT, [*BASINS, *BASINS])
    assert default.basins == BASINS[:2]
    assert named.basins == BASINS  # a version may serve a basin that it was not trained for

    with trained_store.transaction() as session:
        dry = a_basin(session, "SYNTH-99")
    once = compare(work_of(trained_store, CLOCK), [first, other], HELD_OUT, [*BASINS, dry])
    twice = compare(work_of(trained_store, CLOCK), [first, other], HELD_OUT, [*BASINS, dry])
    assert once.basins == BASINS
    assert "SYNTH-99 has no precipitation" in str(once.result.left_out[dry])
    assert twice.id == once.id
    with pytest.raises(DataProblem, match="SYNTH-99 has no precipitation"):
        compare(work_of(trained_store, CLOCK), [first, other], HELD_OUT, [dry])


def test_a_metric_is_of_the_basins_where_every_version_has_a_value(trained_store: Database) -> None:
    first, second = both(trained_store)
    blank_flow(trained_store, "SYNTH-02", Period(HELD_OUT.first + 1, HELD_OUT.last))  # one day has no NSE
    result = compare(work_of(trained_store, CLOCK), [first, second], HELD_OUT).result
    nse = next(score for score in result.scores if score.metric == "nse")
    assert (nse.n, nse.lacking, nse.differences[0].n) == (2, 1, 2)
    assert result.values["nse"][first][1] is None
    assert result.values["nse"][first][0] is not None


def test_a_basin_without_observed_flow_in_the_period_is_left_out_with_its_reason(trained_store: Database) -> None:
    first, second = both(trained_store)
    blank_flow(trained_store, "SYNTH-02", HELD_OUT)
    result = compare(work_of(trained_store, CLOCK), [first, second], HELD_OUT).result
    assert "SYNTH-02 has no observed discharge in 2004-10-01..2005-09-30" in str(result.left_out["SYNTH-02"])


def test_published_models_stand_beside_the_first_version_on_the_same_basins(trained_store: Database) -> None:
    ids = both(trained_store)
    none = compare(work_of(trained_store, CLOCK), ids, HELD_OUT).result
    assert none.published_models == ()
    assert "freshet ingest benchmarks" in str(none.missing["published_models"])

    publish(trained_store, ("BUCKET", "SYNTH-01", 2.0), period=Period.parse("2004-10-01..2005-03-31"))
    other_days = compare(work_of(trained_store, CLOCK), ids, HELD_OUT).result
    assert other_days.published_models == ()
    assert "for 2004-10-01..2005-09-30" in str(other_days.missing["published_models"])

    publish(
        trained_store,
        *[("BUCKET", basin, 0.25 * at) for at, basin in enumerate(BASINS)],
        *[("SIEVE", "SYNTH-01", 0.5), ("SIEVE", "SYNTH-02", None), ("SIEVE", "USGS-01013500", 0.75)],
    )
    result = compare(work_of(trained_store, CLOCK), ids, HELD_OUT).result
    bucket, sieve = result.published_models
    assert (bucket.model, bucket.source, bucket.citation) == ("BUCKET", SOURCE, "Somebody 2019")
    (nse,) = bucket.scores
    ours = result.values["nse"][ids[0]]
    assert (nse.metric, nse.n, nse.median, nse.p25, nse.p75) == ("nse", 3, 0.25, 0.125, 0.375)
    assert nse.first.median == pytest.approx(np.median(np.array(ours)))
    assert nse.difference.median == pytest.approx(np.median(np.array([0, 0.25, 0.5]) - np.array(ours)))
    assert (sieve.model, sieve.scores[0].n) == ("SIEVE", 1)
    assert sieve.scores[0].first.median == ours[0]
    assert "published_models" not in result.missing


def test_the_printed_table_is_labelled_as_of_other_basins_and_days(trained_store: Database) -> None:
    table = compare(work_of(trained_store, CLOCK), both(trained_store)[:1], HELD_OUT).result.published_table
    assert table.comparable is False
    assert table.note.startswith("Other basins or period: it is of 447 basins over 1989-10-01..1999-09-30")


def test_days_of_any_training_are_refused(trained_store: Database) -> None:
    first, _ = both(trained_store)
    other = train(
        work_of(trained_store, CLOCK), configuration(seed=9, members=1, validation_period=None), BASINS
    ).version_id
    validated = Period.parse("2003-10-01..2004-09-30")
    assert compare(work_of(trained_store, CLOCK), [other], validated).versions == (other,)
    with pytest.raises(InvalidInput, match=f"overlaps the validation period .* of version {first}"):
        compare(work_of(trained_store, CLOCK), [other, first], validated)


@pytest.mark.parametrize(("times", "sentence"), [(0, "0 versions"), (2, "twice"), (MAX_VERSIONS + 1, "21 versions")])
def test_an_impossible_comparison_is_refused(trained_store: Database, times: int, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        compare(work_of(trained_store, CLOCK), both(trained_store)[:1] * times, HELD_OUT)


def test_what_is_not_stored_is_reported(trained_store: Database) -> None:
    ids = both(trained_store)
    with pytest.raises(versions.UnknownVersion):
        compare(work_of(trained_store, CLOCK), [*ids, "nothing"], HELD_OUT)
    with pytest.raises(UnknownBasin):
        compare(work_of(trained_store, CLOCK), ids, HELD_OUT, ["01013500"])
    with pytest.raises(DataProblem, match="does not cover"):
        compare(work_of(trained_store, CLOCK), ids, Period.parse("2005-10-01..2006-09-30"))
    with trained_store.reading() as session:
        assert comparisons.list_comparisons(session) == []


def test_versions_without_a_basin_in_common_need_basins_to_be_named(trained_store: Database) -> None:
    one, other = (
        train(work_of(trained_store, CLOCK), configuration(seed=11, members=1), [basin]).version_id
        for basin in ("SYNTH-01", "SYNTH-02")
    )
    with pytest.raises(DataProblem, match="no basin in common"):
        compare(work_of(trained_store, CLOCK), [one, other], HELD_OUT)
    assert compare(work_of(trained_store, CLOCK), [one, other], HELD_OUT, ["SYNTH-03"]).basins == ("SYNTH-03",)
