"""Input and output time series, independent of their format."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from operations.fews.days import Days, Instants
from operations.fews.markup import Instant

Kind = Literal["accumulative", "mean", "instantaneous"]
MISSING, UNRELIABLE, DOUBTFUL = 9, 6, 3
"""Flags: 0 to 2 reliable, from 3 doubtful, from 6 unreliable, 9 missing."""


@dataclass(frozen=True, slots=True)
class Given:
    """A series of the forcing.

    Attributes:
        member: the label of the ensemble member; None where it belongs to none.
        stamps: the end of each day, UTC.
        values: one per stamp, NaN where missing or unreliable.
        doubtful, unreliable: number of values with that flag.
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
    """A location of the output."""

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
    """The output of a run.

    Attributes:
        time0: the `forecastDate`.
        ensemble: the name of the forcing's ensemble, if any.
        members: their labels; (None,) without an ensemble.
    """

    days: Days
    time0: Instant
    ensemble: str | None
    members: Sequence[str | None]
    locations: Sequence[Location]
    quantities: Sequence[OutputQuantity]
