"""Grids in GRIB2: messages of one field each, in any order and number of files [eccodes, Apache-2.0]."""

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedReader
from typing import Any

import numpy as np

from extensions.grid.cells import Axes, BasinWeights, mean_of
from extensions.grid.days import Field
from extensions.grid.quantities import ELEVATION, FLUXES, QUANTITY_OF, TMAX, TMIN, UNITS, spelt
from hydrology.base.errors import excerpt
from ingestion.base import SourceError
from ingestion.netcdf import Instants

_HEADER = struct.Struct(">4s2sBBQ12xH5B")  # section 0, and section 1 as far as the reference time
MAX_MESSAGE = 2**28  # bytes
_MEND = "fetch the file again"
_EXTREMES = {("2t", "max"): TMAX, ("2t", "min"): TMIN}
_LEVELS = ("surface", "heightAboveGround")
Get = Callable[..., Any]
"""Returns the value of a key of a message, as `_value` does."""


class GribFile:
    """The messages of a file on one grid, of one run or of observations.

    Attributes: as of `extensions.grid.datasets.GridDataset`.
    """

    issued = None

    def __init__(self, file: str, opened: BufferedReader) -> None:
        self._file, self._opened = file, opened
        self._messages = [*self._scan()]
        self.reference = max(reference for _, _, reference in self._messages)
        with self._message(*self._messages[0][:2]) as get:
            self.axes = self._axes(get)
            self.source = str(get("centre"))
            self.model = f"{self.source}-{get('generatingProcessIdentifier')}"

    def _scan(self) -> Iterator[tuple[int, int, np.datetime64]]:
        """Yield begin and length of each message, and the reference time."""
        at = 0
        while header := self._opened.read(_HEADER.size):
            if len(header) < _HEADER.size or header[:4] != b"GRIB":
                raise SourceError(self._file, f"is not GRIB, or is damaged (byte {at})", _MEND)
            _, _, _, edition, length, *reference = _HEADER.unpack(header)
            if edition != 2:
                raise SourceError(self._file, f"is of GRIB {edition}", "convert it (grib_set -s edition=2)")
            if not _HEADER.size < length <= MAX_MESSAGE:
                raise SourceError(self._file, f"has a message of {length} bytes (byte {at})", _MEND)
            try:
                yield at, length, np.datetime64("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}".format(*reference), "s")
            except ValueError:
                raise SourceError(self._file, f"has a message without a reference time (byte {at})", _MEND) from None
            at += length
            self._opened.seek(at)
        if at == 0:
            raise SourceError(self._file, "is empty", _MEND)

    @contextmanager
    def _message(self, at: int, length: int) -> Iterator[Get]:
        """Give what reads a message's keys; SourceError where they cannot be read."""
        import eccodes

        self._opened.seek(at)
        handle = None
        try:
            handle = eccodes.codes_new_from_message(self._opened.read(length))
            eccodes.codes_set(handle, "stepUnits", "s")
            yield partial(_value, handle)
        except (eccodes.CodesInternalError, ValueError) as error:
            raise SourceError(self._file, f"has a damaged message (byte {at}): {excerpt(str(error))}", _MEND) from error
        finally:
            if handle is not None:
                eccodes.codes_release(handle)

    def _axes(self, get: Get) -> Axes:
        scans = [get(name) for name in ("iScansNegatively", "jPointsAreConsecutive", "alternativeRowScanning")]
        if get("gridType") != "regular_ll" or any(scans):
            cause = f"is on a grid {excerpt(str(get('gridType')))}, or its rows do not run from west to east"
            raise SourceError(self._file, cause, "interpolate it to a regular grid of degrees (cdo remapbil)")
        first, last, east = (
            get(f"{name}InDegrees")
            for name in ("latitudeOfFirstGridPoint", "latitudeOfLastGridPoint", "longitudeOfFirstGridPoint")
        )
        latitudes = np.linspace(first, last, get("Nj"))
        return Axes.of(self._file, latitudes, east + get("iDirectionIncrementInDegrees") * np.arange(get("Ni")))

    def fields(self, weights: BasinWeights, wanted: Instants | None) -> Iterator[Field]:
        """Yield the means of basins of every message: of the run, or `wanted`, between two instants."""
        for at, length, reference in self._messages:
            if wanted is None and reference != self.reference:
                continue
            with self._message(at, length) as get:
                yield from self._field(get, weights, reference, wanted)

    def _field(
        self, get: Get, weights: BasinWeights, reference: np.datetime64, wanted: Instants | None
    ) -> Iterator[Field]:
        name, step_type = str(get("shortName")), str(get("stepType"))
        quantity = _EXTREMES.get((name, step_type), QUANTITY_OF.get(name))
        begin, end = (reference + np.timedelta64(get(key, kind=int), "s") for key in ("startStep", "endStep"))
        is_outside = wanted is not None and not (end >= wanted[0] and begin <= wanted[1])
        is_empty = quantity in FLUXES and begin == end
        if quantity is None or get("typeOfLevel") not in _LEVELS or is_empty or (is_outside and quantity != ELEVATION):
            return
        unit = UNITS[quantity].get(spelt(get("units")))
        if unit is None:
            raise SourceError(self._file, f"has {name} in {get('units')}, not a unit of {quantity}", "convert it")
        values = get("values")
        if len(values) != weights.matrix.shape[1] or self._axes(get).digest != self.axes.digest:
            raise SourceError(self._file, f"has {name} on another grid than its first message", "give each grid a file")
        if get("bitmapPresent"):
            values = np.where(values == get("missingValue"), np.nan, values)
        means = mean_of(*weights.sums(values[:, None]))[:, 0] * unit.scale + unit.offset
        key = name if QUANTITY_OF[name] == quantity else quantity
        yield Field(key, str(get("number", 0)), (begin, end), means.astype(np.float32), unit.is_rate)


def _value(handle: Any, key: str, default: Any = None, kind: type | None = None) -> Any:
    import eccodes

    if default is not None and not eccodes.codes_is_defined(handle, key):
        return default
    return eccodes.codes_get_values(handle) if key == "values" else eccodes.codes_get(handle, key, kind)
