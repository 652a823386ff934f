"""Promotions are history, and the newest is current."""

import pytest

from hydrology.base.errors import InvalidInput
from hydrology.water.probes import ProbeResult
from records.basins.basins import UnknownBasin
from records.database.engine import Database
from records.versions import promotions
from records.versions.promotions import AgainstPhysics, NoBasin, NothingBefore, Withdrawn
from records.versions.version_properties import VersionProperties
from records.versions.versions import UnknownVersion
from testing.records import BASIN, NOW, a_basin, a_version, instant, withdraw


def test_the_newest_promotion_is_current_and_the_older_ones_are_history(database: Database) -> None:
    later = instant("2008-11-01")
    with database.transaction() as session:
        a_basin(session)
        a_basin(session, "SYNTH-01")
        old, new = a_version(session).id, a_version(session).id
        promotions.promote(session, old, [BASIN, "SYNTH-01"], reason="first", by="someone", at=NOW)
        promotions.promote(session, new, [BASIN], reason="better", by="someone else", at=later)
        assert promotions.current(session, [BASIN, "SYNTH-01", "SYNTH-02"]) == {BASIN: new, "SYNTH-01": old}
        promotions.promote(session, old, [BASIN], reason="back", by="someone", at=later)
        assert promotions.current(session, [BASIN]) == {BASIN: old}
        assert [(one.version_id, one.reason, one.promoted_by) for one in promotions.history(session, BASIN)] == [
            (old, "back", "someone"),
            (new, "better", "someone else"),
            (old, "first", "someone"),
        ]


def test_rolling_back_gives_each_basin_what_it_had_before(database: Database) -> None:
    names = ["SYNTH-01", "SYNTH-02", "SYNTH-03", "SYNTH-04"]
    later = instant("2008-11-01")
    with database.transaction() as session:
        for name in names:
            a_basin(session, name)
        first, second, new = (a_version(session).id for _ in range(3))
        promotions.promote(session, first, names[:2], reason="first", by="someone", at=NOW)
        promotions.promote(session, second, names[1:3], reason="second", by="someone", at=NOW)
        promotions.promote(session, new, [names[0], names[1], names[3]], reason="better", by="the rule", at=NOW)
        restored = promotions.roll_back(session, new, reason="worse in floods", by="someone", at=later)
        assert restored == {names[0]: first, names[1]: second}
        assert promotions.current(session, names) == dict(zip(names, (first, second, second, new), strict=True))
        newest = promotions.history(session, names[1])[0]
        assert (newest.version_id, newest.reason, newest.promoted_at) == (second, "worse in floods", later)


def test_a_rollback_without_an_earlier_version_changes_nothing(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        version, unused = a_version(session).id, a_version(session).id
        promotions.promote(session, version, [BASIN], reason="first", by="someone", at=NOW)
        for nothing in (version, unused):
            with pytest.raises(NothingBefore, match=f"{nothing} had another before"):
                promotions.roll_back(session, nothing, reason="worse", by="someone", at=NOW)
        promotions.promote(session, unused, [BASIN], reason="better", by="someone", at=NOW)
        withdraw(session, version)
        with pytest.raises(Withdrawn, match=version):
            promotions.roll_back(session, unused, reason="worse", by="someone", at=NOW)
        with pytest.raises(UnknownVersion):
            promotions.roll_back(session, "nothing", reason="worse", by="someone", at=NOW)
        assert promotions.current(session, [BASIN]) == {BASIN: unused}


def test_promoting_the_current_version_again_writes_nothing(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        a_basin(session, "SYNTH-01")
        version = a_version(session).id
        assert promotions.promote(session, version, [BASIN], reason="better", by="someone", at=NOW) == [BASIN]
        again = promotions.promote(session, version, [BASIN, "SYNTH-01"], reason="all", by="someone", at=NOW)
        assert again == ["SYNTH-01"]
        assert len(promotions.history(session, BASIN)) == 1


def test_without_names_a_version_is_meant_for_the_stored_basins_that_it_learnt_from(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session, "SYNTH-02")
        here, elsewhere = (a_version(session, basins=of).id for of in (("SYNTH-01", BASIN), ("SYNTH-01",)))
        a_basin(session)
        assert promotions.basins_of(session, here) == [BASIN]
        with pytest.raises(NoBasin, match="name the basins"):
            promotions.basins_of(session, elsewhere)
        for version in (here, elsewhere):
            promotions.promote(session, version, ["SYNTH-02"], reason="to try it", by="someone", at=NOW)
        assert promotions.basins_of(session, elsewhere) == ["SYNTH-02"]
        promotions.promote(session, here, ["SYNTH-02"], reason="better", by="someone", at=NOW)
        assert promotions.basins_of(session, here) == [BASIN]


def test_a_promotion_names_basin_person_and_reason(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        version = a_version(session).id
        with pytest.raises(UnknownVersion):
            promotions.promote(session, "nothing", [BASIN], reason="better", by="someone", at=NOW)
        with pytest.raises(UnknownBasin):
            promotions.promote(session, version, [BASIN, "SYNTH-01"], reason="better", by="someone", at=NOW)
        with pytest.raises(InvalidInput, match="why"):
            promotions.promote(session, version, [BASIN], reason=" ", by="someone", at=NOW)
        withdraw(session, version)
        with pytest.raises(Withdrawn):
            promotions.promote(session, version, [BASIN], reason="better", by="someone", at=NOW)
        assert promotions.current(session, [BASIN]) == {}


def test_a_version_knows_its_promotions_and_where_it_is_in_use(database: Database) -> None:
    later = instant("2008-11-01")
    with database.transaction() as session:
        a_basin(session)
        a_basin(session, "SYNTH-01")
        old, new = a_version(session).id, a_version(session).id
        assert promotions.of_version(session, old) == []
        promotions.promote(session, old, [BASIN, "SYNTH-01"], reason="first", by="someone", at=NOW)
        promotions.promote(session, new, [BASIN], reason="better", by="someone", at=later)
        promotions.promote(session, old, [BASIN], reason="back", by="someone", at=later)
        found = [(one.basin_id, one.reason) for one in promotions.of_version(session, old)]
        assert found == [(BASIN, "back"), ("SYNTH-01", "first"), (BASIN, "first")]
        assert promotions.in_use(session) == {old: ["SYNTH-01", BASIN]}
        with pytest.raises(UnknownVersion):
            promotions.of_version(session, "nothing")


def test_a_physics_probe_that_is_not_binding_does_not_prevent_promotion(database: Database) -> None:
    reported = ProbeResult("energy", "the loss", "1", 1.0, 1.6, "Air takes up no more.", failing=0.125, binding=False)
    with database.transaction() as session:
        a_basin(session)
        version = a_version(session, properties=VersionProperties(physics=(reported,))).id
        assert promotions.promote(session, version, [BASIN], reason="better", by="someone", at=NOW) == [BASIN]


@pytest.mark.parametrize("value", [2e-5, None])
def test_a_version_that_fails_a_probe_of_its_physics_serves_no_basin(database: Database, value: float | None) -> None:
    passed = ProbeResult("closure", "water unaccounted for", "1", 1e-5, 1e-6)
    failed = ProbeResult("dry-down", "discharge without rain", "mm/day", 1e-5, value)
    with database.transaction() as session:
        a_basin(session)
        fit = a_version(session, properties=VersionProperties(physics=(passed,))).id
        unfit = a_version(session, properties=VersionProperties(physics=(passed, failed))).id
        assert promotions.promote(session, fit, [BASIN], reason="better", by="someone", at=NOW) == [BASIN]
        with pytest.raises(AgainstPhysics, match=r"dry-down: .*, at most 1e-05 mm/day"):
            promotions.promote(session, unfit, [BASIN], reason="better", by="someone", at=NOW)
        assert promotions.current(session, [BASIN]) == {BASIN: fit}
