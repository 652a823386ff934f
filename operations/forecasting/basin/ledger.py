"""The ledgers of a basin's forecast, and whether they allow it to be issued."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.reasons import Reason
from hydrology.water.ledger import PRECIPITATION, Ledgers, close_since_empty, close_together, negative_water
from operations.forecasting.basin.inputs import SimulatedBasin, flattened, stored
from operations.forecasting.simulate import StorageResult
from records.runs import run_arrays, run_types
from records.runs.run_arrays import SinceEmpty


@dataclass(frozen=True, slots=True)
class Verdict:
    """The ledger of each member, with traces also as an array of all, and why the basin is withheld; None if not."""

    ledgers: Sequence[run_arrays.Ledger] = ()
    series: Sequence[run_arrays.RunSeries] = ()
    reason: Absent | None = None


def verdict(computed: SimulatedBasin) -> Verdict:
    """Close the ledgers of the days ahead; a network whose cells hold no water has none."""
    water = computed.flow.water
    if water is None:
        return Verdict()
    closed = _closed(computed, water)
    ledgers = _ledgers(computed, closed)
    series = [] if computed.traces is None else [_ledger_series(computed, closed)]
    if computed.weights is not None:
        ledgers.append(version_ledger(computed, computed.weights, closed, ledgers))
    return Verdict(ledgers, series, _why_open(ledgers) or _why_negative(computed, water))


def _closed(computed: SimulatedBasin, water: StorageResult) -> Ledgers:
    rain = computed.rain_of_members
    before = np.repeat(stored(computed.at_t0.archived)[:, np.newaxis], rain.shape[1], axis=1)
    flows_and_stores: list[npt.NDArray[Any]] = [rain, computed.flow.discharge, water.loss, before, water.at_end]
    booked = {name: np.repeat(amounts, rain.shape[1]) for name, amounts in computed.at_t0.booked.items()}
    return close_together(*map(flattened, flows_and_stores), dtype=np.float32, booked=booked)


def _ledger_series(computed: SimulatedBasin, closed: Ledgers) -> run_arrays.RunSeries:
    entries = [*closed.amounts.T, closed.residual_mm, closed.tolerance * closed.scale_mm]
    of_entry = (*closed.terms, *run_types.CLOSURE)
    axes = {"entry": of_entry, "member": computed.labels, "trace": computed.traces or ()}
    values = np.stack(entries).astype(np.float32).reshape([len(labels) for labels in axes.values()])
    return run_arrays.RunSeries(run_arrays.LEDGER, "mm", axes, values)


def _ledgers(computed: SimulatedBasin, closed: Ledgers) -> list[run_arrays.Ledger]:
    labels, traces = computed.labels, computed.traces
    of_members = closed.relative.reshape(len(labels), -1)
    archived = computed.at_t0.archived
    assert archived.sums is not None  # where there are ledgers, the network conserves mass
    since_empty = [
        SinceEmpty(residual_mm=ledger.residual_mm, precipitation_mm=ledger.scale_mm)
        for ledger in close_since_empty(archived.sums, stored(archived))
    ]
    ledgers = []
    for member, (label, trace) in enumerate(zip(labels, of_members.argmax(axis=1).tolist(), strict=True)):
        ledger = closed.of(member * of_members.shape[1] + trace)
        ledgers.append(
            run_arrays.Ledger(
                member=label,
                terms={term.name: term.amount_mm for term in ledger.terms},
                residual_mm=ledger.residual_mm,
                tolerance_mm=ledger.tolerance * ledger.scale_mm,
                since_empty=since_empty[member],
                trace=None if traces is None else traces[trace],
            )
        )
    return ledgers


def version_ledger(
    computed: SimulatedBasin, weights: Array, closed: Ledgers, of_members: Sequence[run_arrays.Ledger]
) -> run_arrays.Ledger:
    """Return the ledger of a combined version: the weighted mean over its members, with the precipitation of each
    product as a term of its own, times the weight of its parts."""
    count = len(computed.labels)
    amounts = closed.amounts.reshape(count, -1, len(closed.terms)).mean(axis=1)
    terms = dict(zip(closed.terms, weights @ amounts, strict=True))
    rain = weights * amounts[:, closed.terms.index(PRECIPITATION)]
    del terms[PRECIPITATION]
    of_product: dict[str, float] = {}
    for label, amount in zip(_product_of_members(computed), rain.tolist(), strict=True):
        name = f"{PRECIPITATION} of {label}"
        of_product[name] = of_product.get(name, 0.0) + amount
    of_terms = {name: float(amount) for name, amount in {**of_product, **terms}.items()}
    scale = float(weights @ closed.scale_mm.reshape(count, -1).mean(axis=1))
    since_empty = {
        name: float(weights @ [getattr(ledger.since_empty, name) for ledger in of_members])
        for name in ("residual_mm", "precipitation_mm")
    }
    return run_arrays.Ledger(
        member=run_arrays.OF_VERSION,
        terms=of_terms,
        residual_mm=math.fsum(of_terms.values()),
        tolerance_mm=closed.tolerance * scale,
        since_empty=SinceEmpty(**since_empty),
    )


def _product_of_members(computed: SimulatedBasin) -> list[str]:
    return [one.part.product for one in computed.parts for _ in one.part.members]


def _why_open(ledgers: list[run_arrays.Ledger]) -> Absent | None:
    names = [_name(ledger.member, ledger.trace) for ledger in ledgers if not ledger.closes]
    return absent(Reason.LEDGER_OPEN, members=", ".join(names)) if names else None


def _why_negative(computed: SimulatedBasin, water: StorageResult) -> Absent | None:
    discharge, loss, lowest = (flattened(part) for part in (computed.flow.discharge, water.loss, water.lowest))
    for row, fault in negative_water(discharge, loss, lowest).items():
        member, trace = divmod(row, water.loss.shape[1])
        traces = computed.traces
        name = _name(computed.labels[member], None if traces is None else traces[trace])
        return absent(Reason.LEDGER_WRONG, member=name, fault=fault)
    return None


def _name(member: str, trace: str | None) -> str:
    return member if trace is None else f"{member} with trace {trace}"
