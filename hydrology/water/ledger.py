"""The water balance as a ledger of signed terms, and whether it closes.

Incoming water is positive, outgoing or newly stored water is negative, so that the sum of a closed ledger is 0:
precipitation - discharge - loss - storage change [Hoedt et al. 2021, Theorem 1]. Water that a what-if run adds to a
store is a term of its own, the increment.

A ledger covers a span of days, so a leak that is small in every span would pass. Flows are therefore also summed since
the store was empty (`sums_after`), and these sums have a ledger of their own (`close_since_empty`).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.doc import Doc
from hydrology.base.errors import InvalidInput
from hydrology.base.reasons import Reason

PRECIPITATION = "precipitation"
FLOWS = (PRECIPITATION, "discharge", "loss")
TERMS = (*FLOWS, "storage change")
INCREMENT, ASSIMILATION = "increment", "assimilation"
"""Terms for water that a what-if run adds to a store before the first day, or takes from it: the amount requested, and
the amount from assimilating observed flow. Other ledgers have neither."""
Sums = Mapping[str, Array]
"""Each of the `FLOWS` since the store was empty, mm, (members,) in float64."""

MIN_MM = -1e-6
"""Lower bound of discharge, loss and storage: values below are negative beyond rounding."""
TOLERANCES = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-12}


@dataclass(frozen=True, slots=True)
class Scale:
    """The reference amount of a residual."""

    name: str
    formula: str
    tolerance: Annotated[float, Doc("Largest absolute residual, relative to the scale, of a closed balance.")]

    @property
    def unit(self) -> Annotated[Literal["mm"], Doc("Its unit.")]:
        return "mm"


WATER_AVAILABLE = Scale(
    "water available", "initial storage + precipitation over the span", TOLERANCES[np.dtype(np.float32)]
)
WATER_SINCE_EMPTY = Scale("water since the empty store", "precipitation since the store was empty", 5e-6)
"""Below the daily tolerance, to find a leak that just passes every day, and above honest rounding
(docs/look-up/measured.md)."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """The signed amounts of one member over one span of days, mm by term.

    The scale is initial storage plus precipitation; a |residual| / scale up to `tolerance` closes.
    """

    terms: Mapping[str, float]
    scale_mm: float
    tolerance: float

    @property
    def residual_mm(self) -> float:
        """Water that the terms do not account for. 0 in a perfect ledger, NaN where an amount is not finite."""
        amounts = self.terms.values()
        return math.fsum(amounts) if all(map(math.isfinite, amounts)) else math.nan

    @property
    def closes(self) -> bool:
        """Whether the residual is within tolerance. A ledger with a value that is not finite never closes."""
        return math.isfinite(self.scale_mm) and abs(self.residual_mm) <= self.tolerance * self.scale_mm


@dataclass(frozen=True, slots=True)
class Ledgers:
    """The ledgers of many members: signed amounts (members, terms) in mm, float64, and scales (members,)."""

    terms: tuple[str, ...]
    amounts: Array
    scale_mm: Array
    tolerance: float

    @property
    def residual_mm(self) -> Array:
        """Unaccounted water of each ledger, (members,)."""
        return np.asarray(self.amounts.sum(axis=1))

    @property
    def relative(self) -> Array:
        """Each |residual| / scale, (members,). Infinite where there has been no water, or one is not finite."""
        return _relative(self.residual_mm, self.scale_mm)

    def of(self, member: int) -> Ledger:
        """Return the ledger of one member."""
        terms = dict(zip(self.terms, self.amounts[member].tolist(), strict=True))
        return Ledger(terms, float(self.scale_mm[member]), self.tolerance)

    def each(self) -> tuple[Ledger, ...]:
        """Return the ledger of every member."""
        return tuple(self.of(member) for member in range(len(self.amounts)))


def tolerance_of(dtype: npt.DTypeLike) -> float:
    """Return the relative tolerance for a floating-point type: 1e-5 in float32, 1e-12 in float64."""
    try:
        return TOLERANCES[np.dtype(dtype)]
    except KeyError:
        raise InvalidInput(
            f"No closure tolerance is stated for {np.dtype(dtype)}: compute in float32 or float64."
        ) from None


def close(
    precipitation: npt.ArrayLike,
    discharge: npt.ArrayLike,
    loss: npt.ArrayLike,
    storage_before: npt.ArrayLike,
    storage_after: npt.ArrayLike,
    *,
    dtype: npt.DTypeLike,
    booked: Mapping[str, npt.ArrayLike] | None = None,
) -> Ledgers:
    """Return the ledgers of members over all days, summed in float64.

    Precipitation, discharge and loss are (members, days) in mm/day, storage (members,) in mm before the first day and
    at the end of the last.

    Args:
        dtype: the type in which the network computed, which sets the tolerance.
        booked: mm added to each store between `storage_before` and the first day, (members,) or one for all, by the
            name of the term.
    """
    tolerance = tolerance_of(dtype)
    rain, runoff, lost = _flows(precipitation, discharge, loss)
    before, after = (_of_shape(s, rain.shape[:1], "storage") for s in (storage_before, storage_after))
    return _ledgers(rain.sum(axis=1), runoff.sum(axis=1), lost.sum(axis=1), before, after, tolerance, booked=booked)


def sums_after(
    before: Sums | None, precipitation: npt.ArrayLike, discharge: npt.ArrayLike, loss: npt.ArrayLike
) -> dict[str, Array]:
    """Add days, (members, days) in mm/day, to the sums since the empty store (None before the first).

    Days are added one by one in float64, so that the sums have the same bits however the days are split.
    """
    flows = dict(zip(FLOWS, _flows(precipitation, discharge, loss), strict=True))
    with np.errstate(invalid="ignore"):
        return {
            name: np.column_stack([np.zeros(len(days)) if before is None else before[name], days]).cumsum(axis=1)[:, -1]
            for name, days in flows.items()
        }


def close_since_empty(sums: Sums, storage: npt.ArrayLike) -> tuple[Ledger, ...]:
    """Return the ledger of each member since its store was empty, with its storage now, (members,) in mm, float32."""
    rain, runoff, lost = (sums[name] for name in FLOWS)
    stored = _of_shape(storage, rain.shape, "storage")
    return _ledgers(rain, runoff, lost, np.zeros_like(stored), stored, WATER_SINCE_EMPTY.tolerance).each()


def negative_water(discharge: npt.ArrayLike, loss: npt.ArrayLike, storage: npt.ArrayLike) -> dict[int, Absent]:
    """Return the members with negative water, and describe the negative quantity of each.

    The first axis is the member; mm/day, mm/day and mm. Rounding (`MIN_MM`) is allowed.
    """
    faults: dict[int, Absent] = {}
    for name, values, unit in (
        ("discharge", discharge, "mm/day"),
        ("loss", loss, "mm/day"),
        ("storage", storage, "mm"),
    ):
        array = np.asarray(values, dtype=np.float64)
        lowest = array.reshape(len(array), -1).min(axis=1, initial=0.0)
        for member in np.flatnonzero(lowest < MIN_MM).tolist():
            fault = absent(Reason.NEGATIVE_WATER, quantity=name, lowest=float(lowest[member]), unit=unit)
            faults.setdefault(member, fault)
    return faults


def worst_relative_residual(
    precipitation: npt.ArrayLike,
    discharge: npt.ArrayLike,
    loss: npt.ArrayLike,
    storage_before: npt.ArrayLike,
    storage: npt.ArrayLike,
) -> Array:
    """Return each member's largest |residual| / scale over the ledgers of every day τ, shape (members,).

    Flows are (members, days) in mm/day, storage (members,) in mm before the first day and (members, days) at the end of
    every day. A residual where there has been no water at all, and any value that is not finite, count as infinite.
    """
    rain, runoff, lost = _flows(precipitation, discharge, loss)
    before = _of_shape(storage_before, rain.shape[:1], "storage_before")[:, np.newaxis]
    stored = _of_shape(storage, rain.shape, "storage")
    with np.errstate(invalid="ignore"):
        residual = before + (rain - runoff - lost).cumsum(axis=1) - stored
    return np.asarray(_relative(residual, before + rain.cumsum(axis=1)).max(axis=1, initial=0.0))


def _relative(residual: Array, scale: Array) -> Array:
    """Return |residual| / scale; infinite where there has been no water, or one is not finite."""
    with np.errstate(invalid="ignore", divide="ignore"):
        relative = np.where(residual == 0, 0.0, np.abs(residual) / scale)
    return np.where(np.isfinite(relative) & np.isfinite(scale), relative, np.inf)


def _ledgers(
    precipitation: Array,
    discharge: Array,
    loss: Array,
    before: Array,
    after: Array,
    tolerance: float,
    *,
    booked: Mapping[str, npt.ArrayLike] | None = None,
) -> Ledgers:
    """Return the ledgers of members, all amounts in mm and (members,)."""
    with np.errstate(invalid="ignore"):
        rows = dict(zip(TERMS, (precipitation, -discharge, -loss, -(after - before)), strict=True))
        available = before + precipitation
        for name, amount in (booked or {}).items():
            rows[name] = np.broadcast_to(np.asarray(amount, dtype=np.float64), before.shape)
            available = available + rows[name]
        return Ledgers(tuple(rows), np.stack([*rows.values()], axis=1), available, tolerance)


def _flows(precipitation: npt.ArrayLike, discharge: npt.ArrayLike, loss: npt.ArrayLike) -> tuple[Array, ...]:
    rain = np.asarray(precipitation, dtype=np.float64)
    if rain.ndim != 2:
        raise InvalidInput(f"precipitation must have shape (members, days); it has {rain.shape}.")
    return rain, _of_shape(discharge, rain.shape, "discharge"), _of_shape(loss, rain.shape, "loss")


def _of_shape(values: npt.ArrayLike, shape: tuple[int, ...], name: str) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise InvalidInput(f"{name} must have shape {shape} to fit the precipitation; it has {array.shape}.")
    return array
