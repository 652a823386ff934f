"""Time series as they come and go, whatever the format."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from operations.fews.days import Days, Instants
from operations.fews.markup import Instant

Kind = Literal["accumulative", "mean", "instantaneous"]
MISSING, UNRELIABLE, DOUBTFUL = 9, 6, 3
"""Flags: 0 to 2 are reliable, from 3 on doubtful, from 6 on unreliable, 9 is missing."""


@dataclass(frozen=True, slots=True)
class Given:
    """A series of the forcing.

    Attributes:
        member: the label of an ensemble's member; None where it belongs to none.
        stamps: the end of each day, UTC.
        values: one a stamp, NaN where missing or unreliable.
        doubtful, unreliable: how many values were flagged so.
    """

    file: str
    location: str
    parameter: str
    kind: Kind
    units: str
    ensemble: str | None
    member: str | None
    stamps: Instants
    values: npt.NDArray[np.float64]
    doubtful: int = 0
    unreliable: int = 0


@dataclass(frozen=True, slots=True)
class Location:
    """A place of the output."""

    id: str
    name: str | None
    latitude: float | None
    longitude: float | None


@dataclass(frozen=True, slots=True)
class OutputQuantity:
    """A quantity of the output: values (locations, members, days), NaN where missing."""

    parameter: str
    kind: Kind
    units: str
    long_name: str
    values: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Output:
    """What a run tells.

    Attributes:
        time0: the `forecastDate`.
        ensemble: its name, where the forcing has one.
        members: their labels; (None,) where the forcing has none.
    """

    days: Days
    time0: Instant
    ensemble: str | None
    members: Sequence[str | None]
    locations: Sequence[Location]
    quantities: Sequence[OutputQuantity]
