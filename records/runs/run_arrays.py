"""Arrays of a run for a basin and ledgers of its members, packed for storage.

What is stored for ever and what goes with the members are packed apart when the run is stored, so that pruning deletes
rows and computes nothing. Runs from before that have all arrays in one pack, until they are pruned.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from hydrology.base.doc import Doc
from hydrology.uncertainty.error_model import LEVELS, MAX_GAP
from hydrology.uncertainty.weighted import weighted_mean
from hydrology.water.ledger import WATER_AVAILABLE
from records.database.array_codec import Labelled, decode_ranks, encode_ranks, is_whole, pack, unpack
from records.database.base import document
from records.runs.run_weather import RunPart, weights_of_members

CALIBRATED = "discharge_calibrated"
"""The array of calibrated discharge quantiles, if there are any."""
PATHS = "discharge_paths"
"""The array of equally likely paths of calibrated discharge (`hydrology.uncertainty.error_paths`)."""
OF_WEATHER = "discharge_of_weather"
"""The array of each weather model's own calibrated quantiles, where a forecast mixes several."""
CALIBRATIONS = (CALIBRATED, OF_WEATHER)
CHANGES = "discharge_changes"
"""The array of the parts of the change since the previous run (`hydrology.attribution`)."""
OF_VERSION = "version"
"""The member of the ledger of a combined version: the weighted mean of its members' ledgers."""
Numbers = npt.NDArray[Any]
_LEDGERS = "ledgers"
_NUMBERS = ("residual", "tolerance", "residual since empty", "precipitation since empty")
_PARTS = ("rank", "last bits")


@dataclass(frozen=True, slots=True)
class RunSeries:
    """An array of a run.

    Attributes:
        variable: `discharge`, `discharge_quantiles`, `discharge_calibrated`, `discharge_paths`, `storage`, `snow`,
            `snow_spread`, `loss`, `precipitation`, `cells_at_t0`, `discharge_by_origin`, `discharge_by_age`,
            `discharge_variance`, `discharge_changes`, `discharge_of_weather`, `peaks_by_rain`, `error_shifts`,
            `ledger`. With traces of weather, `discharge` is of every member and trace; `storage`, `snow` and `loss` are
            the members' mean of every trace.
        axes: the labels of each axis by its name, in the order of the array's axes.
    """

    variable: str
    unit: str
    axes: Mapping[str, Sequence[Any]]
    values: npt.NDArray[Any]


@document
class SinceEmpty:
    """The residual of one member since its store was empty."""

    residual_mm: Annotated[float, Doc("Precipitation - discharge - loss - storage at T0, mm.")]
    precipitation_mm: Annotated[float, Doc("Precipitation since the store was empty, mm, the reference amount.")]

    @property
    def relative(self) -> Annotated[float, Doc("Residual divided by scale; 0 where no rain has fallen.")]:
        return self.residual_mm / self.precipitation_mm if self.precipitation_mm else 0.0


@dataclass(frozen=True, slots=True)
class Ledger:
    """The water balance of one member over the horizon, mm: with traces of weather, of the trace with the largest
    error.

    `scale_mm` is that of `hydrology.water.ledger.WATER_AVAILABLE`.
    """

    member: str
    terms: Annotated[Mapping[str, float], Doc("Signed: what comes in is positive, what leaves or is stored negative.")]
    residual_mm: Annotated[float, Doc("The sum of the terms: unaccounted water.")]
    tolerance_mm: Annotated[float, Doc("Largest absolute residual of a closed balance, mm.")]
    since_empty: SinceEmpty
    trace: Annotated[str | None, Doc("The trace. Only where there are traces.")] = None

    @property
    def closes(self) -> Annotated[bool, Doc("Whether the residual is within the tolerance.")]:
        return abs(self.residual_mm) <= self.tolerance_mm

    @property
    def scale_mm(
        self,
    ) -> Annotated[float, Doc("The reference amount of the residual, mm: see `scale` of the balance.")]:
        return self.tolerance_mm / WATER_AVAILABLE.tolerance


@dataclass(frozen=True, slots=True)
class Content:
    """Arrays by variable and ledgers by member, both sorted by name."""

    series: Mapping[str, RunSeries]
    ledgers: Sequence[Ledger]


NOTHING = Content({}, [])


def owner_of(run: str, basin: str) -> str:
    return f"run {run} of {basin}"


def owner_of_members(run: str, basin: str) -> str:
    return f"the members of run {run} of {basin}"


QUANTILES_OF_MEMBERS = "discharge_quantiles"
LEVELS_OF_MEMBERS, MEAN_OF_MEMBERS = "discharge_levels", "discharge_mean"
"""Replaces the discharge of pruned members (and traces): their quantiles at `LEVELS`, of the leads that are ever
verified, and their mean."""
NORMAL = "discharge_normal"
"""The array of normal flow on the days ahead by the basin's own record, if known."""
LEDGER = "ledger"
"""The array of a run with traces for the ledger of every member and trace; after pruning, their mean."""
_DISCHARGE = "discharge"
FOR_EVER = (QUANTILES_OF_MEMBERS, CALIBRATED, OF_WEATHER, NORMAL, CHANGES)
"""The arrays that outlive the members as they are."""
_INSTEAD = (LEVELS_OF_MEMBERS, MEAN_OF_MEMBERS)


def levels_of_members(series: Mapping[str, RunSeries]) -> Numbers:
    """Return discharge quantiles over members (and traces), (levels, verified leads)."""
    if LEVELS_OF_MEMBERS in series:
        return series[LEVELS_OF_MEMBERS].values
    flow = series[_DISCHARGE].values
    judged = flow.reshape(-1, flow.shape[-1])[:, :MAX_GAP]
    return np.asarray(np.quantile(judged, LEVELS, axis=0).astype(np.float32))


def by_weather(series: Mapping[str, RunSeries], weather: str) -> dict[str, Numbers]:
    """Return each weather model's own calibrated quantiles, (levels, leads), of a run whose weather forecast is named.

    Without any where the run is not calibrated.
    """
    if OF_WEATHER in series:
        return dict(zip(series[OF_WEATHER].axes["weather"], series[OF_WEATHER].values, strict=True))
    return {weather: series[CALIBRATED].values} if CALIBRATED in series else {}


def mean_of_members(series: Mapping[str, RunSeries]) -> npt.NDArray[np.float64]:
    """Return the mean discharge of members (and traces), (leads,)."""
    if MEAN_OF_MEMBERS in series:
        return series[MEAN_OF_MEMBERS].values
    flow = series[_DISCHARGE].values
    return np.asarray(flow.reshape(-1, flow.shape[-1]).mean(axis=0, dtype=np.float64))


def over_members(array: RunSeries, parts: Sequence[RunPart]) -> npt.NDArray[np.float64]:
    """Return the mean over the first axis, members weighted by their parts."""
    weights = weights_of_members(parts, array.axes["member"]) if "member" in array.axes else None
    return weighted_mean(array.values, weights)


def without_members(content: Content) -> Content:
    """Return the part of a content that is stored for ever: quantiles and ledgers of members, and their means."""
    series = {name: array for name, array in content.series.items() if name in (*FOR_EVER, *_INSTEAD)}
    if _DISCHARGE in content.series:
        of_members = content.series[_DISCHARGE]
        lead, levels = of_members.axes["lead"], levels_of_members(content.series)
        axes = {"level": LEVELS, "lead": lead[:MAX_GAP]}
        series[LEVELS_OF_MEMBERS] = RunSeries(LEVELS_OF_MEMBERS, of_members.unit, axes, levels)
        mean = mean_of_members(content.series)
        series[MEAN_OF_MEMBERS] = RunSeries(MEAN_OF_MEMBERS, of_members.unit, {"lead": lead}, mean)
    if LEDGER in content.series:
        ledger = content.series[LEDGER]
        means = np.array([entry.mean(dtype=np.float64) for entry in ledger.values])
        series[LEDGER] = replace(ledger, axes={"entry": ledger.axes["entry"]}, values=means)
    return Content(series, content.ledgers)


def packed(owner: str, series: Iterable[RunSeries], ledgers: Sequence[Ledger]) -> bytes:
    """Pack arrays and ledgers for storage; a ledger's numbers must be finite."""
    arrays = _labelled(series)
    if ledgers:
        arrays[_LEDGERS] = _of_ledgers(sorted(ledgers, key=attrgetter("member")))
    return pack(owner, arrays)


def packed_members(owner: str, series: Iterable[RunSeries]) -> bytes | None:
    """Pack the arrays that are pruned with the members. None without any."""
    arrays = {name: array for name, array in _labelled(series).items() if name not in FOR_EVER}
    return pack(owner, arrays) if arrays else None


def _labelled(series: Iterable[RunSeries]) -> dict[str, Labelled]:
    arrays = {
        one.variable: Labelled(one.unit, one.axes, one.values) for one in sorted(series, key=attrgetter("variable"))
    }
    if PATHS in arrays and CALIBRATED in arrays:
        arrays[PATHS] = _encoded_paths(arrays[PATHS], arrays[CALIBRATED])
    return arrays


def unpacked(
    run: str,
    basin: str,
    content: bytes,
    members: bytes | None = None,
    variables: Collection[str] | None = None,
) -> Content:
    """Unpack stored arrays (all, or the present ones of some variables) and the ledgers.

    `members` are packed apart: None where they are pruned, not wanted, or in the content.
    """
    wanted = None if variables is None else {*variables, _LEDGERS, *((CALIBRATED,) if PATHS in variables else ())}
    arrays = unpack(owner_of(run, basin), content, wanted)
    if members is not None:
        for name in (*_INSTEAD, LEDGER):
            arrays.pop(name, None)
        arrays |= unpack(owner_of_members(run, basin), members, wanted)
    of_members = arrays.pop(_LEDGERS, None)
    if PATHS in arrays and CALIBRATED in arrays:
        arrays[PATHS] = _decoded_paths(arrays[PATHS], arrays[CALIBRATED])
    series = {
        name: RunSeries(name, *array)
        for name, array in sorted(arrays.items())
        if variables is None or name in variables
    }
    return Content(series, [] if of_members is None else _ledgers(of_members))


def is_whole_row(row: Any) -> bool:
    return is_whole(owner_of(row.run_id, row.basin_id), row.content)


def is_whole_row_of_members(row: Any) -> bool:
    return is_whole(owner_of_members(row.run_id, row.basin_id), row.content)


def _encoded_paths(paths: Labelled, calibrated: Labelled) -> Labelled:
    stored = encode_ranks(paths.values, calibrated.axes["level"], calibrated.values)
    if stored is None:
        return paths
    return Labelled(paths.unit, {"part": _PARTS, "lead": paths.axes["lead"], "path": paths.axes["path"]}, stored)


def _decoded_paths(paths: Labelled, calibrated: Labelled) -> Labelled:
    if "part" not in paths.axes:
        return paths
    values = decode_ranks(paths.values, calibrated.axes["level"], calibrated.values)
    return Labelled(paths.unit, {"path": paths.axes["path"], "lead": paths.axes["lead"]}, values)


def _of_ledgers(ledgers: Sequence[Ledger]) -> Labelled:
    terms = sorted({term for ledger in ledgers for term in ledger.terms})
    rows = [
        [
            *(_finite(ledger.terms[term]) if term in ledger.terms else np.nan for term in terms),
            *map(_finite, (ledger.residual_mm, ledger.tolerance_mm)),
            *map(_finite, (ledger.since_empty.residual_mm, ledger.since_empty.precipitation_mm)),
        ]
        for ledger in ledgers
    ]
    members = [[ledger.member, ledger.trace] for ledger in ledgers]
    return Labelled("mm", {"member": members, "entry": [*terms, *_NUMBERS]}, np.array(rows))


def _finite(number: float) -> float:
    if not np.isfinite(number):
        raise ValueError(f"a number of a ledger must be finite, not {number}")
    return float(number)


def _ledgers(array: Labelled) -> list[Ledger]:
    terms = array.axes["entry"][: -len(_NUMBERS)]
    ledgers = []
    for (member, trace), row in zip(array.axes["member"], array.values.tolist(), strict=True):
        *amounts, residual, tolerance, since, precipitation = row
        of_terms = {term: amount for term, amount in zip(terms, amounts, strict=True) if amount == amount}
        since_empty = SinceEmpty(residual_mm=since, precipitation_mm=precipitation)
        ledgers.append(Ledger(member, of_terms, residual, tolerance, since_empty, trace))
    return ledgers
