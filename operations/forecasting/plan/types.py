"""Inputs of forecast runs, and runs that can be computed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hydrology.base.absent import Absent
from hydrology.base.credit import Credit
from jobspec.changes import UNCHANGED, Changes
from operations.basin_data.dataset import BasinForcing
from operations.forecasting.days import RunDays
from operations.forecasting.weather_ahead import WeatherAhead
from operations.versions.load_networks import LoadedVersion
from records.basins import basins
from records.runs.run_request import RunWeather
from records.simulations.snow_cells import SnowMapping
from records.versions.version_properties import VersionPart
from records.weather.bridges import InForce


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastInputs:
    """The inputs for the runs of one version.

    Attributes:
        basins: all basins of the runs.
        forcings: by basin, where available.
        bridges: by basin, those that produced the version's product, if any.
        snow: the cells that read as snow in each basin, or why none do.
        failures: why other basins have no forcing.
        credit: the credit for the weather of the version's product; None where no feed supplied any.
        parts: those of each part of a combined version, the largest weight first. `forcings` are then those of the part
            whose record is the longest, a basin fails where every part does, and bridges and credit are the parts' own.
    """

    loaded: LoadedVersion
    basins: Mapping[str, basins.Basin]
    forcings: Mapping[str, BasinForcing]
    bridges: Mapping[str, InForce]
    snow: Mapping[str, SnowMapping | Absent]
    failures: Mapping[str, Absent]
    credit: Credit | None
    parts: "tuple[PartInputs, ...]" = ()

    @property
    def by_version(self) -> "dict[str, ForecastInputs]":
        """Those of each version with members of its own: the parts, or the version itself."""
        return {one.loaded.version.id: one for one in [part.inputs for part in self.parts] or [self]}

    def only(self, names: Collection[str]) -> "ForecastInputs":
        """Return those of some basins."""
        return replace(
            self,
            forcings={name: forcing for name, forcing in self.forcings.items() if name in names},
            parts=tuple(replace(one, inputs=one.inputs.only(names)) for one in self.parts),
        )


@dataclass(frozen=True, slots=True)
class PartInputs:
    """The inputs of a part of a combined version."""

    part: VersionPart
    inputs: ForecastInputs


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A run that can be computed.

    Attributes:
        forcings, weather: of its basins until T0, and after it.
        bridges: those that the weather passed through, by basin in the order of their use.
        failures: why other basins are not computed.
        forecast: the weather forecast that it uses, if any.
        changes: the changes of a what-if run; its `weather` is changed already.
        parts: of a combined version, the plan of each part, with the basins in which it takes part. `forcings` and
            `weather` are then those of the first of the basin's parts.
        absent_parts: why parts do not take part in a basin, by the name of the part.
    """

    inputs: ForecastInputs
    days: RunDays
    forcings: Mapping[str, BasinForcing]
    weather: Mapping[str, WeatherAhead]
    bridges: Mapping[str, Sequence[InForce]]
    failures: Mapping[str, Absent]
    forecast: RunWeather | None = None
    changes: Changes = UNCHANGED
    parts: "tuple[PartPlan, ...]" = ()
    absent_parts: Mapping[str, Mapping[str, Absent]] = field(default_factory=dict)

    def only(self, names: Collection[str]) -> "Plan":
        """Return the plan of some basins."""
        return replace(
            self,
            forcings={name: forcing for name, forcing in self.forcings.items() if name in names},
            weather={name: weather for name, weather in self.weather.items() if name in names},
            parts=tuple(replace(one, plan=one.plan.only(names)) for one in self.parts),
        )

    @property
    def by_version(self) -> "dict[str, Plan]":
        """Those of each version with members of its own: the parts, or the version itself."""
        return {one.inputs.loaded.version.id: one for one in [part.plan for part in self.parts] or [self]}

    def parts_in(self, basin: str) -> "list[PartPlan]":
        """Return the parts that take part in a basin, in the order of the version's."""
        return [one for one in self.parts if basin in one.plan.forcings]


@dataclass(frozen=True, slots=True)
class PartPlan:
    """The plan of a part of a combined version."""

    part: VersionPart
    plan: Plan
