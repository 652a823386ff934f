"""A comparison is kept once, and says of which versions it is."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from hydrology.calendar import day
from records import comparisons
from records.comparisons import NewComparison, Summary, UnknownComparison
from records.engine import Database
from tests.records.factories import BASIN, NOW, a_version, contents

LATER = NOW + timedelta(hours=1)


def new(session: Session, **chosen: object) -> NewComparison:
    first, second = a_version(session).id, a_version(session).id
    one = NewComparison(
        first_day=day("1989-10-01"),
        last_day=day("1999-09-30"),
        versions=(second, first),
        basins=(BASIN, "SYNTH-01"),
        result={"scores": [{"metric": "nse", "p": None, "median": 0.25}]},
    )
    return replace(one, **chosen)  # type: ignore[arg-type]


def test_a_comparison_comes_back_with_its_versions_in_their_order(database: Database) -> None:
    with database.transaction() as session:
        said = new(session)
        kept, made = comparisons.keep(session, said, NOW)
        assert made
        assert (kept.versions, kept.basins, kept.result) == (said.versions, said.basins, said.result)
        assert comparisons.get(session, kept.id) == kept
        with pytest.raises(UnknownComparison, match="list the comparisons"):
            comparisons.get(session, "nothing")


def test_what_says_the_same_is_the_same_comparison(database: Database) -> None:
    with database.transaction() as session:
        said = new(session)
        kept, _ = comparisons.keep(session, said, NOW)
        before = contents(session)
        assert comparisons.keep(session, said, LATER) == (kept, False)
        assert contents(session) == before
        others = [
            replace(said, versions=said.versions[::-1]),
            replace(said, basins=said.basins[:1]),
            replace(said, last_day=day("1999-09-29")),
            replace(said, result={"scores": []}),
        ]
        made = [comparisons.keep(session, other, LATER) for other in others]
        assert all(is_new for _, is_new in made)
        assert len({one.id for one, _ in made} | {kept.id}) == 5


def test_comparisons_are_listed_newest_first(database: Database) -> None:
    with database.transaction() as session:
        old, _ = comparisons.keep(session, new(session), NOW)
        young, _ = comparisons.keep(session, new(session), LATER)
        listed = comparisons.list_comparisons(session)
        assert [one.id for one in listed] == [young.id, old.id]
        assert listed[1] == Summary(
            id=old.id,
            created_at=NOW,
            first_day=old.first_day,
            last_day=old.last_day,
            versions=old.versions,
            basins=2,
        )
        assert comparisons.list_comparisons(session, version=old.versions[1]) == [listed[1]]
        assert comparisons.list_comparisons(session, after=young.id) == [listed[1]]
        assert comparisons.list_comparisons(session, limit=1) == [listed[0]]


@pytest.mark.parametrize("change", [{"versions": ("none",)}, {"last_day": day("1980-01-01")}])
def test_a_comparison_is_of_versions_that_are_kept_and_of_days(database: Database, change: dict[str, object]) -> None:
    with database.transaction() as session:
        said = new(session, **change)
        with pytest.raises(IntegrityError), session.begin_nested():
            comparisons.keep(session, said, NOW)


def test_a_version_is_in_a_comparison_once(database: Database) -> None:
    with database.transaction() as session:
        said = new(session)
        with pytest.raises(IntegrityError), session.begin_nested():
            comparisons.keep(session, replace(said, versions=said.versions[:1] * 2), NOW)
