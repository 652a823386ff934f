"""`python -m testing.demo_archive`: cuts the demonstration's rivers out of CAMELS-US (FRESHET_CAMELS).

The archive has the layout of the published text, so that it is ingested as any other, and its lines are unchanged.
`freshet/demo/README.md` names its sources.
"""

import os
import zipfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from freshet.demo.demonstration import ARCHIVE, RIVERS

FIRST_FLOW, FIRST_WEATHER, LAST = date(1980, 1, 1), date(1985, 10, 1), date(1997, 5, 31)
"""Of weather ten years beside that of the replay, after one of warm-up: without ten there is no normal."""
SUBJECTS = ("clim", "geol", "hydro", "name", "soil", "topo", "vege")
HEADER_LINES = 4
WRITTEN = (1980, 1, 1, 0, 0, 0)
"""The time of each member, so that the same content is the same file."""


def contents(camels: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each file, cut from a folder with CAMELS-US."""
    yield from _cut(camels / "maurer_extended.zip", HEADER_LINES, FIRST_WEATHER)
    yield from _cut(camels / "daymet_400.zip", HEADER_LINES, FIRST_WEATHER)
    yield from _cut(camels / "basin_timeseries_v1p2_metForcing_obsFlow.zip", 0, FIRST_FLOW)
    for subject in SUBJECTS:
        name = f"camels_attributes_v2.0/camels_{subject}.txt"
        header, *lines = (camels / name).read_text(encoding="ascii").splitlines(keepends=True)
        yield name, "".join([header, *(line for line in lines if line.startswith(RIVERS))])


def _cut(source: Path, header_lines: int, first: date) -> Iterator[tuple[str, str]]:
    """Yield the rivers' files of a published zip, without the days before the first and after the last."""
    with zipfile.ZipFile(source) as published:
        for name in published.namelist():
            if name.rpartition("/")[2].startswith(RIVERS):
                lines = published.read(name).decode("ascii").splitlines(keepends=True)
                days = [line for line in lines[header_lines:] if first <= _day(line) <= LAST]
                yield name, "".join([*lines[:header_lines], *days])


def _day(line: str) -> date:
    """Return the day of a line: of discharge, the gauge stands before it."""
    year, month, day, *_ = [part for part in line.split() if part not in RIVERS]
    return date(int(year), int(month), int(day))


def write(camels: Path, archive: Path = ARCHIVE) -> None:
    """Write the archive."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name, text in contents(camels):
            packed.writestr(zipfile.ZipInfo(name, WRITTEN), text, zipfile.ZIP_DEFLATED, 9)


if __name__ == "__main__":
    write(Path(os.environ["FRESHET_CAMELS"]))
