"""A version is stored with all its members or not at all."""

import json
from dataclasses import replace

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from hydrology.base.calendar import Period
from hydrology.base.errors import InvalidInput
from hydrology.scores.bootstrap import Interval
from jobspec.jobs.training import PromotionRule
from records.database.checksums import Corrupt
from records.database.engine import Database
from records.versions import versions
from records.versions.version_properties import (
    Closure,
    Pretrained,
    PromotionDecision,
    SideBySide,
    Tuning,
    VersionPart,
    VersionProperties,
)
from records.versions.versions import Member, UnknownVersion
from testing.records import BASIN, a_basin, a_member, a_version, contents


def test_a_version_comes_back_with_its_members(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        parent = a_version(session)
        members = [a_member(1, b"one"), a_member(0, b"zero")]
        created = a_version(session, *members, basins=(BASIN,), parent_id=parent.id, label="fine-tuned")
        read = versions.get(session, created.id)
        assert read == created
        assert (read.basins, read.members, read.parent_id, read.status) == ((BASIN,), (0, 1), parent.id, "ready")
        last = versions.members_of(session, created.id)
        best = versions.members_of(session, created.id, "best")
    assert [(member.label, member.seed, member.weights, member.log) for member in last] == [
        (0, 1000, {"last": b"zero"}, {"loss": [0.5]}),
        (1, 1001, {"last": b"one"}, {"loss": [0.5]}),
    ]
    assert [member.weights for member in best] == [{"best": b"zero best"}, {"best": b"one best"}]


def test_the_weights_hash_is_of_the_weights_that_are_used(database: Database) -> None:
    with database.transaction() as session:

        def weights_hash(uses: str, best: bytes, last: bytes, label: int = 0) -> str:
            member = Member(label, 1, {"best": best, "last": last}, {})
            return a_version(session, member, uses=uses).weights_hash

        used = weights_hash("last", b"best", b"last")
        assert weights_hash("last", b"other", b"last") == used
        assert weights_hash("last", b"best", b"other") != used
        assert weights_hash("best", b"last", b"other") == used
        assert weights_hash("last", b"best", b"last", label=1) != used


@pytest.mark.parametrize("fault", ["unknown parent", "twice the same member"])
def test_a_version_that_cannot_be_stored_leaves_nothing(database: Database, fault: str) -> None:
    with database.transaction() as session:
        a_basin(session)
        before = contents(session)
        members = [a_member(0), a_member(0 if fault == "twice the same member" else 1)]
        with pytest.raises(IntegrityError):
            a_version(
                session,
                *members,
                basins=(BASIN,),
                parent_id="nobody" if fault == "unknown parent" else None,
            )
        assert contents(session) == before


def test_a_version_may_have_learnt_from_basins_that_are_not_stored_here(database: Database) -> None:
    with database.transaction() as session:
        version = a_version(session, basins=(BASIN, "SYNTH-01"))
        assert versions.get(session, version.id).basins == ("SYNTH-01", BASIN)


def test_each_member_has_the_weights_that_are_used(database: Database) -> None:
    with database.transaction() as session:
        with pytest.raises(InvalidInput, match="'best' weights"):
            a_version(session, a_member(0), Member(1, 1, {"last": b"w"}, {}), uses="best")
        assert versions.list_versions(session) == []


def test_damaged_weights_are_not_returned(database: Database) -> None:
    with database.transaction() as session:
        version = a_version(session).id
        session.execute(text("UPDATE version_weights SET sha256 = :other"), {"other": "0" * 64})
        with pytest.raises(Corrupt, match="restore"):
            versions.members_of(session, version)


def test_versions_are_listed_newest_first_page_by_page(database: Database) -> None:
    with database.transaction() as session:
        first, second, third = (a_version(session, product=product).id for product in ("daymet", "maurer", "daymet"))

        def ids(**wanted: object) -> list[str]:
            return [version.id for version in versions.list_versions(session, **wanted)]  # type: ignore[arg-type]

        assert ids() == [third, second, first]
        assert ids(limit=2) == [third, second]
        assert ids(after=second) == [first]
        assert ids(product="daymet") == [third, first]
        assert ids(architecture="lstm") == []


def test_an_unknown_version_is_missed(database: Database) -> None:
    with database.transaction() as session:
        with pytest.raises(UnknownVersion, match="'nothing'"):
            versions.get(session, "nothing")
        with pytest.raises(UnknownVersion):
            versions.members_of(session, "nothing")


TUNING = Tuning(basins=(BASIN,), earlier_periods=("1999-10-01..2008-09-30",))
DECISION = PromotionDecision(
    candidate="second",
    current=("first",),
    rule=PromotionRule(period=Period.parse("2004-10-01..2008-09-30")),
    basins=1,
    deciding=SideBySide(
        years=(2005, 2006, 2008),
        basins=1,
        candidate_median=0.5,
        current_median=0.75,
        difference=Interval(-0.25, -0.3, -0.2, 0.01, 1, 3),
    ),
    reporting=None,
    better=False,
    better_in=(),
    promoted=(),
    sentence="Not better.",
)
CLOSURE = Closure(worst_relative_residual=6.5e-7, basins=1, period="1989-10-01..1999-09-30")


def test_later_measurements_are_added_to_the_properties(database: Database) -> None:
    with database.transaction() as session:
        version = a_version(session, properties=VersionProperties(tuning=TUNING)).id
        versions.update_properties(session, version, closure=CLOSURE)
        versions.update_properties(session, version, comparison=DECISION)
    with database.reading() as session:
        properties = versions.get(session, version).properties
    assert properties == VersionProperties(tuning=TUNING, closure=CLOSURE, comparison=DECISION)


@pytest.mark.parametrize(
    ("stored", "properties"),
    [
        ({}, VersionProperties()),
        (
            {
                "attribute_ranges": {"elev_mean": [10.0, 250.5]},
                "pretrained": {"name": "mclstm", "content": "0a", "trained_on": "daymet"},
                "tuning": {"basins": [BASIN], "earlier_periods": ["1999-10-01..2008-09-30"]},
                "closure": {"worst_relative_residual": 6.5e-7, "basins": 1, "period": "1989-10-01..1999-09-30"},
            },
            VersionProperties(
                attribute_ranges={"elev_mean": (10.0, 250.5)},
                pretrained=Pretrained(name="mclstm", content="0a", trained_on="daymet"),
                tuning=TUNING,
                closure=CLOSURE,
            ),
        ),
    ],
)
def test_properties_from_before_they_had_a_type_still_read(
    database: Database, stored: dict[str, object], properties: VersionProperties
) -> None:
    with database.transaction() as session:
        version = a_version(session).id
        session.execute(text("UPDATE versions SET properties = :stored"), {"stored": json.dumps(stored)})
    with database.reading() as session:
        assert versions.get(session, version).properties == properties


def test_invalid_properties_are_refused_when_they_are_read(database: Database) -> None:
    with database.transaction() as session:
        version = a_version(session).id
        session.execute(text("UPDATE versions SET properties = :stored"), {"stored": '{"closure": {"basins": 1}}'})
    with database.reading() as session, pytest.raises(Corrupt, match=r"VersionProperties .*closure\.period"):
        versions.get(session, version)


def test_seeds_and_conservation_are_reported_without_the_weights(database: Database) -> None:
    with database.transaction() as session:
        first = a_version(session, a_member(1), a_member(0)).id
        second = a_version(session, conserving=False).id
        assert versions.count(session) == 2
        assert [seed for seed, _ in versions.seeds_and_logs(session, first).values()] == [1000, 1001]
        assert versions.seeds_and_logs(session, "nothing") == {}
        assert versions.conserving(session, [first, second, "nothing"]) == {first: True, second: False}


def test_the_use_of_days_in_the_training_of_ancestors_and_parts_counts(database: Database) -> None:
    year = Period.parse("2005-10-01..2006-09-30")
    own = {"train_period": "2001-10-01..2003-09-30", "validation_period": "2003-10-01..2004-09-30"}
    tuning = Tuning(basins=(BASIN,), earlier_periods=("2004-10-01..2006-09-30",))
    part = VersionPart(
        version="a",
        name="a",
        product="daymet",
        trained_on="daymet",
        architecture="mclstm",
        weight=0.5,
        members=(0,),
        fitted=("2001-10-01..2005-09-30",),
        validation="2005-10-01..2006-09-30",
    )
    elsewhere = replace(part, validation=None)
    with database.transaction() as session:
        scratch, tuned = (
            a_version(session, config=own),
            a_version(session, config=own, properties=VersionProperties(tuning=tuning)),
        )
    assert (scratch.use_of(year), tuned.use_of(year)) == ("held out", "training")
    for parts, use in (
        ((part, part), "validation"),
        ((part, elsewhere), "mixed"),  # one of its parts has chosen its weights by these days
        ((elsewhere, replace(elsewhere, fitted=("1999-10-01..2000-09-30",))), "held out"),
        ((replace(part, fitted=(str(year),)), elsewhere), "mixed"),
    ):
        assert replace(scratch, properties=VersionProperties(parts=parts)).use_of(year) == use


def test_in_a_basin_that_a_version_has_not_learnt_from_every_day_is_held_out(database: Database) -> None:
    year, own = Period.parse("2001-10-01..2002-09-30"), {"train_period": "2001-10-01..2003-09-30"}
    with database.transaction() as session:
        known, nowhere, silent = (
            a_version(session, basins=basins, config=config)
            for basins, config in (((BASIN,), own), ((), own), ((BASIN,), {}))
        )
    assert (known.use_of(year), known.use_of(year, BASIN), known.use_of(year, "SYNTH-01")) == (
        "training",
        "training",
        "held out",
    )
    assert nowhere.use_of(year, BASIN) == "training"  # it names no basin, so that it may have learnt from every one
    assert (silent.use_of(year, BASIN), silent.use_of(year, "SYNTH-01")) == ("unknown", "held out")
