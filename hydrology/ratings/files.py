"""Reads rating tables: RDB of the USGS (`exsa` or `base`), and CSV.

The USGS describes its files at https://waterdata.usgs.gov/nwisweb/get_ratings?help: header lines beginning with `#`,
names (`INDEP SHIFT DEP STOR`), widths, points. Stages of an expanded, shift-adjusted table (`exsa`) are as measured:
its discharges include the shifts. A `base` table has its few points, to be joined as its header states.
"""

import csv
import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from hydrology.base.errors import counted
from hydrology.base.units import M3_PER_FT3
from hydrology.ratings.rating import M_PER_FT, MAX_POINTS, Expansion, InvalidRating, Rating, from_us_units

MAX_CHARACTERS = 2**20
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_HEADER = re.compile(r"# //([A-Z_]+) ?(.*)")
_ENTRY = re.compile(r'([A-Z0-9_]+)=(?:"([^"]*)"|(\S+))')
_STAGE = {"stage_ft": M_PER_FT, "stage_m": 1.0}
_DISCHARGE = {"discharge_cfs": M3_PER_FT3, "discharge_m3_per_s": 1.0}


@dataclass(frozen=True, slots=True)
class RatingFile:
    """The content of a rating file; None where it names no site, number or shifts.

    `shifted` is the time of the shifts, `largest_shift` in m, with its sign; 0 where nothing is shifted.
    """

    rating: Rating
    site: str | None = None
    number: str | None = None
    shifted: str | None = None
    largest_shift: float = 0.0


def read_rating(text: str) -> RatingFile:
    """Read a rating table: RDB where it begins with `#`, otherwise CSV."""
    if len(text) > MAX_CHARACTERS:
        raise InvalidRating(f"A rating file has at most {MAX_CHARACTERS} characters; this one has {len(text)}.")
    text = text.removeprefix("\ufeff")
    return _rdb(text) if text.startswith("#") else RatingFile(_csv(text))


def _rdb(text: str) -> RatingFile:
    lines = text.splitlines()
    head = dict(_entries(lines))
    if head.get("PARAMETER CODE", "00060") != "00060":
        raise InvalidRating(f"The rating is of parameter {head['PARAMETER CODE'][:16]!r}, not of discharge (00060).")
    if head.get("RATING TYPE", "STGQ") != "STGQ":
        kind = head["RATING TYPE"][:16]
        raise InvalidRating(f"The rating has the type {kind!r}: give one of stage and discharge (STGQ).")
    rows = [(number, line) for number, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")]
    if len(rows) < 3:
        raise InvalidRating("The RDB file has no table: give the file of type exsa or base, whole.")
    names = rows[0][1].split("\t")
    if not {"INDEP", "DEP"} <= set(names) or len(set(names)) < len(names):
        found = ", ".join(names)[:80]
        raise InvalidRating(f"The columns are {found}: give the file of type exsa or base (INDEP, DEP).")
    if len(rows) - 2 > MAX_POINTS:
        raise InvalidRating(f"A rating table has at most {MAX_POINTS} points.")
    points = [_cells(number, line, names) for number, line in rows[2:]]
    stages, flows = ([_number(*point[name]) for point in points] for name in ("INDEP", "DEP"))
    shifts = [_number(*point["SHIFT"]) for point in points] if "SHIFT" in names else [0.0]
    expanded = head.get("RATING EXPANSION", "linear").lower()
    if expanded not in ("logarithmic", "linear"):
        raise InvalidRating(f"Points are joined {expanded[:20]!r}: only logarithmic and linear tables can be used.")
    expansion: Expansion = "logarithmic" if expanded == "logarithmic" else "linear"
    return RatingFile(
        from_us_units(stages, flows, expansion, *_offsets(head)),
        head.get("STATION NUMBER", "").strip()[:32] or None,
        head.get("RATING ID", "")[:16] or None,
        head.get("RATING SHIFTED", "")[:32] or None if "SHIFT" in names else None,
        max(shifts, key=abs) * M_PER_FT,
    )


def _entries(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the entries of the header by `SECTION NAME`; those of the first line of a section before others."""
    for line in reversed(lines):
        found = _HEADER.match(line)
        if found:
            for name, quoted, plain in _ENTRY.findall(found[2]):
                yield f"{found[1]} {name}", quoted or plain


def _offsets(head: dict[str, str]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the offsets and breakpoints of the header, ft."""
    offsets, breakpoints = [_number(0, head.get("RATING OFFSET1", "0"))], []
    while (name := f"RATING OFFSET{len(offsets) + 1}") in head:
        breakpoints.append(_number(0, head.get(f"RATING BREAKPOINT{len(offsets)}", "")))
        offsets.append(_number(0, head[name]))
    return tuple(offsets), tuple(breakpoints)


def _csv(text: str) -> Rating:
    """Read a table with the columns `stage_ft` or `stage_m`, and `discharge_cfs` or `discharge_m3_per_s`."""
    try:
        rows = list(csv.reader(io.StringIO(text)))
    except csv.Error as error:
        raise InvalidRating(f"The file is not CSV ({error}): correct the file.") from None
    names = [name.strip() for name in rows[0]] if rows else []
    stage = [name for name in names if name in _STAGE]
    flow = [name for name in names if name in _DISCHARGE]
    if len(stage) != 1 or len(flow) != 1 or len(names) != 2:
        raise InvalidRating(
            f"The columns are {', '.join(names)[:80] or 'none'}: a rating table in CSV has one of {', '.join(_STAGE)} "
            f"and one of {', '.join(_DISCHARGE)}."
        )
    cells = [
        dict(zip(names, [(number, cell) for cell in row], strict=True))
        for number, row in enumerate(rows[1:], 2)
        if row and _whole(number, row, names)
    ]
    stages, flows = ([_number(*row[name]) for row in cells] for name in (stage[0], flow[0]))
    return Rating(
        tuple(value * _STAGE[stage[0]] for value in stages), tuple(value * _DISCHARGE[flow[0]] for value in flows)
    )


def _cells(number: int, line: str, names: list[str]) -> dict[str, tuple[int, str]]:
    cells = line.split("\t")
    if len(cells) == len(names) - 1:
        cells.append("")  # the last column is empty but for the points of the base table
    _whole(number, cells, names)
    return dict(zip(names, [(number, cell) for cell in cells], strict=True))


def _whole(number: int, cells: list[str], names: list[str]) -> bool:
    if len(cells) != len(names):
        raise InvalidRating(
            f"Line {number} has {counted(len(cells), 'cell')} under {counted(len(names), 'name')}: correct the file."
        )
    return True


def _number(line: int, cell: str) -> float:
    text = cell.strip()
    if not _NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        where = f"Line {line}" if line else "The header"
        raise InvalidRating(f"{where} has {text[:20]!r}, which is not a number: correct the file.")
    return float(text)
