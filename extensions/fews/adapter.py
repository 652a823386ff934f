"""Runs the General Adapter. From its run file to flow, state and diagnostics."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from extensions.fews import netcdf_series, run_file, states, xml_series
from extensions.fews.forcing import ensemble_of, gathered, of_product
from extensions.fews.locations import NothingComputed, nothing, select
from extensions.fews.markup import AS_TEXT, Diagnostics, LogLevel, fault
from extensions.fews.parts import PartOfRun, Starter, merge_location
from extensions.fews.run_file import MODEL_VERSION, Opened, RunFile
from extensions.fews.series import Days, ImportedSeries, Kind, Output, OutputQuantity
from extensions.fews.simulation import SimulatedFlow
from hydrology.base.errors import InvalidInput, Problem
from hydrology.base.products import WEATHER
from hydrology.base.units import Area, mm_per_day_to_m3s
from models.saved_state import SavedState
from operations.versions.load_networks import LoadedVersion
from records.database.engine import Database
from runtime.stored_files import replace_file

BINARY = ".bin"
"""Suffix of a file of binary events, beside its series in .xml."""


__all__ = ["NothingComputed", "prepared", "run"]


@dataclass(frozen=True, slots=True)
class Done:
    """The locations that a run has written, and why others are missing."""

    version: str
    days: Days
    members: int
    locations: tuple[str, ...]
    failures: Mapping[str, str]
    written: tuple[Path, ...]


@contextmanager
def prepared(file: Path) -> Iterator[tuple[Opened, Diagnostics]]:
    """Open a run file; write its diagnostics, where it names a file, even if the block fails."""
    opened = run_file.opened(file)
    diagnostics = Diagnostics(opened.diagnostics)
    try:
        yield opened, diagnostics
    except BaseException as error:
        sentence = str(error) if isinstance(error, Problem) else f"Freshet failed: {type(error).__name__}: {error}"
        diagnostics.add(LogLevel.FATAL, sentence)
        raise
    finally:
        diagnostics.write()


def run(database: Database, opened: Opened, diagnostics: Diagnostics) -> Done:
    """Compute and write the flow of every location of the forcing; write nothing without any."""
    asked = run_file.read(opened)
    for name in sorted(asked.properties.keys() - {MODEL_VERSION}):
        diagnostics.add(LogLevel.WARNING, f"The property {name} is not known and was ignored.")
    given = [*_given(asked)]
    days = Days.of(asked, [series.stamps for series in given if series.parameter in WEATHER])
    failures: dict[str, str] = {}
    loaded, places = select(database, asked, given, failures)
    of_parts = {
        name: [series for series in of_product(given, one.version.product) if series.location in places]
        for name, _, one in loaded.shares
    }
    names = {name: _parameters(one) for name, _, one in loaded.shares}
    used = {name: [one for one in of if one.parameter in names[name]] for name, of in of_parts.items()}
    ensemble = ensemble_of([series for of in used.values() for series in of])
    described = None if asked.state is None else states.described(asked.state, asked.places)
    before, without = _initial_states(asked, described, loaded, days, diagnostics)
    parts = []
    for name, weights, one in loaded.shares:
        starter = Starter(
            name=name,
            loaded=one,
            names=names[name],
            days=days,
            ensemble=ensemble,
            before=before.get(name),
            diagnostics=diagnostics,
        )
        weather = gathered(used[name], names[name], days)
        parts.append(starter.simulated(places, weather, weights, without.get(name)))
    computed = _computed(parts, places, failures, diagnostics)
    if not computed:
        raise nothing(failures)
    areas = [places[location].area for location in computed]
    locations = [places[location].shown(location) for location in computed]
    quantities = [*_quantities([*computed.values()], areas)]
    written = _write(asked, Output(days, asked.time0, ensemble.name, ensemble.members, locations, quantities))
    if described is not None and described.write is not None:
        ids = {location: places[location].basin.id for location in computed}
        of_t0 = {one.name: _state_at_t0(one, ids, before.get(one.name), days) for one in parts if one.flows}
        states.write_state(described, of_t0, days.t0_stamp, asked.hours)
        written = (*written, described.write)
    sentence = f"{len(computed)} locations computed with version {loaded.version.id}, {days.period}, T0 {days.t0}."
    diagnostics.add(LogLevel.INFO, sentence)
    return Done(loaded.version.id, days, len(ensemble.members), tuple(computed), failures, written)


def _parameters(loaded: LoadedVersion) -> tuple[str, ...]:
    """Return the variables that a version with members of its own takes."""
    inputs = loaded.config.inputs
    names = (inputs.mass, *inputs.auxiliary)
    if unknown := [name for name in names if name not in WEATHER]:
        raise InvalidInput(
            f"Version {loaded.version.id} takes {', '.join(unknown)}, which no forecast has: name another."
        )
    return names


def _given(asked: RunFile) -> Iterator[ImportedSeries]:
    for paths, read in ((asked.series, xml_series.read), (asked.netcdf, netcdf_series.read)):
        for path in paths:
            for series in read(asked.places.read(path), str(path)):
                if not len(series.stamps) and path.with_suffix(BINARY).exists():
                    raise fault(str(path), f"holds binary events (in {path.with_suffix(BINARY).name})", AS_TEXT)
                parameter, _, product = series.parameter.partition(".")
                yield replace(series, parameter=parameter, product=product or None)


def _initial_states(
    asked: RunFile,
    described: states.Description | None,
    loaded: LoadedVersion,
    days: Days,
    diagnostics: Diagnostics,
) -> tuple[Mapping[str, SavedState], Mapping[str, str]]:
    """Return the initial states by part, none for empty stores, and why those of other parts are missing."""
    if described is None:
        return {}, {}
    if described.read is None:
        diagnostics.add(
            LogLevel.WARNING, "There is no initial state: the run starts with empty stores on the first day."
        )
        return {}, {}
    return states.read(described.read, asked.places, loaded, days)


def _computed(
    parts: Sequence[PartOfRun], places: Collection[str], failures: dict[str, str], diagnostics: Diagnostics
) -> dict[str, SimulatedFlow]:
    computed = dict[str, SimulatedFlow]()
    for location in places:
        flow, reasons = merge_location(parts, location)
        if flow is not None:
            computed[location] = flow
        level = LogLevel.WARNING if flow is not None else LogLevel.ERROR
        for name, reason in reasons.items():
            diagnostics.add(level, f"{location}: {f'without {name}: ' if name else ''}{reason}")
        if flow is None:
            failures[location] = " ".join(dict.fromkeys(reasons.values()))
    for location in [name for name in failures if name not in places]:
        diagnostics.add(LogLevel.ERROR, f"{location}: {failures[location]}")
    return computed


def _quantities(computed: Sequence[SimulatedFlow], areas: Sequence[Area]) -> Iterator[OutputQuantity]:
    discharge = [
        mm_per_day_to_m3s(flow.means["discharge"], area=area) for flow, area in zip(computed, areas, strict=True)
    ]
    yield OutputQuantity("discharge", "mean", "m3/s", "discharge", np.stack(discharge))
    water: tuple[tuple[str, Kind, str], ...] = (
        ("loss", "accumulative", "water lost to the air and the depth"),
        ("storage", "instantaneous", "water in store at the end of the day"),
    )
    for name, kind, long_name in water:
        if all(name in flow.means for flow in computed):  # a part that lacks it is missing in some locations alone
            yield OutputQuantity(name, kind, "mm", long_name, np.stack([flow.means[name] for flow in computed]))


def _write(asked: RunFile, output: Output) -> tuple[Path, ...]:
    outputs = ((asked.output_series, xml_series.written), (asked.output_netcdf, netcdf_series.written))
    contents = {path: written(output) for path, written in outputs if path is not None}
    for path, content in contents.items():
        replace_file(path, content)
    return tuple(contents)


def _state_at_t0(part: PartOfRun, ids: Mapping[str, str], before: SavedState | None, days: Days) -> SavedState:
    """Return the state of T0 of a part, in the locations that were computed with it."""
    computed = {ids[location]: flow for location, flow in part.flows.items() if location in ids}
    names = [*computed]
    earlier = (0,) * len(names) if before is None else before.of(names).spin_up_days
    members = [
        {name: np.concatenate([flow.state[network][name] for flow in computed.values()]) for name in first}
        for network, first in enumerate(next(iter(computed.values())).state)
    ]
    return SavedState(part.owner, tuple(names), days.t0, tuple(spin_up + days.history for spin_up in earlier), members)
