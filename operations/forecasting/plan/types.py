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
from records.basins.ownership import Basin
from records.runs.run_weather import RunBridge, RunWeather
from records.simulations.snow_cells import SnowMapping
from records.versions.version_properties import VersionPart
from records.weather.bridges import InForce

V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartInputs:
    """The inputs for the runs of a part; the credit is None where no feed supplied its product's weather."""

    part: VersionPart
    loaded: LoadedVersion
    basins: Mapping[str, Basin]
    forcings: Mapping[str, BasinForcing]
    bridges: Mapping[str, InForce]
    snow: Mapping[str, SnowMapping | Absent]
    failures: Mapping[str, Absent]
    credit: Credit | None

    def only(self, names: Collection[str]) -> "PartInputs":
        return replace(self, forcings=_only(self.forcings, names))


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastInputs:
    """The inputs of a version's runs, the largest weight first.

    The forcing of a basin is that of the part whose record ends last.
    """

    loaded: LoadedVersion
    parts: tuple[PartInputs, ...]
    forcings: Mapping[str, BasinForcing]
    snow: Mapping[str, SnowMapping | Absent]
    failures: Mapping[str, Absent]

    @property
    def basins(self) -> Mapping[str, Basin]:
        return self.parts[0].basins

    @property
    def by_version(self) -> dict[str, PartInputs]:
        return {one.part.version: one for one in self.parts}

    def only(self, names: Collection[str]) -> "ForecastInputs":
        parts = tuple(one.only(names) for one in self.parts)
        return replace(self, forcings=_only(self.forcings, names), parts=parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartPlan:
    """The run of a part where it takes part: forcing until T0, weather after it, and bridges in order of use."""

    inputs: PartInputs
    days: RunDays
    forcings: Mapping[str, BasinForcing]
    weather: Mapping[str, WeatherAhead]
    bridges: Mapping[str, Sequence[InForce]]
    forecast: RunWeather | None

    @property
    def part(self) -> VersionPart:
        return self.inputs.part

    @property
    def loaded(self) -> LoadedVersion:
        return self.inputs.loaded

    def only(self, names: Collection[str]) -> "PartPlan":
        return replace(self, forcings=_only(self.forcings, names), weather=_only(self.weather, names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A run that can be computed, with the plans of its parts.

    Its parameters have the T0 of the run, and its forcing is that of the first part. `changes` are those of a what-if
    run, already applied to the weather of the parts. `absent_parts`: why others do not take part, by basin and part
    name.
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
        parts = tuple(one.only(names) for one in self.parts)
        return replace(self, forcings=_only(self.forcings, names), parts=parts)

    @property
    def by_version(self) -> dict[str, PartPlan]:
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
