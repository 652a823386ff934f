"""Whose a basin is, and what becomes of it when the service takes it over."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy.orm import Session

from hydrology.base.basins import is_agencys
from jobspec.levels import NewRating, NewThreshold
from records.access import keys
from records.basins import basins, ownership, ratings
from records.basins.ownership import Basin
from records.basins.ratings import NoRating
from records.database.engine import Database
from records.levels import basin_levels
from records.series import revisions, series_writer
from records.versions import adoption, promotions, versions
from records.versions.adoption import AlreadyOfficial, NotAdopted
from runtime.clock import Clock
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_source, a_version, daily

CLOCK = Clock(NOW)


def _key(session: Session, scope: keys.Scope) -> str:
    return keys.make(session, scope, scope, None, datetime.now(UTC))[0].id


def test_a_basin_is_official_unless_an_operators_key_registered_it(database: Database) -> None:
    with database.transaction() as session:
        operator, admin = _key(session, "operator"), _key(session, "admin")
        owners = {"OWN-a": operator, "OWN-b": admin, "OWN-c": None, "OWN-d": "a key of another store"}
        for basin, key in owners.items():
            basins.register(session, basin, key)
        forecaster = _key(session, "forecaster")
        basins.register(session, "OWN-e", forecaster)
        assert ownership.official(session, basins.chosen(session)) == ["OWN-b", "OWN-c"]
        unofficial = {"OWN-a": operator, "OWN-d": "a key of another store", "OWN-e": forecaster}
        assert ownership.owners(session, [*owners, "OWN-e"]) == unofficial
        assert ownership.official(session, ["OWN-c", "OWN-a", "OWN-none", "OWN-b"]) == ["OWN-c", "OWN-b"]


def test_what_is_claimed_loses_all_that_the_operator_stated(database: Database) -> None:
    with database.transaction() as session:
        operator = _key(session, "operator")
        basins.register(session, BASIN, operator)
        stated = Basin(BASIN, name="Mine", latitude=1.0, longitude=2.0, outline=[[[0.0, 0.0]]], areas={"given": 1e6})
        basins.upsert(session, replace(stated, attributes={"elev_mean": 8000.0}, texts={"time_zone": "UTC"}))
        basin_levels.put(session, BASIN, NewThreshold(name="low", discharge=0.01, direction="rising"), NOW)
        ratings.put(session, BASIN, NewRating(table="stage_ft,discharge_cfs\n1,1\n2,5\n", source="me"), NOW)
        first = a_promoted_version(session)
        theirs = a_promoted_version(session, owner=operator)
        held = adoption.holdings(session, BASIN)
        assert held is not None
        assert str(held) == f"the key of operator (levels low; a rating by me; version {theirs})"
        adoption.claim(session, BASIN, CLOCK)
        assert basins.get(session, BASIN) == Basin(BASIN)
        assert basin_levels.of_basin(session, BASIN) == []
        with pytest.raises(NoRating):
            ratings.require(session, BASIN, CLOCK.today())
        assert promotions.current(session, [BASIN]) == {BASIN: first}
        assert basins.registered_by(session, BASIN) is None
        with pytest.raises(AlreadyOfficial):
            adoption.claim(session, BASIN, CLOCK)
        adoption.release(session, BASIN, CLOCK)
        assert basins.registered_by(session, BASIN) == operator
        with pytest.raises(NotAdopted):
            adoption.release(session, BASIN, CLOCK)


def test_a_version_goes_back_with_the_last_official_basin_that_it_serves(database: Database) -> None:
    with database.transaction() as session:
        operator = _key(session, "operator")
        version = a_version(session, owner=operator).id
        for basin in ("OWN-a", "OWN-b"):
            basins.register(session, basin, operator)
        promotions.promote(session, version, ["OWN-a", "OWN-b"], reason="r", by="b", at=NOW)
        for basin in ("OWN-a", "OWN-b"):
            adoption.adopt(session, basin, CLOCK)
        service_version = a_promoted_version(session, a_basin(session))
        owners = []
        for basin in ("OWN-a", "OWN-b"):
            adoption.release(session, basin, CLOCK)
            session.expire_all()
            owners.append(versions.owner_of(session, version))
        assert owners == [None, operator]
        assert versions.owner_of(session, service_version) is None


def test_what_an_operator_sends_does_not_hide_that_data_are_late(database: Database) -> None:
    with database.transaction() as session:
        basins.register(session, "OWN-mill", _key(session, "operator"))
        for basin, start in ((a_basin(session), "2008-09-01"), ("OWN-mill", "2199-01-01")):
            series_writer.write(session, basin, "usgs", "discharge", daily(start, 1.0), a_source(session), NOW)
        series_writer.write(session, "OWN-mill", "own", "discharge", daily("2008-09-30", 1.0), a_source(session), NOW)
        assert {product: str(last) for product, last in revisions.newest_days(session).items()} == {
            "usgs": "2008-09-01"
        }


def test_an_agencys_identifier_is_recognised_in_every_form() -> None:
    for basin in ("USGS-07374000", "SYNTH-01", "CARAVAN-camels_01013500", "CAMELSGB-1", "NWS-a", "OWN-usgs1", "GRDC-1"):
        assert is_agencys(basin), basin
    for basin in ("OWN-mill", "NEWS-mill", "OWN-anwsb", "RIVER-1"):
        assert not is_agencys(basin), basin
