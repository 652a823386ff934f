"""Bridges as they are stored."""

from dataclasses import replace
from datetime import timedelta

import pytest

from hydrology.weather.bridge import BRIDGED, Likeness, Skill, VariableSkill
from records.database.engine import Database
from records.feeds.feeds import ProductConflict
from records.series.series_writer import write
from records.weather import bridges
from records.weather.bridges import UnknownBridge
from testing.bridges import LIVE, OTHER, a_part, a_pooled_part, corrections
from testing.records import BASIN, NOW, a_basin, a_source, contents, daily


def test_a_bridge_is_stored_with_all_its_fields(database: Database) -> None:
    with database.transaction() as session:
        for basin in (BASIN, OTHER):
            a_basin(session, basin)
        stored = bridges.create(session, LIVE, [a_part(), a_pooled_part()], NOW)
    with database.reading() as session:
        assert bridges.get(session, stored.id) == bridges.get(session, LIVE.name) == stored
        assert (stored.refused, stored.first, stored.created_at) == (LIVE.refused, LIVE.first, NOW)
        own, pooled = bridges.parts_of(session, stored.id)
    assert (own.corrections, own.skill, own.pooled_from) == (corrections(), a_part().skill, ())
    assert (pooled.skill, pooled.pooled_from, pooled.pooled_reason) == (None, (BASIN,), "no years of it")
    assert (own.sha256, own.applied_at) == (pooled.sha256, None)


def test_the_hash_of_a_bridge_covers_its_corrections(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        stored = [bridges.create(session, LIVE, [a_part(offset=offset)], NOW) for offset in (0.8, 0.8, 0.7)]
        one, same, other = (bridges.parts_of(session, bridge.id)[0].sha256 for bridge in stored)
    assert one == same != other


def test_another_fit_leaves_the_first_and_is_listed_in_its_place(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        first = bridges.create(session, LIVE, [a_part()], NOW)
        second = bridges.create(session, LIVE, [a_part(offset=0.1)], NOW + timedelta(days=1))
        bridges.create(session, replace(LIVE, name="archive"), [], NOW)
        assert [bridge.name for bridge in bridges.list_bridges(session)] == ["archive", "live_as_maurer"]
        assert bridges.list_bridges(session)[1] == bridges.get(session, LIVE.name) == second
        assert bridges.get(session, first.id) == first


def test_another_fit_replaces_one_of_a_clock_that_was_ahead(database: Database) -> None:
    with database.transaction() as session:
        bridges.create(session, LIVE, [], NOW + timedelta(days=365))
        again = bridges.create(session, LIVE, [], NOW)
        last = bridges.create(session, LIVE, [], NOW)
        assert again.created_at == NOW
        assert bridges.get(session, LIVE.name) == last == bridges.list_bridges(session)[0]


def test_the_bridge_of_a_product_is_the_one_applied_last(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        stored = [bridges.create(session, LIVE, [a_part(offset=offset)], NOW) for offset in (0.8, 0.1)]
        first, second = stored
        assert bridges.applied(session, LIVE.name, [BASIN]) == {}
        for stamp, bridge in enumerate((first, second, first)):
            bridges.note_applied(session, bridge, BASIN, NOW, stamp)
            in_force = bridges.applied(session, LIVE.name, [BASIN])[BASIN]
            assert (in_force.bridge.id, in_force.part.applied_stamp) == (bridge.id, stamp)
        assert bridges.applied(session, "live", [BASIN]) == {}
        assert bridges.applied(session, LIVE.name, [OTHER]) == {}


def test_forecasts_go_over_the_newest_bridge_of_their_model_to_the_product(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        ahead = replace(LIVE, name="ifs_as_live", from_product="past_ifs", to_product="live", model="ecmwf_ifs")
        bridges.create(session, ahead, [a_part()], NOW)
        newer = bridges.create(session, ahead, [a_part(offset=0.1)], NOW + timedelta(days=1))
        assert bridges.for_forecasts(session, "ecmwf_ifs", "live", [BASIN, OTHER])[BASIN].bridge == newer
        assert bridges.for_forecasts(session, "ecmwf_ifs", "maurer_extended", [BASIN]) == {}
        assert bridges.for_forecasts(session, "ncep_gefs025", "live", [BASIN]) == {}


def test_a_run_stores_the_skill_of_its_bridge(database: Database) -> None:
    with database.transaction() as session:
        for basin in (BASIN, OTHER):
            a_basin(session, basin)
        stored = bridges.create(session, replace(LIVE, model="ecmwf_ifs"), [a_part(), a_pooled_part()], NOW)
        both = bridges.for_forecasts(session, "ecmwf_ifs", "maurer_extended", [BASIN, OTHER])
    own, pooled = both[BASIN].used, both[OTHER].used
    assert (own.id, own.precipitation_bias, own.precipitation_correlation) == (stored.id, -0.01, None)
    assert (pooled.pooled_from, pooled.precipitation_bias) == ((BASIN,), None)
    assert "as in 1 basin like this one" in pooled.note
    assert own.note.endswith("precipitation is -1% off in its sum.")
    shown = replace(own, precipitation_correlation=0.93, model=None).note
    assert shown.startswith("live is bridged to maurer_extended: on water years that it was not fitted on")
    assert "-1% off" in shown
    assert "0.93" in shown


def test_the_name_of_a_product_from_another_source_is_taken(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        write(session, BASIN, LIVE.name, "precipitation", daily("2008-01-01", 1.0), a_source(session), NOW)
        before = contents(session)
        with pytest.raises(ProductConflict, match="holds data that are not from a bridge"):
            bridges.create(session, LIVE, [a_part()], NOW)
        assert contents(session) == before


def test_a_bridge_that_is_not_stored_is_named(database: Database) -> None:
    with database.reading() as session, pytest.raises(UnknownBridge, match="'live_as_maurer'"):
        bridges.get(session, LIVE.name)


def test_the_bridges_to_a_product_are_the_newest_of_each_name_the_most_skilful_first(database: Database) -> None:
    near = Likeness(0.0, 0.9)
    skill = Skill(3288, dict.fromkeys(BRIDGED, VariableSkill(near, near)))
    with database.transaction() as session:
        for basin in (BASIN, OTHER):
            a_basin(session, basin)
        first = bridges.create(session, LIVE, [a_part(offset=0.8)], NOW)
        second = bridges.create(session, LIVE, [a_part(offset=0.1)], NOW + timedelta(seconds=1))
        good = bridges.create(session, replace(LIVE, name="good"), [replace(a_part(), skill=skill)], NOW)
        bridges.create(session, replace(LIVE, name="of_forecasts", model="m"), [a_part()], NOW)
        bridges.create(session, replace(LIVE, name="elsewhere", to_product="other"), [a_part()], NOW)
        found = bridges.to_products(session, [LIVE.to_product], [BASIN, OTHER])
        assert [(one.bridge.id, one.part.basin_id) for one in found] == [(good.id, BASIN), (second.id, BASIN)]
        (only,) = bridges.to_products(session, [LIVE.to_product], [BASIN], only=[first.id])
        assert only.bridge.id == first.id
