"""A version that combines others is stored without members of its own."""

from datetime import timedelta

import pytest
from sqlalchemy.orm import Session

from hydrology.base.errors import InvalidInput
from hydrology.water.probes import ProbeResult
from records.database.engine import Database
from records.versions import combinations, promotions, versions
from records.versions.promotions import AgainstPhysics, Withdrawn
from records.versions.version_properties import VersionProperties
from records.versions.versions import CombinedVersion, Version
from testing.records import BASIN, NOW, a_basin, a_member, a_version, contents, withdraw

AT = NOW + timedelta(days=1)


def combine(session: Session, weights: dict[str, float], label: str | None = None) -> Version:
    return combinations.combine(session, weights, label=label, wall=AT, now=AT)


def two(session: Session) -> list[Version]:
    return [
        a_version(session, a_member(0), a_member(1), product="maurer", basins=("A", BASIN)),
        a_version(session, a_member(0, b"other"), product="daymet", basins=(BASIN, "C")),
    ]


def test_a_combined_version_comes_back_with_its_parts(database: Database) -> None:
    with database.transaction() as session:
        small, large = two(session)
        one = combine(session, {small.id: 1.0, large.id: 3.0}, "both")
        assert versions.get(session, one.id) == one
        assert versions.list_versions(session)[0] == one
    assert [(part.version, part.weight, part.members) for part in one.parts] == [
        (large.id, 0.75, (0,)),
        (small.id, 0.25, (0, 1)),
    ]
    assert (one.product, one.products, one.area_products) == (
        "daymet+maurer",
        ("daymet", "maurer"),
        ("daymet", "maurer"),
    )
    assert (one.members, one.member_count, one.basins) == ((), 3, ("A", "C", BASIN))
    assert set(one.used_periods) == {*small.used_periods, *large.used_periods}
    assert [label for part in one.parts for label in part.labels] == ["daymet-0", "maurer-0", "maurer-1"]


def test_combining_the_same_again_stores_nothing(database: Database) -> None:
    with database.transaction() as session:
        first, second = two(session)
        one = combine(session, {first.id: 7, second.id: 3})
        before = contents(session)
        assert combine(session, {second.id: 0.3, first.id: 0.7}) == one
        assert contents(session) == before
        assert combine(session, {first.id: 0.6, second.id: 0.4}).id != one.id


def test_parts_of_one_product_have_names_of_their_own(database: Database) -> None:
    with database.transaction() as session:
        parts = [
            a_version(session, product="maurer"),
            a_version(session, product="maurer", architecture="buckets"),
            a_version(session, product="maurer", architecture="buckets", label="other"),
        ]
        one = combine(session, dict(zip([part.id for part in parts], (0.5, 0.3, 0.2), strict=True)))
    assert [part.name for part in one.parts] == ["maurer-mclstm", "maurer-buckets-1", "maurer-buckets-2"]
    assert (one.product, one.architecture) == ("maurer", "mclstm+buckets")


@pytest.mark.parametrize("product", ["maurer", "daymet"])
def test_it_is_listed_by_each_of_its_products(database: Database, product: str) -> None:
    with database.transaction() as session:
        first, second = two(session)
        one = combine(session, {first.id: 0.5, second.id: 0.5})
        assert one in versions.list_versions(session, product=product)
        assert one not in versions.list_versions(session, product=product[:3])


@pytest.mark.parametrize("weights", [(1.0,), (1.0, 0.0), (1.0, float("nan")), (1.0, -1.0)])
def test_weights_that_mean_nothing_are_refused(database: Database, weights: tuple[float, ...]) -> None:
    with database.transaction() as session:
        parts = [part.id for part in two(session)]
        with pytest.raises(InvalidInput):
            combine(session, dict(zip(parts, weights, strict=False)))


def test_versions_that_may_not_be_used_cannot_be_parts(database: Database) -> None:
    against = ProbeResult(name="leak", asks="water lost", unit="mm", limit=1.0, value=2.0)
    with database.transaction() as session:
        first, second = two(session)
        wrong = a_version(session, properties=VersionProperties(physics=(against,)))
        with pytest.raises(AgainstPhysics):
            combine(session, {first.id: 0.5, wrong.id: 0.5})
        one = combine(session, {first.id: 0.5, second.id: 0.5})
        with pytest.raises(CombinedVersion, match=first.id):
            combine(session, {one.id: 0.5, second.id: 0.5})
        a_basin(session)
        withdraw(session, second.id)
        with pytest.raises(Withdrawn, match=second.id):
            combine(session, {first.id: 0.9, second.id: 0.1})
        with pytest.raises(Withdrawn, match=second.id):
            promotions.promote(session, one.id, [BASIN], reason="both", by="someone", at=AT)


def test_it_is_put_in_use_like_any_other(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        first, second = two(session)
        one = combine(session, {first.id: 0.5, second.id: 0.5})
        assert promotions.promote(session, one.id, None, reason="both", by="someone", at=AT) == [BASIN]
        assert promotions.current(session, [BASIN]) == {BASIN: one.id}
