"""The synthetic country as files: written whole, and read back by the source of the real ones."""

from pathlib import Path

import numpy as np
import pytest

from hydrology.base.calendar import Period, day
from hydrology.base.errors import InvalidInput
from hydrology.base.series import DailySeries, Flag
from hydrology.base.units import Area, to_mm_per_day
from ingestion.base import BasinData
from ingestion.sources.camels import CamelsSource
from testing.synthetic.archive import write
from testing.synthetic.basins import landscape, water, weather

PERIOD = Period.parse("1998-10-01..2000-09-30")
STATICS = {
    "p_mean",
    "pet_mean",
    "p_seasonality",
    "frac_snow",
    "aridity",
    "high_prec_freq",
    "high_prec_dur",
    "low_prec_freq",
    "low_prec_dur",
    "elev_mean",
    "slope_mean",
    "area_gages2",
    "frac_forest",
    "lai_max",
    "lai_diff",
    "gvf_max",
    "gvf_diff",
    "soil_depth_pelletier",
    "soil_depth_statsgo",
    "soil_porosity",
    "soil_conductivity",
    "max_water_content",
    "sand_frac",
    "silt_frac",
    "clay_frac",
    "carbonate_rocks_frac",
    "geol_permeability",
}


def make(folder: Path, seed: int = 3) -> Path:
    write(folder, seed=seed, basins=3, first_day=PERIOD.first, last_day=PERIOD.last)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("data") / "country")


@pytest.fixture(scope="module")
def basins(folder: Path) -> list[BasinData]:
    source = CamelsSource([folder])
    assert source.basins() == ["SYNTH-01", "SYNTH-02", "SYNTH-03"]
    return [source.read(basin) for basin in source.basins()]


def series(basin: BasinData, product: str, variable: str) -> DailySeries:
    (found,) = [one.series for one in basin.series if (one.product, one.variable) == (product, variable)]
    return found


def test_the_source_of_real_files_reads_the_weather_that_was_created(basins: list[BasinData]) -> None:
    sky = weather(landscape(3), PERIOD, seed=3)
    for b, basin in enumerate(basins):
        for variable in ("precipitation", "srad", "tmax", "tmin", "vp", "daylength"):
            read = series(basin, "synthetic", variable)
            assert read.period == PERIOD
            assert read.values == pytest.approx(getattr(sky, variable)[:, b], rel=1e-6)


def test_gauge_and_reference_snow_are_the_truth(basins: list[BasinData]) -> None:
    land = landscape(3)
    truth = water(land, weather(land, PERIOD, seed=3), PERIOD.days)
    for b, basin in enumerate(basins):
        gauge = series(basin, "synth", "discharge")
        known = ~np.isnan(gauge.values)
        flow = to_mm_per_day(gauge.values, unit=gauge.unit, area=Area("synthetic", basin.areas["synthetic"]))
        assert flow[known] == pytest.approx(truth.discharge[known, b], rel=1e-2, abs=1e-6)
        assert series(basin, "synthetic_snow", "swe").values == pytest.approx(truth.swe[:, b], abs=1e-4)


def test_the_gauge_has_estimates_and_a_gap(basins: list[BasinData]) -> None:
    gaps = [int(np.isnan(series(basin, "synth", "discharge").values).sum()) for basin in basins]
    assert gaps == [0, 10, 0]
    flags = series(basins[2], "synth", "discharge").flags
    assert ((flags & Flag.ESTIMATED) != 0).any()
    missing = series(basins[1], "synth", "discharge").flags[100:110]
    assert (missing == Flag.MISSING).all()


def test_every_basin_has_the_27_attributes_and_a_name_with_synthetic(basins: list[BasinData]) -> None:
    for basin in basins:
        assert set(basin.attributes) | set(basin.areas) >= STATICS
        assert basin.name is not None
        assert basin.name.startswith("Synthetic basin")
        assert basin.huc == "00"
    assert basins[0].name == "Synthetic basin 1 (arid)"
    assert basins[0].areas["synthetic"] == pytest.approx(basins[0].areas["area_gages2"], rel=1e-9)


def test_the_model_output_file_holds_a_closed_balance(folder: Path) -> None:
    path = folder / "model_output/flow_timeseries/synthetic/00/SYNTH-03_01_model_output.txt"
    header = path.read_text().splitlines()[0].split()
    assert header == ["YR", "MNTH", "DY", "HR", "SWE", "PRCP", "RAIM", "TAIR", "PET", "ET", "MOD_RUN", "OBS_RUN"]
    table = dict(zip(header, np.loadtxt(path, skiprows=1).T, strict=True))
    land = landscape(3)
    truth = water(land, weather(land, PERIOD, seed=3), PERIOD.days)
    change = truth.storage[-1, 2] - truth.storage_before[2]
    assert (table["PRCP"] - table["MOD_RUN"] - table["ET"]).sum() == pytest.approx(change, abs=1e-3)
    assert (table["PRCP"] - table["RAIM"]).cumsum() == pytest.approx(table["SWE"], abs=1e-3)


def test_the_layout_is_that_of_the_real_files(folder: Path, camels: Path) -> None:
    name = "01022500_lump_maurer_forcing_leap.txt"
    real_forcing = camels / "basin_dataset_public_v1p2/basin_mean_forcing/maurer_extended/01" / name
    forcing = folder / "basin_mean_forcing/synthetic/00/SYNTH-01_lump_synthetic_forcing_leap.txt"
    assert forcing.read_text().splitlines()[3] == real_forcing.read_text().splitlines()[3]
    for subject in ("clim", "geol", "hydro", "name", "soil", "topo", "vege"):
        mine, real = (
            (root / f"camels_attributes_v2.0/camels_{subject}.txt").read_text().splitlines()[0]
            for root in (folder, camels)
        )
        assert mine == real


def test_the_same_settings_write_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    assert contents(make(tmp_path / "again")) == contents(folder)
    assert contents(make(tmp_path / "other", seed=4)) != contents(folder)


def test_writing_again_leaves_the_folder_as_it_is(tmp_path: Path) -> None:
    created = make(tmp_path / "deep" / "country")
    before = {path: path.stat().st_mtime_ns for path in created.rglob("*")}
    make(created)
    assert {path: path.stat().st_mtime_ns for path in created.rglob("*")} == before
    assert list(created.parent.iterdir()) == [created]


def test_other_settings_or_other_content_are_refused_and_untouched(tmp_path: Path) -> None:
    created = make(tmp_path / "country")
    before = contents(created)
    with pytest.raises(InvalidInput, match="'seed': 4"):
        make(created, seed=4)
    assert contents(created) == before
    other = tmp_path / "mine"
    other.mkdir()
    (other / "notes.txt").write_text("a note")
    with pytest.raises(InvalidInput, match="not synthetic data"):
        make(other)
    assert contents(other) == {"notes.txt": b"a note"}


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        write(tmp_path / "country", basins=0)
    with pytest.raises(InvalidInput, match="at least a year"):
        write(tmp_path / "country", last_day=day("1996-12-31"))
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_is_stopped_midway_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Path] = []
    write_text = Path.write_text

    def full_disk(self: Path, *args: str, **kwargs: str) -> int:
        if len(written) == 9:
            raise OSError(28, "No space left on device")
        written.append(self)
        return write_text(self, *args, **kwargs)

    monkeypatch.setattr(Path, "write_text", full_disk)
    with pytest.raises(OSError, match="No space left"):
        make(tmp_path / "country")
    assert len(written) == 9
    assert list(tmp_path.iterdir()) == []
