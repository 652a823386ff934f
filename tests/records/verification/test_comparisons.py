"""A comparison is stored once, with the versions that it compares."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from hydrology.base.absent import absent
from hydrology.base.calendar import day
from hydrology.base.reasons import Reason
from records.database.base import from_json, to_json
from records.database.checksums import Corrupt
from records.database.engine import Database
from records.verification import comparisons
from records.verification.comparisons import ComparisonResult, NewComparison, Summary, UnknownComparison
from testing.records import BASIN, NOW, a_version, contents

LATER = NOW + timedelta(hours=1)
SAME = absent(Reason.NO_DIFFERENCE)


def stored_result() -> dict[str, Any]:
    """Return the JSON of a result as it was stored before results had a type."""
    quartiles = {"p25": 0.1, "median": 0.25, "p75": 0.5}
    difference = {
        "n": 2,
        "median": 0.125,
        "better": 1,
        "worse": 1,
        "p": None,
        "reason": to_json(absent(Reason.NO_DIFFERENCE)),
    }
    version: dict[str, Any] = {
        "architecture": "mclstm",
        "conserving": True,
        "product": "daymet",
        "members": 1,
        "parameters": 1330,
    }
    cost = {"training_seconds": 2.5, "machines": ["a mill"], "missing": {"label": to_json(absent(Reason.NOT_NAMED))}}
    score: dict[str, Any] = {"metric": "nse", "unit": "1", "perfect": 1.0, "n": 2, "lacking": 0}
    median = {"metric": "nse", "median": 0.744, "p25": None, "p75": None, "sd": 0.003, "source": "Table B.6"}
    return {
        "versions": [{"id": "first", "label": None} | version | cost],
        "scores": [
            score
            | {"versions": [{"version": "first"} | quartiles], "differences": [{"version": "second"} | difference]}
        ],
        "published_models": [
            {
                "model": "SAC_SMA",
                "source": "a@1",
                "citation": "B 2019",
                "scores": [{"metric": "nse", "n": 2, **quartiles, "first": quartiles, "difference": difference}],
            }
        ],
        "published_table": {
            "comparable": False,
            "note": "Other basins or period.",
            "first_day": "1989-10-01",
            "last_day": "1999-09-30",
            "basins": 447,
            "product": "maurer_extended",
            "models": [{"model": "MC-LSTM, single", "medians": [median]}],
        },
        "values": {"nse": {"first": [0.25, None], "second": [0.375, 0.5]}},
        "left_out": {"SYNTH-02": to_json(absent(Reason.NO_COMPLETE_DAY, basin="SYNTH-02", product="daymet"))},
        "missing": {},
    }


def new(session: Session, **chosen: object) -> NewComparison:
    first, second = a_version(session).id, a_version(session).id
    one = NewComparison(
        first_day=day("1989-10-01"),
        last_day=day("1999-09-30"),
        versions=(second, first),
        basins=(BASIN, "SYNTH-01"),
        result=from_json(ComparisonResult, stored_result()),
    )
    return replace(one, **chosen)  # type: ignore[arg-type]


def test_a_comparison_comes_back_with_its_versions_in_their_order(database: Database) -> None:
    with database.transaction() as session:
        output = new(session)
        comparison, created = comparisons.store(session, output, NOW)
        assert created
        assert (comparison.versions, comparison.basins, comparison.result) == (
            output.versions,
            output.basins,
            output.result,
        )
        assert comparisons.get(session, comparison.id) == comparison
        with pytest.raises(UnknownComparison, match="list the comparisons"):
            comparisons.get(session, "nothing")


def test_comparisons_with_the_same_content_are_one(database: Database) -> None:
    with database.transaction() as session:
        output = new(session)
        comparison, _ = comparisons.store(session, output, NOW)
        before = contents(session)
        assert comparisons.store(session, output, LATER) == (comparison, False)
        assert contents(session) == before
        others = [
            replace(output, versions=output.versions[::-1]),
            replace(output, basins=output.basins[:1]),
            replace(output, last_day=day("1999-09-29")),
            replace(output, result=replace(output.result, scores=())),
        ]
        created = [comparisons.store(session, other, LATER) for other in others]
        assert all(is_new for _, is_new in created)
        assert len({one.id for one, _ in created} | {comparison.id}) == 5


def test_comparisons_are_listed_newest_first(database: Database) -> None:
    with database.transaction() as session:
        old, _ = comparisons.store(session, new(session), NOW)
        young, _ = comparisons.store(session, new(session), LATER)
        listed = comparisons.list_comparisons(session)
        assert [one.id for one in listed] == [young.id, old.id]
        assert listed[1] == Summary(
            id=old.id,
            created_at=NOW,
            owner=None,
            first_day=old.first_day,
            last_day=old.last_day,
            versions=old.versions,
            basins=2,
        )
        assert comparisons.list_comparisons(session, version=old.versions[1]) == [listed[1]]
        assert comparisons.list_comparisons(session, after=young.id) == [listed[1]]
        assert comparisons.list_comparisons(session, limit=1) == [listed[0]]


@pytest.mark.parametrize("change", [{"versions": ("none",)}, {"last_day": day("1980-01-01")}])
def test_a_comparison_is_of_versions_that_are_stored_and_of_days(database: Database, change: dict[str, object]) -> None:
    with database.transaction() as session:
        output = new(session, **change)
        with pytest.raises(IntegrityError), session.begin_nested():
            comparisons.store(session, output, NOW)


def test_a_version_is_in_a_comparison_once(database: Database) -> None:
    with database.transaction() as session:
        output = new(session)
        with pytest.raises(IntegrityError), session.begin_nested():
            comparisons.store(session, replace(output, versions=output.versions[:1] * 2), NOW)


def test_a_result_from_before_it_had_a_type_reads_and_is_recognised(database: Database) -> None:
    stored = stored_result()
    assert to_json(from_json(ComparisonResult, stored)) == stored
    with database.transaction() as session:
        comparison, _ = comparisons.store(session, new(session), NOW)
        assert comparison.result == from_json(ComparisonResult, stored)
        del stored["left_out"]
        session.execute(text("UPDATE comparisons SET result = :stored"), {"stored": json.dumps(stored)})
        session.expire_all()
        assert comparisons.get(session, comparison.id).result == replace(comparison.result, left_out={})


def test_a_result_is_checked_when_it_is_written(database: Database) -> None:
    with database.transaction() as session:
        good = new(session)
        values = {"nse": {"first": (float("nan"), None)}}
        with pytest.raises(ValueError, match="finite number"), session.begin_nested():
            comparisons.store(session, replace(good, result=replace(good.result, values=values)), NOW)
        assert comparisons.list_comparisons(session) == []


@pytest.mark.parametrize("part", ["difference", "first"])
def test_a_result_with_a_field_that_it_does_not_have_is_refused(part: str) -> None:
    stored = stored_result()
    stored["published_models"][0]["scores"][0][part]["luck"] = 1
    with pytest.raises(Corrupt, match=f"{part}.luck"):
        from_json(ComparisonResult, stored)
