"""Runs the General Adapter. From its run file to flow, state and diagnostics."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hydrology.base.absent import Absent
from hydrology.base.basins import basin_id
from hydrology.base.errors import DataProblem, InvalidInput, Problem
from hydrology.base.units import Area, mm_per_day_to_m3s
from hydrology.base.variables import WEATHER
from hydrology.water.spin_up import SPIN_UP_DAYS, is_spinning_up
from hydrology.weather.basin_climate import BasinClimate
from hydrology.weather.checks import DailyWeather, weather_findings
from models.arrays import Array
from models.networks import architecture
from models.saved_state import Owner, SavedState
from operations.basin_data.attributes import completed
from operations.basin_data.basins import area_by
from operations.basin_data.check_weather import climate_of, refuse, sentences
from operations.fews import netcdf_series, run_file, states, xml_series
from operations.fews.diagnostics import Diagnostics, Level
from operations.fews.forcing import Ensemble, Weather, ensemble_of, gathered, rows
from operations.fews.markup import AS_TEXT, fault
from operations.fews.run_file import MODEL_VERSION, Opened, RunFile
from operations.fews.series import Days, Given, Kind, Location, Output, OutputQuantity
from operations.fews.simulation import SimulatedFlow, SimulationStart, flows
from operations.forecasting.forecast import basins_by_version
from operations.versions.load_networks import LoadedVersion, load_version
from operations.versions.training_domain import attribute_means, learnt_from
from records.basins import basins
from records.database.engine import Database
from runtime.atomic_files import replace_file

BINARY = ".bin"
"""Suffix of a file of binary events, beside its series in .xml."""


class NothingComputed(DataProblem):
    """No location of a run could be computed."""

    kind = "nothing-computed"


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
    """Open a run file, and write its diagnostics even where the block fails.

    Raises:
        SourceError, InvalidInput: the file names no diagnostics file; only then none is written.
    """
    opened = run_file.opened(file)
    diagnostics = Diagnostics(opened.diagnostics)
    try:
        yield opened, diagnostics
    except BaseException as error:
        sentence = str(error) if isinstance(error, Problem) else f"Freshet failed: {type(error).__name__}: {error}"
        diagnostics.add(Level.FATAL, sentence)
        raise
    finally:
        diagnostics.write()


def run(database: Database, opened: Opened, diagnostics: Diagnostics) -> Done:
    """Compute the flow of every location of the forcing, and write the outputs of the run file.

    Raises:
        SourceError, InvalidInput: the run file or a file that it names cannot be used.
        UnknownVersion: the requested version does not exist.
        UnusableState: the state is another model's, or damaged.
        NothingComputed: no location can be computed; nothing is written.
    """
    asked = run_file.read(opened)
    for name in sorted(asked.properties.keys() - {MODEL_VERSION}):
        diagnostics.add(Level.WARNING, f"The property {name} is not known and was ignored.")
    given = [*_given(asked)]
    days = Days.of(asked, [series.stamps for series in given if series.parameter in WEATHER])
    failures: dict[str, str] = {}
    loaded, places = _select(database, asked, given, failures)
    inputs = loaded.config.inputs
    names = (inputs.mass, *inputs.auxiliary)
    if unknown := [name for name in names if name not in WEATHER]:
        raise InvalidInput(
            f"Version {loaded.version.id} takes {', '.join(unknown)}, which no forecast has: name another."
        )
    used = [series for series in given if series.location in places and series.parameter in names]
    ensemble, weather = ensemble_of(used), gathered(used, names, days)
    owner = Owner(loaded.version.weights_hash, loaded.version.product)
    described = None if asked.state is None else states.described(asked.state, asked.places)
    before = _initial_state(asked, described, owner, loaded, days, diagnostics)
    starter = _Starter(loaded, names, days, ensemble, before, diagnostics)
    starts: dict[str, SimulationStart] = {}
    for location, place in places.items():
        try:
            starts[location] = starter.start(location, place, weather.get(location, Weather()))
        except Problem as problem:
            failures[location] = str(problem)
    simulated = dict(zip(starts, flows(loaded.ensemble, list(starts.values()), days), strict=True))
    failures |= {location: f"Withheld: {flow.fault}" for location, flow in simulated.items() if flow.fault is not None}
    for location, reason in failures.items():
        diagnostics.add(Level.ERROR, f"{location}: {reason}")
    computed = {location: flow for location, flow in simulated.items() if flow.fault is None}
    if not computed:
        raise _nothing(failures)
    areas = [places[location].area for location in computed]
    locations = [places[location].shown(location) for location in computed]
    quantities = [*_quantities([*computed.values()], areas)]
    written = _write(asked, Output(days, asked.time0, ensemble.name, ensemble.members, locations, quantities))
    if described is not None and described.write is not None:
        ids = [places[location].basin.id for location in computed]
        state = _state_at_t0(owner, ids, [*computed.values()], before, days)
        states.write_state(described, state, days.t0_stamp, asked.hours)
        written = (*written, described.write)
    sentence = f"{len(computed)} locations computed with version {loaded.version.id}, {days.period}, T0 {days.t0}."
    diagnostics.add(Level.INFO, sentence)
    return Done(loaded.version.id, days, len(ensemble.members), tuple(computed), failures, written)


def _nothing(failures: Mapping[str, str]) -> NothingComputed:
    location, reason = next(iter(failures.items()), ("the forcing", "it has no weather."))
    return NothingComputed(f"No location can be computed. {location}: {reason}")


def _given(asked: RunFile) -> Iterator[Given]:
    for paths, read in ((asked.series, xml_series.read), (asked.netcdf, netcdf_series.read)):
        for path in paths:
            for series in read(asked.places.read(path), str(path)):
                if not len(series.stamps) and path.with_suffix(BINARY).exists():
                    raise fault(str(path), f"holds binary events (in {path.with_suffix(BINARY).name})", AS_TEXT)
                yield series


@dataclass(frozen=True, slots=True)
class _Place:
    """A location of the forcing that is a basin here.

    Attributes:
        area: converts a depth into flow.
        static: the attributes that the version takes, those that are assumed by name.
        climate: None where it is not known.
    """

    basin: basins.Basin
    area: Area
    static: Array
    assumed: tuple[str, ...]
    climate: BasinClimate | None

    def shown(self, location: str) -> Location:
        """Return its metadata for the output."""
        return Location(location, self.basin.name, self.basin.latitude, self.basin.longitude)


def _select(
    database: Database, asked: RunFile, given: Sequence[Given], failures: dict[str, str]
) -> tuple[LoadedVersion, dict[str, _Place]]:
    """Return the version, and the locations that it can compute. Add the failures of the others.

    Raises:
        InvalidInput: the locations use several versions, and none is named.
        NothingToForecast: one has no current version.
        UnknownVersion: the named version does not exist.
        NothingComputed: no location is a basin here.
    """
    ids: dict[str, str] = {}
    for location in dict.fromkeys(series.location for series in given if series.parameter in WEATHER):
        try:
            ids[location] = basin_id(location)
        except InvalidInput as problem:
            failures[location] = f"{problem} The IdMap of the General Adapter can give it another name."
    places: dict[str, _Place] = {}
    with database.reading() as session:
        unknown = basins.unknown(session, list(ids.values()))
        failures |= {location: str(unknown[basin]) for location, basin in ids.items() if basin in unknown}
        ids = {location: basin for location, basin in ids.items() if basin not in unknown}
        if not ids:
            raise _nothing(failures)
        groups = basins_by_version(session, list(ids.values()), asked.properties.get(MODEL_VERSION))
        if len(groups) > 1:
            raise InvalidInput(
                f"The locations use {len(groups)} versions: give the property {MODEL_VERSION}, or run them apart."
            )
        loaded = load_version(session, next(iter(groups)))
        names, means = loaded.config.inputs.static, attribute_means(loaded.version)
        values = basins.attributes_of(session, list(ids.values()), names)
        assuming = basins.assuming(session, list(ids.values()))
        for (location, basin), row in zip(ids.items(), values, strict=True):
            stored = basins.get(session, basin)
            attributes = completed(basin, names, row, means, basin in assuming)
            area = area_by(stored.areas, loaded.version.area_products)
            if isinstance(attributes, Absent):
                failures[location] = str(attributes)
            elif area is None:
                failures[location] = f"{basin} has no area: give it (freshet basins add {basin} --area KM2)."
            else:
                static, climate = attributes.values.astype(np.float32), climate_of(session, stored)
                places[location] = _Place(stored, area, static, attributes.assumed, climate)
    return loaded, places


def _initial_state(
    asked: RunFile,
    described: states.Description | None,
    owner: Owner,
    loaded: LoadedVersion,
    days: Days,
    diagnostics: Diagnostics,
) -> SavedState | None:
    if described is None:
        return None
    if described.read is None:
        diagnostics.add(Level.WARNING, "There is no initial state: the run starts with empty stores on the first day.")
        return None
    return states.read(described.read, asked.places, owner, loaded.ensemble, days)


@dataclass(frozen=True, slots=True)
class _Starter:
    """Checks the weather of locations, and gives each its initial state."""

    loaded: LoadedVersion
    names: Sequence[str]
    days: Days
    ensemble: Ensemble
    before: SavedState | None
    diagnostics: Diagnostics

    def start(self, location: str, place: _Place, weather: Weather) -> SimulationStart:
        """Return a location's initial state and weather, and add its warnings to the diagnostics.

        Raises:
            InvalidInput: its weather cannot be used, or the stores would still be filling at T0.
            ImpossibleWeather: its weather cannot be what it is labelled as.
            UnusableState: the state does not include it.
        """
        basin, config, days = place.basin, self.loaded.config, self.days
        values, filled = rows(weather, self.names, self.ensemble, days, architecture(config.network).skips_gaps)
        by_name = {name: values[..., at] for at, name in enumerate(self.names)}
        found = weather_findings(DailyWeather("the forcing", days.period.days, by_name, basin.latitude, place.climate))
        refuse(found)
        before = None if self.before is None else self.before.of([basin.id])
        under_way = (0 if before is None else before.spin_up_days[0]) + days.history
        if is_spinning_up(under_way):
            raise InvalidInput(
                f"its stores would be {under_way} days from empty at time0, and hold too little water: begin from a "
                f"state, or give more than {SPIN_UP_DAYS} days of forcing before time0."
            )
        counts = {
            "values are flagged unreliable, and were not used": weather.unreliable,
            "values are flagged doubtful, and were used": weather.doubtful,
            **{f"days of {name} were interpolated": count for name, count in filled.items()},
        }
        warnings = [f"{count} {what}." for what, count in counts.items() if count] + sentences(found, "warning")
        for warning in warnings:
            self.diagnostics.add(Level.WARNING, f"{location}: {warning}")
        learnt = learnt_from(self.loaded.version, basin.id, config.inputs.static, place.static, place.assumed)
        if learnt.training_note and (not learnt.seen_in_training or learnt.outside_training or place.assumed):
            self.diagnostics.add(Level.INFO, learnt.training_note)
        return SimulationStart(basin.id, values, place.static, None if before is None else before.members)


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
        if name in computed[0].means:
            yield OutputQuantity(name, kind, "mm", long_name, np.stack([flow.means[name] for flow in computed]))


def _write(asked: RunFile, output: Output) -> tuple[Path, ...]:
    outputs = ((asked.output_series, xml_series.written), (asked.output_netcdf, netcdf_series.written))
    contents = {path: written(output) for path, written in outputs if path is not None}
    for path, content in contents.items():
        replace_file(path, content)
    return tuple(contents)


def _state_at_t0(
    owner: Owner, ids: Sequence[str], computed: Sequence[SimulatedFlow], before: SavedState | None, days: Days
) -> SavedState:
    earlier = (0,) * len(ids) if before is None else before.of(ids).spin_up_days
    members = [
        {name: np.concatenate([flow.state[network][name] for flow in computed]) for name in first}
        for network, first in enumerate(computed[0].state)
    ]
    return SavedState(owner, tuple(ids), days.t0, tuple(spin_up + days.history for spin_up in earlier), members)
