"""Values of spans of time as values of days: accumulations taken apart by step, then added up by overlap."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from extensions.grid.quantities import FLUXES, PRECIPITATION, RADIATION
from hydrology.base.arrays import Array
from hydrology.base.errors import DataProblem
from ingestion.netcdf import Instants

Span = tuple[np.datetime64, np.datetime64]
"""Begin and end, UTC, to the second; an instant ends when it begins."""
Means = Mapping[Span, Array]
"""Means of basins (basins,) by span."""


class Field(NamedTuple):
    """Means of basins (basins,) at a span, in our units, a rate per second; its name stands for a quantity."""

    name: str
    member: str
    span: Span
    values: Array
    is_rate: bool


_ROUNDING = {PRECIPITATION: 0.05, RADIATION: 5_000.0}  # mm, J/m2: of amounts as models pack them
_RELATIVE_ROUNDING = 1e-3
_EXTREMES = {"max": np.fmax, "min": np.fmin}


class ImpossibleAmounts(DataProblem):
    """An amount falls as its span goes on, or spans of amounts overlap."""


@dataclass(frozen=True, slots=True)
class Steps:
    """A quantity at consecutive spans: values (members, spans, basins), NaN where missing; spans (spans, 2)."""

    members: tuple[str, ...]
    spans: Instants
    values: Array

    @property
    def longest(self) -> float:
        """The length of the longest span, s."""
        return float(seconds(self.spans[:, 1] - self.spans[:, 0]).max())

    def of(self, members: Sequence[str], basins: Sequence[int]) -> "Steps":
        """Return those of some members and basins."""
        chosen = self.values[[self.members.index(label) for label in members]]
        return Steps(tuple(members), self.spans, chosen[..., list(basins)])

    def days(self, how: str, bounds: Instants) -> Array:
        """Return values (members, days, basins) of the days between bounds, NaN where a day is not whole.

        `how` is `sum`, `mean`, `max` or `min`. An amount is spread evenly over its span; an extreme is of the days that
        hold half of its span.
        """
        (begins, ends), (firsts, lasts) = self.spans.T, (bounds[:-1, None], bounds[1:, None])
        overlap = seconds(np.minimum(ends, lasts) - np.maximum(begins, firsts)).clip(0)
        lengths, known = seconds(ends - begins), ~np.isnan(self.values)
        whole = np.matmul(overlap, known) >= seconds(np.diff(bounds))[:, None] - 0.5
        filled = np.where(known, self.values, 0)
        if how in _EXTREMES:
            mostly = overlap >= lengths / 2
            nothing = np.full((len(self.values), self.values.shape[2]), np.nan)
            parts = [
                _EXTREMES[how].reduce(self.values[:, of_day], axis=1) if of_day.any() else nothing for of_day in mostly
            ]
            values = np.stack(parts, axis=1)
        elif how == "sum":
            values = np.matmul(overlap / lengths, filled)
        else:
            values = np.matmul(overlap / seconds(np.diff(bounds))[:, None], filled)
        return np.where(whole, values, np.nan)


def consecutive(
    quantity: str, by_member: Mapping[str, Means], basins: Sequence[str], since: np.datetime64, *, is_rate: bool
) -> tuple[Steps, list[str]]:
    """Return a quantity at consecutive spans, amounts taken apart where they begin together; and what is missing.

    A span that most members lack is left out, and so is a member that lacks another; both are in words. `since` is the
    time that steps are counted from, in words; ImpossibleAmounts where one falls by more than rounding.
    """
    spans, notes = _common_spans(quantity, by_member, since)
    members = sorted((label for label, means in by_member.items() if means.keys() >= {*spans}), key=int)
    for label in [label for label in by_member if label not in members]:
        lacking = next(span for span in spans if span not in by_member[label])
        notes.append(f"{quantity}: member {label} lacks {_step(lacking[1], since)}, and is left out.")
    if not members:
        raise ImpossibleAmounts(f"{quantity}: no member has every step: fetch the run again.")
    values = np.stack([np.stack([by_member[label][span] for span in spans]) for label in members]).astype(np.float64)
    table = _with_ends(np.array(spans, dtype="datetime64[s]"))
    begins, ends = table[:, 0].copy(), table[:, 1]
    if is_rate:
        values *= seconds(ends - begins)[:, None]
    together = np.append(False, begins[1:] == begins[:-1])
    table[1:, 0] = np.maximum(begins[1:], ends[:-1])
    if quantity in FLUXES:
        if (overlapping := (table[:, 0] > begins) & ~together).any():
            at = _step(ends[int(overlapping.argmax())], since)
            raise ImpossibleAmounts(f"{quantity}: {at} overlaps the one before: give each span of time once.")
        before = np.where(together[:, None], np.roll(values, 1, axis=1), 0)
        _refuse_falls(quantity, members, values, before, [_step(end, since) for end in ends], basins)
        values = (values - before).clip(0)
    followed = zip(ends[:-1], table[1:, 0], strict=True)
    gaps = [f"{_step(end, since)} to {_step(begin, since)}" for end, begin in followed if begin > end]
    notes += [f"{quantity}: there is nothing from {gap}." for gap in gaps]
    return Steps(tuple(members), table, values), notes


def _common_spans(quantity: str, by_member: Mapping[str, Means], since: np.datetime64) -> tuple[list[Span], list[str]]:
    """Return the spans of most members, in order, of several with one end the shortest."""
    counts = Counter(span for means in by_member.values() for span in means)
    rare = [span for span, count in counts.items() if 2 * count < len(by_member)]
    by_end = {end: (begin, end) for begin, end in sorted(counts.keys() - {*rare})}
    notes = [f"{quantity}: most members lack {_step(end, since)}: it is left out." for _, end in sorted(rare)]
    return [by_end[end] for end in sorted(by_end)], notes


def _with_ends(spans: Instants) -> Instants:
    """Let each instant stand until the next, but no longer than a later one does: steps of a run grow."""
    if len(spans) > 1 and (spans[:, 0] == spans[:, 1]).all():
        lengths = np.minimum.accumulate(np.diff(spans[:, 0])[::-1])[::-1]
        return np.column_stack([spans[:, 0], spans[:, 0] + np.append(lengths, lengths[-1:])])
    return spans


def _refuse_falls(
    quantity: str, members: Sequence[str], values: Array, before: Array, names: Sequence[str], basins: Sequence[str]
) -> None:
    falls = before - values > _ROUNDING[quantity] + _RELATIVE_ROUNDING * before
    for member, step, basin in np.argwhere(falls)[:1]:
        raise ImpossibleAmounts(
            f"{quantity} of member {members[member]} falls at {names[step]}, from {before[member, step, basin]:g} to "
            f"{values[member, step, basin]:g} {'mm' if quantity == PRECIPITATION else 'J/m2'} at {basins[basin]}, and "
            "an amount since the beginning never does. Fetch the run again; or, where each amount is since the step "
            "before, state that by bounds of the times."
        )


def _step(end: np.datetime64, since: np.datetime64) -> str:
    return f"step {seconds(end - since) / 3_600:g} h ({end}Z)"


def seconds(durations: Any) -> Array:
    """Return durations in seconds."""
    return np.asarray(durations.astype("timedelta64[s]").astype(np.float64))
