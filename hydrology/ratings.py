"""Rating tables of gauges: conversion between stage and discharge, and the reading of their files.

Between two points of a logarithmic table, the logarithm of discharge is linear in that of stage above an offset (the
stage of no flow), as the USGS expands its tables: Kennedy 1984, "Discharge ratings at gaging stations", TWRI 3-A10.
Points without a logarithm, and other tables, are joined by straight lines. Nothing is extrapolated.

Files are RDB of the USGS (`exsa` or `base`), or CSV. The USGS describes its files at
https://waterdata.usgs.gov/nwisweb/get_ratings?help: header lines beginning with `#`, names (`INDEP SHIFT DEP STOR`),
widths, points. Stages of an expanded, shift-adjusted table (`exsa`) are as measured: its discharges include the shifts.
A `base` table has its few points, to be joined as its header states.
"""

import csv
import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array, Mask
from hydrology.base.errors import InvalidInput, counted
from hydrology.base.reasons import Reason
from hydrology.base.units import M3_PER_FT3, M_PER_FT

MAX_POINTS = 20_000
Expansion = Literal["logarithmic", "linear"]


class InvalidRating(InvalidInput):
    """The rating table cannot be used."""


@dataclass(frozen=True)
class Rating:
    """A rating table: stages (m above the gauge's datum, increasing) with discharges (m3/s, never falling).

    From each of the `breakpoints` (stages, m, increasing) on, the next of the `offsets` (stage of no flow, m) holds.
    """

    stages: tuple[float, ...]
    discharges: tuple[float, ...]
    expansion: Expansion = "linear"
    offsets: tuple[float, ...] = (0.0,)
    breakpoints: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if len(self.stages) != len(self.discharges) or not 2 <= len(self.stages) <= MAX_POINTS:
            raise InvalidRating(f"A rating table needs 2 to {MAX_POINTS} points; this one has {len(self.stages)}.")
        values = np.array([*self.stages, *self.discharges, *self.offsets, *self.breakpoints])
        if not np.isfinite(values).all() or len(self.offsets) != len(self.breakpoints) + 1:
            raise InvalidRating("A rating table needs finite numbers, and a breakpoint for every offset but the first.")
        if (np.diff(self.breakpoints) <= 0).any():
            raise InvalidRating("The breakpoints of the rating table do not rise: correct the table.")
        for name, faults in (
            ("stage does not rise", np.diff(self.stages) <= 0),
            ("discharge falls", np.diff(self.discharges) < 0),
        ):
            if faults.any():
                row = int(np.argmax(faults)) + 2
                raise InvalidRating(
                    f"From point {row - 1} to point {row} of the rating table {name}: correct the table."
                )
        if self.discharges[0] < 0 or self.discharges[0] == self.discharges[-1]:
            raise InvalidRating("Discharges of a rating table start at 0 or above and rise: correct the table.")

    def discharge(self, stage: npt.ArrayLike) -> Array:
        """Return discharges in m3/s for stages in m, any shape; NaN outside the table."""
        wanted = np.asarray(stage, np.float64)
        at = np.clip(np.searchsorted(self._h, wanted, side="right") - 1, 0, len(self._h) - 2)
        low, high = self._q[at], self._q[at + 1]
        logs, zero = self._logarithmic[at], self._zero[at]
        with np.errstate(divide="ignore", invalid="ignore"):
            straight = low + (wanted - self._h[at]) / (self._h[at + 1] - self._h[at]) * (high - low)
            share = np.log((wanted - zero) / (self._h[at] - zero)) / np.log(
                (self._h[at + 1] - zero) / (self._h[at] - zero)
            )
            curved = low * (high / low) ** share
        return self._within(np.where(logs, curved, straight), wanted, self._h, low, high)

    def stage(self, discharge: npt.ArrayLike) -> Array:
        """Return the (lowest) stages in m for discharges in m3/s, any shape; NaN outside the table."""
        wanted = np.asarray(discharge, np.float64)
        at = np.clip(np.searchsorted(self._q, wanted, side="left") - 1, 0, len(self._q) - 2)
        low, high = self._h[at], self._h[at + 1]
        logs, zero = self._logarithmic[at], self._zero[at]
        with np.errstate(divide="ignore", invalid="ignore"):
            rise = self._q[at + 1] - self._q[at]
            straight = low + np.where(rise > 0, (wanted - self._q[at]) / np.where(rise > 0, rise, 1), 0) * (high - low)
            share = np.log(wanted / self._q[at]) / np.log(self._q[at + 1] / self._q[at])
            curved = zero + (low - zero) * ((high - zero) / (low - zero)) ** share
        return self._within(np.where(logs & (rise > 0), curved, straight), wanted, self._q, low, high)

    def why_no_stage(self, discharge: float) -> Absent:
        """Return the reason why a discharge, m3/s, has no stage."""
        return absent(
            Reason.OUTSIDE_RATING, discharge=discharge, lowest=self.discharges[0], highest=self.discharges[-1]
        )

    def flow_at(self, stage: float) -> float | Absent:
        """Return the discharge in m3/s at a stage in m, or the reason why it has none."""
        flow = float(self.discharge(stage))
        if flow > 0:
            return flow
        ends = [end / M_PER_FT for end in (stage, self.stages[0], self.stages[-1])]
        return absent(Reason.STAGE_OUTSIDE_RATING, **dict(zip(("stage", "lowest", "highest"), ends, strict=True)))

    @cached_property
    def _h(self) -> Array:
        return np.array(self.stages)

    @cached_property
    def _q(self) -> Array:
        return np.array(self.discharges)

    @cached_property
    def _zero(self) -> Array:
        """The stage of no flow of each step between points."""
        return np.array(self.offsets)[np.searchsorted(self.breakpoints, self._h[:-1], side="right")]

    @cached_property
    def _logarithmic(self) -> Mask:
        logarithmic = self.expansion == "logarithmic"
        return np.asarray(logarithmic & (self._h[:-1] > self._zero) & (self._q[:-1] > 0) & (np.diff(self._q) > 0))

    @staticmethod
    def _within(found: Array, wanted: Array, known: Array, low: Array, high: Array) -> Array:
        inside = (wanted >= known[0]) & (wanted <= known[-1])
        return np.where(inside, np.clip(found, low, high), np.nan)


MAX_JUMP = 1.3
"""Largest ratio of the discharges of two successive tables at a high stage; above it, the rating jumps."""


def jump(before: Rating, after: Rating) -> float:
    """Return the largest ratio of two tables' discharges in the upper half of their common stages; infinite without."""
    low, high = (choose(of.stages[end] for of in (before, after)) for choose, end in ((max, 0), (min, -1)))
    if low >= high:
        return math.inf
    stages = np.linspace((low + high) / 2, high, 100)
    one, other = (np.maximum(of.discharge(stages), 1e-9) for of in (before, after))
    return float(np.maximum(one / other, other / one).max())


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
    offsets, breakpoints = _offsets(head)
    rating = Rating(_scaled(stages, M_PER_FT), _scaled(flows, M3_PER_FT3), expansion, offsets, breakpoints)
    return RatingFile(
        rating,
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
    """Return the offsets and breakpoints of the header, m."""
    offsets, breakpoints = [_number(0, head.get("RATING OFFSET1", "0"))], []
    while (name := f"RATING OFFSET{len(offsets) + 1}") in head:
        breakpoints.append(_number(0, head.get(f"RATING BREAKPOINT{len(offsets)}", "")))
        offsets.append(_number(0, head[name]))
    return _scaled(offsets, M_PER_FT), _scaled(breakpoints, M_PER_FT)


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
    return Rating(_scaled(stages, _STAGE[stage[0]]), _scaled(flows, _DISCHARGE[flow[0]]))


def _scaled(values: list[float], size: float) -> tuple[float, ...]:
    return tuple(value * size for value in values)


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
