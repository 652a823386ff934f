"""What the parts of a version compute of each location, and their weighted mean."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from extensions.fews import states
from extensions.fews.forcing import Ensemble, Weather, rows
from extensions.fews.locations import Place
from extensions.fews.markup import Diagnostics, LogLevel
from extensions.fews.series import Days
from extensions.fews.simulation import SimulatedFlow, SimulationStart, flows
from hydrology.base.absent import Absent
from hydrology.base.errors import InvalidInput, Problem, counted
from hydrology.uncertainty.weighted import weighted_mean
from hydrology.water.storage import SPIN_UP_DAYS, is_spinning_up
from hydrology.weather.check_weather import weather_findings
from hydrology.weather.daily_weather import DailyWeather
from models.networks import architecture
from models.saved_state import Owner, SavedState
from operations.basin_data.check_incoming import refuse, sentences
from operations.versions.learnt_days import learnt_from
from operations.versions.load_networks import LoadedVersion
from records.versions.version_properties import ELSEWHERE


@dataclass(frozen=True, slots=True)
class PartOfRun:
    """What a part of the version computed; a version with members of its own is its only one, without a name.

    Attributes:
        weights: in the version, by location.
        owner: of its states.
        flows: by location.
        failures: why it computed no other location.
    """

    name: str
    weights: Mapping[str, float]
    owner: Owner
    flows: Mapping[str, SimulatedFlow]
    failures: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Starter:
    """Checks the weather of locations for a part of the version, and gives each its initial state."""

    name: str
    loaded: LoadedVersion
    names: Sequence[str]
    days: Days
    ensemble: Ensemble
    before: SavedState | None
    diagnostics: Diagnostics

    def simulated(
        self,
        places: Mapping[str, Place],
        weather: Mapping[str, Weather],
        weights: Mapping[str, float],
        missing: str | None,
    ) -> PartOfRun:
        """Return what the part computes of each location, or why not; `missing` is why it has no state."""
        failures: dict[str, str] = {} if missing is None else dict.fromkeys(places, missing)
        starts: dict[str, SimulationStart] = {}
        for location, place in places.items() if missing is None else ():
            try:
                starts[location] = self.start(location, place, weather.get(location, Weather()))
            except Problem as problem:
                failures[location] = str(problem)
        flow_of = dict(zip(starts, flows(self.loaded.ensemble, list(starts.values()), self.days), strict=True))
        failures |= {
            location: f"Withheld: {flow.fault}" for location, flow in flow_of.items() if flow.fault is not None
        }
        known = {location: flow for location, flow in flow_of.items() if flow.fault is None}
        at = {location: weights.get(place.basin.id, weights[ELSEWHERE]) for location, place in places.items()}
        return PartOfRun(self.name, at, states.owner_of(self.loaded), known, failures)

    def start(self, location: str, place: Place, weather: Weather) -> SimulationStart:
        """Return a location's initial state and weather, and add its warnings to the diagnostics.

        A location whose stores would still be filling at T0 is refused.
        """
        basin, config, days, attributes = place.basin, self.loaded.config, self.days, place.attributes[self.name]
        if isinstance(attributes, Absent):
            raise InvalidInput(str(attributes))
        static = attributes.values.astype(np.float32)
        values, filled = rows(weather, self.names, self.ensemble, days, architecture(config.network).skips_gaps)
        by_name = {name: values[..., at] for at, name in enumerate(self.names)}
        found = weather_findings(DailyWeather("the forcing", days.period.days, by_name, basin.latitude, place.climate))
        refuse(found)
        before = None if self.before is None else self.before.of([basin.id])
        under_way = (0 if before is None else before.spin_up_days[0]) + days.history
        if is_spinning_up(under_way):
            raise InvalidInput(
                f"its stores would be {counted(under_way, 'day')} from empty at time0, and hold too "
                "little water: begin from a "
                f"state, or give more than {SPIN_UP_DAYS} days of forcing before time0."
            )
        counts = {
            "values are flagged unreliable, and were not used": weather.unreliable,
            "values are flagged doubtful, and were used": weather.doubtful,
            **{f"days of {name} were interpolated": count for name, count in filled.items()},
        }
        warnings = [f"{count} {what}." for what, count in counts.items() if count] + sentences(found, "warning")
        for warning in warnings:
            self.diagnostics.add(LogLevel.WARNING, f"{location}{f' ({self.name})' if self.name else ''}: {warning}")
        learnt = learnt_from(self.loaded.version, basin.id, config.inputs.static, static, attributes.assumed)
        if learnt.training_note and (not learnt.seen_in_training or learnt.outside_training or attributes.assumed):
            self.diagnostics.add(LogLevel.INFO, learnt.training_note)
        return SimulationStart(basin.id, values, static, None if before is None else before.members)


def merge_location(parts: Sequence[PartOfRun], location: str) -> tuple[SimulatedFlow | None, dict[str, str]]:
    """Return the weighted mean over the parts that computed a location, and why others did not, by their name.

    It is None where none did. Only quantities that all of them have are returned; its state is that of the first.
    """
    missing = {one.name: one.failures[location] for one in parts if location in one.failures}
    there = [(one.weights[location], one.flows[location]) for one in parts if location in one.flows]
    if len(there) < 2:
        return (there[0][1] if there else None), missing
    weights = np.array([weight for weight, _ in there])
    flows = [flow for _, flow in there]
    names = [name for name in flows[0].means if all(name in flow.means for flow in flows)]
    means = {
        name: weighted_mean(np.stack([flow.means[name] for flow in flows]), weights / weights.sum()) for name in names
    }
    return replace(flows[0], means=means), missing
