"""The rivers of the demonstration: their archive, its sources, and the folders that it uses."""

import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from freshet.demo.demonstration import (
    ARCHIVE,
    AS_OF,
    BASINS,
    EARLIER_DAYS,
    FLOODED,
    HELD_OUT,
    HORIZON,
    LAST_DAY,
    RIVERS,
)
from hydrology.base.calendar import Period, day
from hydrology.base.units import M3_PER_FT3
from ingestion.sources.camels import CamelsSource
from testing.demo_archive import contents, write
from tests.freshet.conftest import Freshet

MAX_BYTES = 2_000_000
WEATHER = ("precipitation", "srad", "tmax", "tmin", "vp")


def test_the_archive_is_small_and_its_sources_stand_beside_it() -> None:
    assert ARCHIVE.stat().st_size <= MAX_BYTES
    text = (ARCHIVE.parent / "README.md").read_text(encoding="utf-8")
    for needed in (*RIVERS, "public domain", "10.5065/D6MW2F4D", "10.4211/hs.17c896843cf940339c3c3496d0c1c077"):
        assert needed in text


def test_the_archive_holds_eight_rivers_without_a_gap_over_all_that_is_asked_of_them() -> None:
    source = CamelsSource([ARCHIVE])
    assert tuple(sorted(source.basins())) == tuple(sorted(BASINS))
    replayed = Period(Period.parse(EARLIER_DAYS).first, Period.parse(LAST_DAY).last)
    assert (len(replayed), replayed.last) == (12, day(AS_OF.date()))
    needed = Period(
        Period.parse(HELD_OUT).first - np.timedelta64(365, "D"), replayed.last + np.timedelta64(HORIZON, "D")
    )
    for basin in BASINS:
        found = source.read(basin)
        series = {(one.product, one.variable): one.series for one in found.series}
        for product in ("maurer_extended", "daymet"):
            assert found.areas[product] > 0
            for variable in WEATHER:
                weather = series[product, variable]
                assert Period(weather.start, weather.start + len(weather) - 1).overlap(needed) == needed
                assert np.isfinite(weather.values).all()
        flow = series["usgs", "discharge"]
        assert flow.start == day("1980-01-01")
        assert np.isfinite(flow.values).mean() > 0.99
        assert found.name
        assert {"p_mean", "frac_snow", "elev_mean", "frac_forest", "geol_permeability"} <= {*found.attributes}


def test_the_clock_stands_three_days_before_the_naselles_highest_day_of_ten_years() -> None:
    series = {one.variable: one.series for one in CamelsSource([ARCHIVE]).read(FLOODED).series}
    flow = series["discharge"]
    before = int((day(AS_OF.date()) - flow.start).astype(int))
    highest = before + int(np.nanargmax(flow.values[before:]))
    assert (highest - before, round(flow.values[highest] * M3_PER_FT3)) == (3, 255)
    assert flow.values[highest] == np.nanmax(flow.values[highest - 3652 : highest + 1])


@pytest.mark.skipif("FRESHET_CAMELS" not in os.environ, reason="FRESHET_CAMELS does not name CAMELS-US")
def test_the_archive_is_what_its_script_cuts_out_of_the_published_data(tmp_path: Path) -> None:
    camels = Path(os.environ["FRESHET_CAMELS"])
    with zipfile.ZipFile(ARCHIVE) as packed:
        assert {name: packed.read(name).decode("ascii") for name in packed.namelist()} == dict(contents(camels))
    write(camels, tmp_path / "again.zip")
    write(camels, tmp_path / "again-2.zip")
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "again-2.zip").read_bytes()


def test_a_folder_with_other_basins_is_left_as_it_is(ingested: Freshet) -> None:
    folder = ingested.data.rename(ingested.data.parent / "demo")
    freshet = Freshet(folder.parent)
    before = sorted(path.name for path in folder.iterdir())

    result = freshet("demo", "--once")

    assert result.code == 2
    assert "none of the demonstration's, such as SYNTH-01" in " ".join(result.err.split())
    assert "remove the folder, or name another FRESHET_DATA" in " ".join(result.err.split())
    assert sorted(path.name for path in folder.iterdir()) == before
