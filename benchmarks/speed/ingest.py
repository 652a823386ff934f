"""Reading CAMELS-US text into the database beside neuralhydrology's loader reading the same files.

The forcing and discharge files of some real basins are unpacked into a folder first. Ours takes a basin from its text
into SQLite: every value checked, stored with flags, source and revision, and the quality report computed and stored.
neuralhydrology's `load_camels_us_forcings` and `load_camels_us_discharge` return it as tables in memory and store
nothing: like for like with them is `reading`, ours from text to checked series in memory alone. Basins are taken in
turn, one thread, CPU seconds; the ratios are the medians of the paired ratios. FRESHET_CAMELS names the data.
"""

import statistics
import tempfile
import time
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from hydrology.base.basins import source_code
from ingestion.sources.camels import CamelsSource
from operations.basin_data.ingest import ingest
from records.database.engine import Database
from runtime.clock import Clock
from runtime.settings import Settings
from testing.work import work_of

PRODUCT, BASINS = "maurer_extended", 20
ARCHIVES = {  # and the folder in each whose levels below are HUC and file
    "maurer_extended.zip": ("maurer_extended", f"basin_mean_forcing/{PRODUCT}"),
    "basin_timeseries_v1p2_metForcing_obsFlow.zip": ("basin_dataset_public_v1p2/usgs_streamflow", "usgs_streamflow"),
}


def measure() -> dict[str, Any]:
    """Return seconds a basin and the ratio."""
    camels = Settings.load().camels
    if camels is None:
        raise SystemExit("Set FRESHET_CAMELS to the folder of real CAMELS-US data.")
    with tempfile.TemporaryDirectory() as temporary:
        files, database = Path(temporary) / "camels", Database(f"sqlite:///{temporary}/freshet.sqlite")
        _unpack(camels, files)
        database.migrate()
        source = CamelsSource([files])
        first, *basins = source.basins()
        steps: dict[str, Callable[[str], object]] = {
            "ours": partial(_ours, database, source),
            "reading": source.read,
            "neuralhydrology": partial(_theirs, files),
        }
        for step in steps.values():
            step(first)
        taken: dict[str, list[float]] = {name: [] for name in steps}
        for basin in basins:
            for name, step in steps.items():
                taken[name].append(_seconds(partial(step, basin)))
        database.close()
    paired = {
        f"neuralhydrology_over_{name}": [
            peer / own for own, peer in zip(taken[name], taken["neuralhydrology"], strict=True)
        ]
        for name in ("ours", "reading")
    }
    return {
        "shape": f"{len(basins)} basins, {PRODUCT} forcing and USGS discharge, 1 thread",
        "cpu_seconds_a_basin": {name: statistics.median(found) for name, found in taken.items()},
        "ratios": {name: statistics.median(found) for name, found in paired.items()},
        "spread": {name: [min(found), max(found)] for name, found in paired.items()} | {"pairs": len(basins)},
    }


def _unpack(camels: Path, folder: Path) -> None:
    """Unpack the files of evenly spaced basins into the folders where both readers look; one more to begin with."""
    for archive, (inside, outside) in ARCHIVES.items():
        with zipfile.ZipFile(camels / archive) as opened:
            names = sorted(opened.namelist(), key=lambda name: Path(name).name)
            names = [name for name in names if name.startswith(f"{inside}/") and name.endswith(".txt")]
            for name in names[:: len(names) // BASINS][: BASINS + 1]:
                target = folder / outside / Path(name).relative_to(inside)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(opened.read(name))


def _ours(database: Database, source: CamelsSource, basin: str) -> None:
    (outcome,) = ingest(work_of(database, Clock()), source, [basin])
    if outcome.status != "new":
        raise SystemExit(f"{basin} is {outcome.status}: {outcome.error}")


def _theirs(files: Path, basin: str) -> None:
    from neuralhydrology.datasetzoo import camelsus

    _, area = camelsus.load_camels_us_forcings(files, source_code(basin), PRODUCT)
    camelsus.load_camels_us_discharge(files, source_code(basin), area)


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started
