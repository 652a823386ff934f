"""Layout of the archive: its arrays with their dimensions, chunks and CF attributes. The one declaration of them.

An issue is a run. The values of an issue are shards of their own, so that an appended issue rewrites none. Texts and
times of issues and basins are small and stand together, 1024 a chunk; such a chunk is replaced as a whole when it
grows, and what it held before stays the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hydrology.uncertainty.error_model import LEVELS
from records.runs.run_types import QUANTILES
from runtime.release import code_version

LAYOUT = 1
"""Version of the layout. A store of another one is refused."""
ISSUE, BASIN, LEAD, MEMBER = "issue", "basin", "lead_days", "realization"
CALIBRATED_LEVEL, LEVEL = "calibrated_quantile", "discharge_quantile"
CALIBRATED, DISCHARGE, MEMBERS = "calibrated", "discharge", "members"
STATUS, AREA = "status", "area"

_TOGETHER = 1024
_CHUNKS = {ISSUE: 1, BASIN: 16, LEAD: 16, MEMBER: 64, CALIBRATED_LEVEL: len(LEVELS), LEVEL: len(QUANTILES)}
"""Length of the chunks of values along each dimension."""
_SHARDS = _CHUNKS | {BASIN: 512}
"""Length of the shards of values: a basin is read by itself from the file of an issue."""

Kind = Literal["float32", "float64", "int8", "int32", "int64", "text"]
NOT_HERE, ISSUED, UNCALIBRATED, SPINNING_UP, WITHOUT_AREA, WITHHELD, FAILED = STATUSES = (
    "not_in_this_issue",
    "issued",
    "issued_uncalibrated",
    "issued_spinning_up",
    "issued_without_area",
    "withheld",
    "failed",
)
"""Meaning of each value of `status`."""


@dataclass(frozen=True, slots=True)
class ArrayLayout:
    """Layout of an array, with attributes of the CF conventions; missing is NaN, or an empty text."""

    name: str
    dimensions: tuple[str, ...]
    kind: Kind
    attributes: Mapping[str, Any]

    @property
    def has_shards(self) -> bool:
        """Whether it holds values by issue and basin."""
        return self.dimensions[:2] == (ISSUE, BASIN)

    @property
    def chunks(self) -> tuple[int, ...]:
        lengths = _CHUNKS if self.has_shards else dict.fromkeys(_CHUNKS, _TOGETHER) | {LEAD: _CHUNKS[LEAD]}
        return tuple(lengths[dimension] for dimension in self.dimensions)

    @property
    def shards(self) -> tuple[int, ...] | None:
        """Length of a shard along each dimension. None without shards."""
        return tuple(_SHARDS[dimension] for dimension in self.dimensions) if self.has_shards else None

    @property
    def fill(self) -> Any:
        """The value where nothing is stored."""
        return "" if self.kind == "text" else np.nan if self.kind.startswith("float") else 0


_DAYS = {"units": "days since 1970-01-01", "calendar": "standard"}
_SECONDS = {"units": "seconds since 1970-01-01", "calendar": "standard"}
_FLOW = {
    "standard_name": "water_volume_transport_in_river_channel",
    "units": "m3 s-1",
    "cell_methods": f"time: mean (interval: 1 day comment: of the day that begins at time) {BASIN}: point",
    "coordinates": "time t0 issued_at latitude longitude",
    "ancillary_variables": STATUS,
}
_SHARE = {"long_name": "share of the distribution at or below the value", "units": "1"}


def _text(name: str, dimension: str, meaning: str, **more: str) -> ArrayLayout:
    return ArrayLayout(name, (dimension,), "text", {"long_name": meaning, **more})


ARRAYS = (
    _text(ISSUE, ISSUE, "identifier of the run"),
    _text(BASIN, BASIN, "identifier of the basin", cf_role="timeseries_id"),
    ArrayLayout(
        LEAD,
        (LEAD,),
        "int32",
        {"standard_name": "forecast_period", "long_name": "days since t0", "units": "day"},
    ),
    ArrayLayout(CALIBRATED_LEVEL, (CALIBRATED_LEVEL,), "float64", _SHARE),
    ArrayLayout(LEVEL, (LEVEL,), "float64", _SHARE),
    ArrayLayout(
        "t0",
        (ISSUE,),
        "int32",
        {
            "standard_name": "forecast_reference_time",
            "long_name": "beginning of the last day of weather in the initial state",
            **_DAYS,
        },
    ),
    ArrayLayout("issued_at", (ISSUE,), "int64", {"long_name": "when the run was issued", **_SECONDS}),
    ArrayLayout(
        "time",
        (ISSUE, LEAD),
        "int32",
        {"standard_name": "time", "long_name": "beginning of the valid day", **_DAYS},
    ),
    _text("version", ISSUE, "identifier of the model version"),
    _text("purpose", ISSUE, "operational, late (issued after its day), or a reforecast that was computed later"),
    _text("forcing_kind", ISSUE, "kind of weather after t0"),
    _text("weather", ISSUE, "weather model after t0, if it is a forecast"),
    _text("name", BASIN, "name of the gauge"),
    *(
        ArrayLayout(name, (BASIN,), "float64", {"standard_name": name, "long_name": f"{name} of the gauge", "units": u})
        for name, u in (("latitude", "degrees_north"), ("longitude", "degrees_east"))
    ),
    ArrayLayout(
        STATUS,
        (ISSUE, BASIN),
        "int8",
        {
            "long_name": "outcome of the run for the basin: why there are no values",
            "flag_values": list(range(len(STATUSES))),
            "flag_meanings": " ".join(STATUSES),
        },
    ),
    ArrayLayout(
        AREA,
        (ISSUE, BASIN),
        "float64",
        {"long_name": "drainage area that depths are taken over", "units": "m2"},
    ),
    ArrayLayout(
        CALIBRATED,
        (ISSUE, BASIN, LEAD, CALIBRATED_LEVEL),
        "float32",
        {"long_name": "discharge corrected by past errors and the last observed flow", **_FLOW},
    ),
    ArrayLayout(
        DISCHARGE,
        (ISSUE, BASIN, LEAD, LEVEL),
        "float32",
        {"long_name": "discharge of the members (and traces), not calibrated", **_FLOW},
    ),
)
WITH_MEMBERS = (
    *ARRAYS,
    ArrayLayout(
        MEMBER,
        (MEMBER,),
        "int32",
        {
            "standard_name": "realization",
            "long_name": (
                "place of the member in its issue and basin; with traces of weather, all traces of a member follow one "
                "another. Another version, or a combined version without one of its parts, has another network there"
            ),
            "units": "1",
        },
    ),
    ArrayLayout(
        MEMBERS,
        (ISSUE, BASIN, LEAD, MEMBER),
        "float32",
        {"long_name": "discharge of each member (and trace), not calibrated", **_FLOW},
    ),
)
"""The arrays of a store that was created with members."""


def global_attributes() -> dict[str, Any]:
    """Return the attributes of the store as a whole."""
    return {
        "Conventions": "CF-1.8",
        "title": "River forecasts: daily issues and reforecasts",
        "source": f"Freshet {code_version()}",
        "comment": (
            "An issue is a run: a correction is a new issue, and none ever changes. Issues stand in the order in "
            "which they were appended; t0 gives the order in time. Floating-point values are NaN where missing, and "
            "status gives the reason. A day is as its source defines it, from midnight to midnight there."
        ),
        "freshet_layout": LAYOUT,
    }
