"""Appends issues to an archive of forecasts, and creates one."""

import fcntl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from extensions.archive import layout
from extensions.archive.layout import AREA, ARRAYS, BASIN, ISSUE, LEAD, MEMBER, STATUS, WITH_MEMBERS, ArrayLayout
from hydrology.base.calendar import Day, as_date
from hydrology.base.errors import InvalidInput, excerpt
from hydrology.uncertainty.error_model import LEVELS
from records.basins.basins import Site
from records.runs.run_types import QUANTILES

if TYPE_CHECKING:
    import zarr

    from extensions.archive.staged_store import StagedStore

Numbers = npt.NDArray[Any]
STORE = "forecasts.zarr"
_CHOSEN = "freshet_basins"  # attribute of an archive of chosen basins
"""Name of the store in the folder of archives."""


class UnusableArchive(InvalidInput):
    """The folder holds no archive that can be continued."""


@dataclass(frozen=True, slots=True)
class BasinIssue:
    """What an issue holds for a basin.

    Attributes:
        status: a number of `layout.STATUSES`.
        area_m2: the area that depths are taken over; NaN where the run names none.
        flow: discharge in m3/s by array of the layout, (leads, labels).
    """

    status: int
    area_m2: float = np.nan
    flow: Mapping[str, Numbers] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue: a run with its basins. The fields of the run have the names of the layout's arrays."""

    issue: str
    t0: Day
    issued_at: datetime
    version: str
    purpose: str
    forcing_kind: str
    weather: str
    leads: int
    basins: Mapping[str, BasinIssue]


@dataclass(frozen=True, slots=True)
class Contents:
    """What an archive holds; it is limited to `chosen` basins unless None, and has room for `leads` days after T0."""

    issues: Sequence[str] = ()
    basins: Sequence[str] = ()
    leads: int = 0
    chosen: Sequence[str] | None = None
    members: bool = False


def contents(folder: Path) -> Contents | None:
    """Return what an archive holds. None where there is none yet."""
    from extensions.archive.staged_store import StagedStore

    with _usable(folder):
        store = StagedStore(folder)
        if not store.exists_already:
            return None
        found = store.attributes
        if found["freshet_layout"] != layout.LAYOUT:
            raise KeyError
        issues, basins, leads = (np.asarray(_opened(store, name)[:]).tolist() for name in (ISSUE, BASIN, LEAD))
    return Contents(issues, basins, len(leads), found.get(_CHOSEN), bool(found["freshet_members"]))


def append(folder: Path, issue: Issue, sites: Mapping[str, Site], new: Contents) -> bool:
    """Append an issue, as a whole or not at all; create the archive if it is missing.

    Return whether it was appended: one that the archive holds already stays as it is. Of `new`, `chosen` and `members`
    hold for an archive that is created now.
    """
    from extensions.archive.staged_store import StagedStore

    with _alone(folder), _usable(folder):
        held = contents(folder)
        store = StagedStore(folder)
        if held is None:
            _create(store, new)
            held = new
        elif issue.issue in held.issues:
            return False
        basins = [*held.basins, *(basin for basin in issue.basins if basin not in held.basins)]
        arrays = WITH_MEMBERS if held.members else ARRAYS
        row = len(held.issues)
        _extend(store, arrays, issue, {ISSUE: row + 1, BASIN: len(basins)})
        _write_texts_and_times(store, issue, row, longer=issue.leads > held.leads)
        _write_basins(store, basins, len(held.basins), sites)
        for array in arrays:
            if array.has_shards:
                store.clear_row(array.name, row)
                _write_values(_opened(store, array.name), array, issue, row, basins)
        # An archive of an earlier Freshet may have settings that NetCDF does not allow.
        others = {name: value for name, value in store.attributes.items() if name != _CHOSEN}
        store.attributes = others | _settings(held) | {"issues": row + 1, "basins": len(basins)}
        store.commit()
        return True


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the archive against other writers; readers never wait."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _usable(folder: Path) -> Iterator[None]:
    """Raise `UnusableArchive` for what a store of other content, or with a chunk that cannot be decoded, raises."""
    try:
        yield
    except (KeyError, ValueError, RuntimeError, FileNotFoundError) as error:
        raise UnusableArchive(
            f"{folder} is not an archive of this version of Freshet, or is damaged ({excerpt(error)}): restore it, or "
            "name another folder."
        ) from error


def _settings(of: Contents) -> dict[str, Any]:
    """Return the settings of an archive as attributes that NetCDF allows: neither null nor true or false."""
    chosen = {} if of.chosen is None else {_CHOSEN: list(of.chosen)}
    return chosen | {"freshet_members": int(of.members)}


def _create(store: "StagedStore", new: Contents) -> None:
    import zarr
    from zarr.codecs import BloscCodec

    store.attributes = layout.global_attributes() | _settings(new)
    fixed = {layout.CALIBRATED_LEVEL: LEVELS, layout.LEVEL: QUANTILES}
    for array in WITH_MEMBERS if new.members else ARRAYS:
        created = zarr.create_array(
            store=store,
            name=array.name,
            shape=tuple(len(fixed.get(dimension, ())) for dimension in array.dimensions),
            dtype=str if array.kind == "text" else array.kind,
            chunks=array.chunks,
            shards=array.shards,
            compressors=BloscCodec(cname="zstd", clevel=5, shuffle="shuffle") if array.has_shards else "auto",
            fill_value=array.fill,
            dimension_names=array.dimensions,
            attributes=dict(array.attributes),
        )
        if array.name in fixed:
            created[:] = np.array(fixed[array.name])


def _extend(store: "StagedStore", arrays: Sequence[ArrayLayout], issue: Issue, lengths: dict[str, int]) -> None:
    members = [part.flow[layout.MEMBERS].shape[1] for part in issue.basins.values() if layout.MEMBERS in part.flow]
    wanted = lengths | {LEAD: issue.leads, MEMBER: max(members, default=0)}
    for array in arrays:
        opened = _opened(store, array.name)
        shape = tuple(
            max(length, wanted.get(dimension, 0))
            for dimension, length in zip(array.dimensions, opened.shape, strict=True)
        )
        if shape != opened.shape:
            opened.resize(shape)
            if array.name in (LEAD, MEMBER):
                opened[:] = np.arange(shape[0]) + (array.name == LEAD)


def _write_texts_and_times(store: "StagedStore", issue: Issue, row: int, *, longer: bool) -> None:
    """Write the fields of an issue; where it has more leads than any before, those get their later days too."""
    t0 = as_date(issue.t0).toordinal() - _EPOCH
    values = {"t0": t0, "issued_at": int(issue.issued_at.timestamp())}
    texts = (ISSUE, "version", "purpose", "forcing_kind", "weather")
    for name, value in (values | {name: getattr(issue, name) for name in texts}).items():
        _opened(store, name)[row : row + 1] = np.array([value])
    time, first = _opened(store, "time"), 0 if longer else row
    days = np.asarray(_opened(store, "t0")[first:])
    time[first:] = days[:, None] + 1 + np.arange(time.shape[1])


_EPOCH = as_date(np.datetime64("1970-01-01", "D")).toordinal()


def _write_basins(store: "StagedStore", basins: Sequence[str], first: int, sites: Mapping[str, Site]) -> None:
    new = basins[first:]
    if not new:
        return
    places = [sites.get(basin, Site(None, None, None)) for basin in new]
    values = {
        BASIN: np.array(new),
        "name": np.array([place.name or "" for place in places]),
        "latitude": np.array([place.latitude for place in places], np.float64),
        "longitude": np.array([place.longitude for place in places], np.float64),
    }
    for name, column in values.items():
        _opened(store, name)[first : len(basins)] = column


def _write_values(opened: "zarr.Array[Any]", array: ArrayLayout, issue: Issue, row: int, basins: Sequence[str]) -> None:
    """Write the values of an issue, the fill where it has none."""
    values = np.full(opened.shape[1:], array.fill, array.kind)
    for place, basin in enumerate(basins):
        part = issue.basins.get(basin)
        if part is None:
            continue
        if array.name in (STATUS, AREA):
            values[place] = part.status if array.name == STATUS else part.area_m2
        elif array.name in part.flow:
            flow = part.flow[array.name]
            values[place, : flow.shape[0], : flow.shape[1]] = flow
    opened[row] = values


def _opened(store: "StagedStore", name: str) -> "zarr.Array[Any]":
    import zarr

    return zarr.open_array(store, path=name, mode="r+")
