"""The weights of a grid's cells in basins, against intersections of shapely."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extensions.grid.cells import Axes, basin_weights, mean_of
from hydrology.base.arrays import Array
from ingestion.base import SourceError
from ingestion.feeds.base import FeedProblem, Site
from testing.files.grids import Rings, outline, shares


def weights_of(latitudes: Array, longitudes: Array, of: Rings) -> Array:
    grid = Axes.of("grid", latitudes, longitudes)
    cells, weights = grid.cells(Site("OWN-mill", outline=of))
    dense = np.zeros(len(latitudes) * len(longitudes))
    np.add.at(dense, cells, weights)
    return dense.reshape(len(latitudes), len(longitudes))


@given(st.integers(0, 10_000), st.floats(0.02, 2.0), st.booleans(), st.booleans())
def test_weights_are_those_of_intersections(seed: int, size: float, descending: bool, to_360: bool) -> None:
    latitudes, longitudes = np.arange(40, 48.1, 0.25), np.arange(-80, -69.9, 0.25)
    latitudes = latitudes[::-1] if descending else latitudes
    of = outline(44, -75, size, seed)
    found = weights_of(latitudes, longitudes % 360 if to_360 else longitudes, of)
    np.testing.assert_allclose(found, shares(latitudes, longitudes, of), rtol=0, atol=1e-6)
    assert found.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("west", [-180.0, 0.0, 0.125])
@pytest.mark.parametrize("middle", [-180.0, 0.0, 90.0, 179.9])
def test_a_basin_across_the_edge_of_a_grid_around_the_earth_has_all_its_cells(west: float, middle: float) -> None:
    latitudes, longitudes = np.linspace(90, -90, 361), np.arange(west, west + 360, 0.5)
    of = outline(-10, middle, 1.7, seed=3)
    np.testing.assert_allclose(weights_of(latitudes, longitudes, of), shares(latitudes, longitudes, of), atol=1e-6)


def test_rings_on_both_sides_of_the_180th_meridian_are_one_basin() -> None:
    latitudes, longitudes = np.arange(-20, -9.9, 0.5), np.arange(170, 190.1, 0.5)
    east = [[-16.0, -180.0], [-16.0, -179.2], [-15.0, -179.2], [-15.0, -180.0], [-16.0, -180.0]]
    west = [[-16.0, 180.0], [-16.0, 179.4], [-15.0, 179.4], [-15.0, 180.0], [-16.0, 180.0]]
    np.testing.assert_allclose(
        weights_of(latitudes, longitudes, [west, east]),
        shares(latitudes, longitudes, [west, east]),
        atol=1e-6,
    )


@pytest.mark.parametrize(("latitude", "longitude"), [(48.1, -75), (44, -80.3), (20, -75), (44, 100)])
def test_an_outline_beyond_the_edge_is_refused(latitude: float, longitude: float) -> None:
    of = outline(latitude, longitude, 0.6, seed=1)
    with pytest.raises(FeedProblem, match=r"The outline of OWN-mill goes beyond the edge of the grid"):
        weights_of(np.arange(40, 48.1, 0.25), np.arange(-80, -69.9, 0.25), of)


def test_a_basin_without_an_outline_is_refused() -> None:
    with pytest.raises(FeedProblem, match=r"OWN-mill has no outline: give it one"):
        weights_of(np.arange(40, 48.1, 0.25), np.arange(-80, -69.9, 0.25), [])


@pytest.mark.parametrize(
    ("latitudes", "longitudes", "cause"),
    [
        (np.array([40.0, 41, 43]), np.arange(5.0), "not on a regular grid of degrees .its latitudes"),
        (np.arange(40.0, 44), np.array([0.0, 1, np.nan]), "not on a regular grid of degrees .its longitudes"),
        (np.array([40.0]), np.arange(5.0), "not on a regular grid"),
        (np.array([40.0, 40.0]), np.arange(5.0), "not on a regular grid"),
        (np.arange(80.0, 100), np.arange(5.0), "latitudes beyond 90"),
        (np.arange(40.0, 44), np.arange(0.0, 400), "longitudes of more than a turn"),
    ],
)
def test_axes_that_are_not_of_a_regular_grid_are_refused(latitudes: Array, longitudes: Array, cause: str) -> None:
    with pytest.raises(SourceError, match=cause):
        Axes.of("grid", latitudes, longitudes)


def test_stored_weights_are_read_until_the_outline_or_the_grid_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = Axes.of("grid", np.arange(40, 48.1, 0.25), np.arange(-80, -69.9, 0.25))
    sites = [Site(f"OWN-{number}", outline=outline(44, -75, 0.5, number)) for number in range(3)]
    first = basin_weights(grid, sites, tmp_path)
    computed: list[str] = []
    compute = Axes.cells

    def cells(axes: Axes, site: Site) -> Any:
        computed.append(site.basin)
        return compute(axes, site)

    monkeypatch.setattr(Axes, "cells", cells)

    again = basin_weights(grid, sites, tmp_path)
    assert computed == []
    np.testing.assert_array_equal(again.matrix.toarray(), first.matrix.toarray())

    moved = Site("OWN-1", outline=outline(45, -75, 0.5))
    basin_weights(grid, [*sites[:1], moved], tmp_path)
    assert computed == ["OWN-1"]
    basin_weights(Axes.of("grid", grid.latitudes, grid.longitudes + 0.1), sites[:1], tmp_path)
    assert computed == ["OWN-1", "OWN-0"]

    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[:-100])  # cut off
    np.testing.assert_array_equal(basin_weights(grid, sites, tmp_path).matrix.toarray(), first.matrix.toarray())
    assert computed[2:] == ["OWN-0", "OWN-1", "OWN-2"]


def test_a_mean_is_of_the_cells_that_have_a_value_if_they_are_most() -> None:
    grid = Axes.of("grid", np.arange(40, 48.1, 0.5), np.arange(-80, -69.9, 0.5))
    of = outline(44, -75, 2.0)
    weights = basin_weights(grid, [Site("OWN-mill", outline=of)], None)
    values = np.random.default_rng(0).uniform(size=(len(grid.latitudes), len(grid.longitudes)))
    of_cells = shares(grid.latitudes, grid.longitudes, of)
    for north, known in ((45.0, True), (43.9, False)):
        of_sea = np.where(grid.latitudes[:, None] > north, np.nan, values)
        (mean,) = mean_of(*weights.sums(of_sea.reshape(-1, 1)))[0]
        held = of_cells * ~np.isnan(of_sea)
        assert (held.sum() > 0.75) == known
        expected = (values * held).sum() / held.sum() if known else np.nan
        np.testing.assert_allclose(mean, expected, rtol=1e-6)
