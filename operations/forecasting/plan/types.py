"""Inputs of forecast runs, and runs that can be computed. A version is a list of parts, each with its own weather."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from hydrology.base.absent import Absent
from hydrology.base.products import Credit
from jobspec.changes import UNCHANGED, Changes
from jobspec.jobs.forecasting import ForecastParams
from operations.basin_data.dataset import BasinForcing
from operations.forecasting.days import RunDays
from operations.forecasting.weather_ahead import WeatherAhead
from operations.versions.load_networks import LoadedVersion
from records.basins.tables import Basin
from records.runs.run_weather import RunBridge, RunWeather
from records.simulations.snow_cells import SnowMapping
from records.versions.version_properties import VersionPart
from records.weather.bridges import InForce

V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartInputs:
    """The inputs for the runs of a part of a version.

    Attributes:
        forcings: by basin, where available.
        bridges: by basin, those that produced the part's product, if any.
        credit: the credit for the weather of the part's product; None where no feed supplied any.
    """

    part: VersionPart
    loaded: LoadedVersion
    basins: Mapping[str, Basin]
    forcings: Mapping[str, BasinForcing]
    bridges: Mapping[str, InForce]
    snow: Mapping[str, SnowMapping | Absent]
    failures: Mapping[str, Absent]
    credit: Credit | None

    def only(self, names: Collection[str]) -> "PartInputs":
        """Return those of some basins."""
        return replace(self, forcings=_only(self.forcings, names))


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastInputs:
    """The inputs for the runs of a version.

    Attributes:
        parts: those of its parts, the largest weight first.
        forcings: by basin, that of the part whose record ends last.
        failures: why no part has forcing in other basins.
    """

    loaded: LoadedVersion
    parts: tuple[PartInputs, ...]
    forcings: Mapping[str, BasinForcing]
    snow: Mapping[str, SnowMapping | Absent]
    failures: Mapping[str, Absent]

    @property
    def basins(self) -> Mapping[str, Basin]:
        """All basins of the runs."""
        return self.parts[0].basins

    @property
    def by_version(self) -> dict[str, PartInputs]:
        """Those of each part by its version."""
        return {one.part.version: one for one in self.parts}

    def only(self, names: Collection[str]) -> "ForecastInputs":
        """Return those of some basins."""
        parts = tuple(one.only(names) for one in self.parts)
        return replace(self, forcings=_only(self.forcings, names), parts=parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartPlan:
    """The run of a part of a version in the basins in which it takes part.

    Attributes:
        forcings, weather: of its basins until T0, and after it.
        bridges: those that the weather passed through, by basin in the order of their use.
    """

    inputs: PartInputs
    days: RunDays
    forcings: Mapping[str, BasinForcing]
    weather: Mapping[str, WeatherAhead]
    bridges: Mapping[str, Sequence[InForce]]
    forecast: RunWeather | None

    @property
    def part(self) -> VersionPart:
        """The part."""
        return self.inputs.part

    @property
    def loaded(self) -> LoadedVersion:
        """Its networks."""
        return self.inputs.loaded

    def only(self, names: Collection[str]) -> "PartPlan":
        """Return the plan of some basins."""
        return replace(self, forcings=_only(self.forcings, names), weather=_only(self.weather, names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A run that can be computed.

    Attributes:
        params: the request, with the T0 of the run.
        parts: the plan of each part that takes part in a basin.
        forcings: by basin, that of the first of its parts.
        changes: the changes of a what-if run; the weather of the parts is changed already.
        absent_parts: why parts do not take part in a basin, by the name of the part.
    """

    inputs: ForecastInputs
    params: ForecastParams
    parts: tuple[PartPlan, ...]
    days: RunDays
    forcings: Mapping[str, BasinForcing]
    forecast: RunWeather | None
    failures: Mapping[str, Absent] = field(default_factory=dict)
    changes: Changes = UNCHANGED
    absent_parts: Mapping[str, Mapping[str, Absent]] = field(default_factory=dict)

    def only(self, names: Collection[str]) -> "Plan":
        """Return the plan of some basins."""
        parts = tuple(one.only(names) for one in self.parts)
        return replace(self, forcings=_only(self.forcings, names), parts=parts)

    @property
    def by_version(self) -> dict[str, PartPlan]:
        """Those of each part by its version."""
        return {one.part.version: one for one in self.parts}

    def parts_in(self, basin: str) -> list[PartPlan]:
        """Return the parts that take part in a basin, in the order of the version's."""
        return [one for one in self.parts if basin in one.forcings]

    def bridges_in(self, basin: str) -> tuple[RunBridge, ...]:
        """Return the bridges that the weather of a basin passed through, each once."""
        used = [one.used for part in self.parts_in(basin) for one in part.bridges[basin]]
        return tuple({one.sha256: one for one in used}.values())


def _only(of_basins: Mapping[str, V], names: Collection[str]) -> dict[str, V]:
    return {name: value for name, value in of_basins.items() if name in names}
