"""Runs the General Adapter. From its run file to flow, state and diagnostics."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

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
from operations.data.attributes import completed
from operations.data.basins import area_by
from operations.data.check_weather import climate_of, refuse, sentences
from operations.fews import netcdf_series, run_file, states, xml_series
from operations.fews.days import Days
from operations.fews.diagnostics import Diagnostics, Level
from operations.fews.forcing import Ensemble, Weather, ensemble_of, gathered, rows
from operations.fews.markup import AS_TEXT, fault
from operations.fews.places import write
from operations.fews.run_file import MODEL_VERSION, Opened, RunFile
from operations.fews.series import Given, Location, Output, OutputQuantity
from operations.fews.simulation import SimulatedFlow, SimulationStart, flows
from operations.forecasting.forecast import basins_by_version
from operations.versions.load_networks import LoadedVersion, load_version
from operations.versions.training_domain import attribute_means, learnt_from
from records.basins import basins
from records.database.engine import Database

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
    described = None if asked.state is None else states.described(asked.state, asked.places)
    selected = _Selection.of(database, asked, given)
    failures = dict(selected.failures)
    loaded = selected.loaded
    inputs = loaded.config.inputs
    names = (inputs.mass, *inputs.auxiliary)
    if unknown := [name for name in names if name not in WEATHER]:
        raise InvalidInput(
            f"Version {loaded.version.id} takes {', '.join(unknown)}, which no forecast has: name another."
        )
    used = [series for series in given if series.location in selected.ids and series.parameter in names]
    ensemble = ensemble_of(used)
    owner = Owner(loaded.version.weights_hash, loaded.version.product)
    before = None
    if described is not None and described.read is not None:
        before = states.read(described.read, asked.places, owner, loaded.ensemble, days)
    elif described is not None:
        diagnostics.add(Level.WARNING, "There is no initial state: the run starts with empty stores on the first day.")
    prepared_locations = _Locations(loaded, selected, days, ensemble, before, diagnostics)
    weather = gathered(used, names, days)
    starts: dict[str, SimulationStart] = {}
    for location in selected.ids:
        try:
            starts[location] = prepared_locations.start(location, weather.get(location, Weather()), names)
        except Problem as problem:
            failures[location] = str(problem)
    computed: dict[str, SimulatedFlow] = {}
    for location, flow in zip(starts, flows(loaded.ensemble, list(starts.values()), days), strict=True):
        if flow.fault is None:
            computed[location] = flow
        else:
            failures[location] = f"Withheld: {flow.fault}"
    for location, reason in failures.items():
        diagnostics.add(Level.ERROR, f"{location}: {reason}")
    if not computed:
        raise _nothing(failures)
    output = Output(
        days,
        asked.time0,
        ensemble.name,
        ensemble.members,
        [selected.location(location) for location in computed],
        [*_quantities(computed, {location: selected.areas[location] for location in computed})],
    )
    written = _write(asked, output)
    if described is not None and described.write is not None:
        states.write_state(described, _left(owner, selected.ids, computed, before, days), days.t0_stamp, asked.hours)
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
class _Selection:
    """The locations of the forcing that are basins here, and the version that computes them.

    Attributes:
        ids: the basin of each location.
        areas: the area that converts a depth into flow, by location.
        climates: the climate of each location, where known.
        failures: why other locations cannot be computed.
    """

    loaded: LoadedVersion
    ids: Mapping[str, str]
    basins: Mapping[str, basins.Basin]
    areas: Mapping[str, Area]
    static: Mapping[str, tuple[np.ndarray, tuple[str, ...]]]
    climates: Mapping[str, BasinClimate | None]
    failures: Mapping[str, str]

    @classmethod
    def of(cls, database: Database, asked: RunFile, given: Sequence[Given]) -> "_Selection":
        """Select the locations and the version.

        Raises:
            InvalidInput: the locations use several versions, and none is named.
            NothingToForecast: one has no current version.
            UnknownVersion: the named version does not exist.
        """
        failures, ids = dict[str, str](), dict[str, str]()
        for location in dict.fromkeys(series.location for series in given if series.parameter in WEATHER):
            try:
                ids[location] = basin_id(location)
            except InvalidInput as problem:
                failures[location] = f"{problem} The IdMap of the General Adapter can give it another name."
        with database.reading() as session:
            failures |= {
                location: str(unknown)
                for location, basin in ids.items()
                if (unknown := basins.unknown(session, [basin]).get(basin)) is not None
            }
            ids = {location: basin for location, basin in ids.items() if location not in failures}
            if not ids:
                raise _nothing(failures)
            groups = basins_by_version(session, list(ids.values()), asked.properties.get(MODEL_VERSION))
            if len(groups) > 1:
                raise InvalidInput(
                    f"The locations use {len(groups)} versions: give the property {MODEL_VERSION}, or run them apart."
                )
            loaded = load_version(session, next(iter(groups)))
            stored = {location: basins.get(session, basin) for location, basin in ids.items()}
            names, means = loaded.config.inputs.static, attribute_means(loaded.version)
            values = basins.attributes_of(session, list(ids.values()), names)
            assuming = basins.assuming(session, list(ids.values()))
            climates = {location: climate_of(session, basin) for location, basin in stored.items()}
        areas, static = dict[str, Area](), dict[str, tuple[np.ndarray, tuple[str, ...]]]()
        for (location, basin), row in zip(ids.items(), values, strict=True):
            attributes = completed(basin, names, row, means, basin in assuming)
            area = area_by(stored[location].areas, loaded.version.area_products)
            if isinstance(attributes, str):
                failures[location] = attributes
            elif area is None:
                failures[location] = f"{basin} has no area: give it (freshet basins add {basin} --area KM2)."
            else:
                areas[location], static[location] = area, (attributes.values.astype(np.float32), attributes.assumed)
        usable = {location: basin for location, basin in ids.items() if location in areas}
        return cls(loaded, usable, stored, areas, static, climates, failures)

    def check(self, location: str, values: Mapping[str, Array], days: Days) -> list[str]:
        """Check a location's weather, (members, days) by parameter, and return the warnings.

        Raises:
            ImpossibleWeather: it cannot be what it is labelled as.
        """
        latitude, climate = self.basins[location].latitude, self.climates[location]
        weather = DailyWeather("the forcing", days.period.days, values, latitude, climate)
        found = weather_findings(weather)
        refuse(found)
        return sentences(found, "warning")

    def location(self, location: str) -> Location:
        """Return a location's metadata for the output."""
        basin = self.basins[location]
        return Location(location, basin.name, basin.latitude, basin.longitude)


@dataclass(frozen=True, slots=True)
class _Locations:
    """The initial states of all locations."""

    loaded: LoadedVersion
    selected: _Selection
    days: Days
    ensemble: Ensemble
    before: SavedState | None
    diagnostics: Diagnostics

    def start(self, location: str, weather: Weather, names: Sequence[str]) -> SimulationStart:
        """Return a location's initial state and weather, and add its warnings to the diagnostics.

        Raises:
            InvalidInput: its weather cannot be used, or the stores would still be filling at T0.
            ImpossibleWeather: its weather cannot be what it is labelled as.
            UnusableState: the state does not include it.
        """
        basin, (static, assumed) = self.selected.ids[location], self.selected.static[location]
        skips = architecture(self.loaded.config.network).skips_gaps
        values, filled = rows(weather, names, self.ensemble, self.days, skips)
        odd = self.selected.check(location, {name: values[..., at] for at, name in enumerate(names)}, self.days)
        before = None if self.before is None else self.before.of([basin])
        under_way = (0 if before is None else before.spin_up_days[0]) + self.days.history
        if is_spinning_up(under_way):
            raise InvalidInput(
                f"its stores would be {under_way} days from empty at time0, and hold too little water: begin from a "
                f"state, or give more than {SPIN_UP_DAYS} days of forcing before time0."
            )
        self._report(location, weather, filled)
        for sentence in odd:
            self.diagnostics.add(Level.WARNING, f"{location}: {sentence}")
        learnt = learnt_from(self.loaded.version, basin, self.loaded.config.inputs.static, static, assumed)
        if learnt.training_note and (not learnt.seen_in_training or learnt.outside_training or assumed):
            self.diagnostics.add(Level.INFO, learnt.training_note)
        return SimulationStart(basin, values, static, None if before is None else before.members)

    def _report(self, location: str, weather: Weather, filled: Mapping[str, int]) -> None:
        for count, what in (
            (weather.unreliable, "values are flagged unreliable, and were not used"),
            (weather.doubtful, "values are flagged doubtful, and were used"),
            *((count, f"days of {name} were interpolated") for name, count in filled.items()),
        ):
            if count:
                self.diagnostics.add(Level.WARNING, f"{location}: {count} {what}.")


def _quantities(computed: Mapping[str, SimulatedFlow], areas: Mapping[str, Area]) -> Iterator[OutputQuantity]:
    discharge = [mm_per_day_to_m3s(flow.discharge, area=areas[location]) for location, flow in computed.items()]
    yield OutputQuantity("discharge", "mean", "m3/s", "discharge", np.stack(discharge))
    loss = [flow.loss for flow in computed.values() if flow.loss is not None]
    storage = [flow.storage for flow in computed.values() if flow.storage is not None]
    if loss:
        yield OutputQuantity("loss", "accumulative", "mm", "water lost to the air and the depth", np.stack(loss))
        yield OutputQuantity(
            "storage", "instantaneous", "mm", "water in store at the end of the day", np.stack(storage)
        )


def _write(asked: RunFile, output: Output) -> tuple[Path, ...]:
    contents = {}
    if asked.output_series is not None:
        contents[asked.output_series] = xml_series.written(output)
    if asked.output_netcdf is not None:
        contents[asked.output_netcdf] = netcdf_series.written(output)
    for path, content in contents.items():
        write(path, content)
    return tuple(contents)


def _left(
    owner: Owner, ids: Mapping[str, str], computed: Mapping[str, SimulatedFlow], before: SavedState | None, days: Days
) -> SavedState:
    """Return the state at T0."""
    locations = tuple(ids[location] for location in computed)
    earlier = (0,) * len(locations) if before is None else before.of(locations).spin_up_days
    members = [
        {name: np.concatenate([flow.state[network][name] for flow in computed.values()]) for name in first}
        for network, first in enumerate(next(iter(computed.values())).state)
    ]
    return SavedState(owner, locations, days.t0, tuple(spin_up + days.history for spin_up in earlier), members)
