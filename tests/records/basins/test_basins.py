"""Basins are merged, found, and missed with a hint."""

import numpy as np
import pytest

from records.basins import basins
from records.basins.basins import UnknownArea, UnknownBasin
from records.basins.ownership import Basin
from records.database.engine import Database
from records.series import revisions
from testing.records import BASIN, NOW, a_basin, contents, instant

FISH = Basin(
    BASIN,
    name="Fish River near Fort Kent",
    latitude=47.2,
    longitude=-68.6,
    huc="01010003",
    areas={"maurer_extended": 2.26e9},
    attributes={"p_mean": 3.1, "frac_snow": 0.3},
    texts={"geol": "Siliciclastic"},
)


def test_a_basin_comes_back_as_it_was_given(database: Database) -> None:
    with database.transaction() as session:
        changes = basins.upsert(session, FISH)
        assert changes["id"] == (None, BASIN)
        assert changes["areas.maurer_extended"] == (None, 2.26e9)
        assert basins.get(session, BASIN) == FISH


def test_many_basins_come_back_in_the_order_asked_for(database: Database) -> None:
    other = Basin("SYNTH-01", name="another", attributes={"p_mean": 1.0})
    with database.transaction() as session:
        for basin in (FISH, other):
            basins.upsert(session, basin)
        assert [*basins.get_many(session, [other.id, BASIN]).items()] == [(other.id, other), (BASIN, FISH)]
        with pytest.raises(UnknownBasin, match="did you mean USGS-01013500"):
            basins.get_many(session, [BASIN, "USGS-01013501"])


def test_the_same_again_changes_nothing(database: Database) -> None:
    with database.transaction() as session:
        basins.upsert(session, FISH)
        before = contents(session)
        assert basins.upsert(session, FISH) == {}
        assert contents(session) == before


def test_fields_that_are_not_given_do_not_change(database: Database) -> None:
    with database.transaction() as session:
        basins.upsert(session, FISH)
        changes = basins.upsert(session, Basin(BASIN, name="Fish River", attributes={"p_mean": 3.2, "aridity": 0.6}))
        assert changes == {
            "name": ("Fish River near Fort Kent", "Fish River"),
            "attributes.p_mean": (3.1, 3.2),
            "attributes.aridity": (None, 0.6),
        }
        stored = basins.get(session, BASIN)
    assert stored.huc == FISH.huc
    assert stored.areas == FISH.areas
    assert stored.attributes == {"p_mean": 3.2, "frac_snow": 0.3, "aridity": 0.6}


def test_an_unknown_basin_is_missed_with_a_hint(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        with pytest.raises(UnknownBasin, match="did you mean USGS-01013500"):
            basins.get(session, "USGS-01013501")
        for slip in ("USGS-0101350", "USGS-010135000", "USGS-01031500"):
            with pytest.raises(UnknownBasin, match="did you mean USGS-01013500"):
                basins.get(session, slip)
        for other in ("elsewhere", "USGS-01022500", "USGS-13235000", "OWN-01013500"):
            with pytest.raises(UnknownBasin, match="list the basins"):
                basins.get(session, other)


def test_basins_are_found_by_text_and_huc_page_by_page(database: Database) -> None:
    with database.transaction() as session:
        for basin in (
            Basin("USGS-02", name="Fish Creek", huc="0202"),
            Basin("USGS-01", name="FISH River", huc="0101"),
            Basin("SYNTH-1", name="100% synthetic"),
        ):
            basins.upsert(session, basin)

        def ids(**wanted: object) -> list[str]:
            return [basin.id for basin in basins.list_basins(session, **wanted)]  # type: ignore[arg-type]

        assert ids() == ["SYNTH-1", "USGS-01", "USGS-02"]
        assert ids(text="fish") == ["USGS-01", "USGS-02"]
        assert ids(text="usgs-02") == ["USGS-02"]
        assert ids(text="%") == ["SYNTH-1"]
        assert ids(huc="01") == ["USGS-01"]
        assert ids(limit=2) == ["SYNTH-1", "USGS-01"]
        assert ids(after="USGS-01") == ["USGS-02"]


@pytest.mark.parametrize(
    ("box", "found"),
    [
        ((-70.0, 40.0, -60.0, 50.0), ["USGS-01"]),
        ((-68.6, 47.2, -68.6, 47.2), ["USGS-01"]),
        ((-68.5, 40.0, -60.0, 50.0), []),
        ((-180.0, -90.0, 180.0, 90.0), ["USGS-01", "USGS-02", "USGS-03", "USGS-05"]),
        ((170.0, -90.0, -170.0, 90.0), ["USGS-02", "USGS-03", "USGS-05"]),
        ((170.0, 50.5, -170.0, 90.0), ["USGS-03"]),
        ((180.0, -90.0, -179.5, 90.0), ["USGS-05"]),
        ((178.0, -90.0, 180.0, 90.0), ["USGS-02", "USGS-05"]),
    ],
)
def test_basins_are_found_in_a_box_that_may_cross_the_180th_meridian(
    database: Database, box: basins.Box, found: list[str]
) -> None:
    places = {"USGS-01": (47.2, -68.6), "USGS-02": (50.0, 179.0), "USGS-03": (51.0, -179.0), "USGS-04": (None, None)}
    places["USGS-05"] = (50.0, -180.0)  # the same meridian as 180
    with database.transaction() as session:
        for basin, (latitude, longitude) in places.items():
            basins.upsert(session, Basin(basin, latitude=latitude, longitude=longitude))
        assert [basin.id for basin in basins.list_basins(session, box=box)] == found


def test_the_unknown_ones_of_many_are_reported_and_basins_counted(database: Database) -> None:
    with database.transaction() as session:
        assert basins.count(session) == 0
        a_basin(session)
        assert basins.count(session) == 1
        assert list(basins.unknown(session, ["USGS-2", BASIN, "USGS-1"])) == ["USGS-2", "USGS-1"]


def test_attributes_are_a_table_with_nan_where_missing(database: Database) -> None:
    with database.transaction() as session:
        basins.upsert(session, FISH)
        a_basin(session, "SYNTH-01")
        table = basins.attributes_of(session, ["SYNTH-01", BASIN], ["frac_snow", "nothing", "p_mean"])
        places = basins.attributes_of(session, ["SYNTH-01", BASIN], ["gauge_lat"])
        latitude = basins.sites(session, [BASIN])[BASIN].latitude
    np.testing.assert_array_equal(table, [[np.nan] * 3, [0.3, np.nan, 3.1]])
    assert places[1, 0] == latitude
    assert latitude is not None


def test_an_area_that_is_not_an_attribute_is_that_of_the_basin(database: Database) -> None:
    areas = {"OWN-a": {"own": 1e8}, "OWN-b": {"given": 2e8, "usgs": 3e8}, "OWN-c": {"outline": 4e8}, "OWN-d": {}}
    names = ["area_gages2", "area_km2"]
    with database.transaction() as session:
        for basin, named in areas.items():
            basins.upsert(session, Basin(basin, areas=named))
        basins.upsert(session, Basin("OWN-e", areas={"own": 5e8}, attributes={"area_gages2": 6.0}))
        table = basins.attributes_of(session, [*areas, "OWN-e"], names)
    nothing = [np.nan, np.nan]
    np.testing.assert_array_equal(table, [[100, 100], [200, 200], nothing, nothing, [6, 500]])


def test_an_area_is_asked_for_by_name(database: Database) -> None:
    with database.transaction() as session:
        basins.upsert(session, FISH)
        assert basins.area_of(session, BASIN, "maurer_extended") == 2.26e9
        with pytest.raises(UnknownArea, match=r"choose one of those it has \(maurer_extended\)"):
            basins.area_of(session, BASIN, "daymet")
        with pytest.raises(UnknownBasin):
            basins.area_of(session, "SYNTH-01", "daymet")


def test_findings_are_replaced_per_product(database: Database) -> None:
    later = instant("2009-01-01")
    with database.transaction() as session:
        a_basin(session)
        revisions.replace_findings(session, BASIN, "maurer", [{"kind": "equal-temperatures", "days": 9}], NOW)
        revisions.replace_findings(session, BASIN, "daymet", [], NOW)
        before = contents(session)
        revisions.replace_findings(session, BASIN, "daymet", [], later)
        assert contents(session) == before
        revisions.replace_findings(session, BASIN, "daymet", [{"kind": "gap"}], later)
        assert revisions.findings_of(session, BASIN) == {
            "daymet": [{"kind": "gap"}],
            "maurer": [{"kind": "equal-temperatures", "days": 9}],
        }
        with pytest.raises(UnknownBasin):
            revisions.replace_findings(session, "SYNTH-01", "daymet", [], NOW)
