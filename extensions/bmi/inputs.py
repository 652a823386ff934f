"""What a coupled basin takes: its variables as a framework names them, its configuration, and checks of its weather."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import structlog
from pydantic import Field, TypeAdapter

from freshet.cli.text_files import of_file, valid
from hydrology.base.calendar import Day
from hydrology.base.errors import InvalidInput
from hydrology.base.units import MAX_AREA_KM2
from hydrology.weather.check_weather import weather_findings
from hydrology.weather.climate import BasinClimate
from hydrology.weather.daily_weather import DailyWeather
from jobspec.fields import Basin, DayField, RequestModel
from models.pretrained import SHELF, combination, form

BASIN_GRID, CELL_GRID = 0, 1  # names and units as CSDMS has them, where they fit, as in NOAA-OWP/lstm


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable: the unit of its values (UDUNITS), and the grid that they lie on."""

    name: str
    units: str
    grid: int = BASIN_GRID


INPUTS: Mapping[str, Variable] = {
    "precipitation": Variable("atmosphere_water__liquid_equivalent_precipitation_rate", "mm d-1"),
    "srad": Variable("land_surface_radiation~incoming~shortwave~daylight__energy_flux", "W m-2"),
    "tmax": Variable("land_surface_air__time_max_of_temperature", "degC"),
    "tmin": Variable("land_surface_air__time_min_of_temperature", "degC"),
    "vp": Variable("land_surface_air_water~vapor__partial_pressure", "Pa"),
}
"""Possible inputs of a network, by our name. Their units are ours (`hydrology.base.products`) in another spelling."""

FLOW = Variable("land_surface_water__runoff_volume_flux", "m3 s-1")
DEPTH = Variable("land_surface_water__runoff_depth", "m")
LOSS = Variable("land_water__loss_depth", "mm")
STORAGE = Variable("land_water__storage_depth", "mm")
CELLS = Variable("land_water~cells__storage_depth", "mm", CELL_GRID)
RESIDUAL = Variable("land_water__mass_residual_depth", "mm")

OUTPUTS = (FLOW, DEPTH)
WATER = (LOSS, STORAGE, CELLS, RESIDUAL)
"""Additional outputs of networks that conserve mass."""


class Configuration(RequestModel):
    """The configuration of a basin behind the BMI.

    Attributes:
        ensemble: the name of one that comes with Freshet, or a folder that `freshet models export` has written.
        basin: its identifier; the basins of the training are recognised by it.
        area_km2: drainage area, to convert depth of runoff into flow.
        attributes: every attribute that the ensemble takes, by name.
        first_day: the day that the first update computes.
        state: a file with the state at the end of the day before; without it the stores are empty.
        final_state: the file that `finalize` writes the state to.

    Paths that are not absolute lie beside the configuration.
    """

    ensemble: Annotated[str, Field(min_length=1)]
    basin: Basin
    area_km2: Annotated[float, Field(gt=0, le=MAX_AREA_KM2)]
    attributes: dict[str, float]
    first_day: DayField
    state: Annotated[Path | None, Field(strict=False)] = None
    final_state: Annotated[Path | None, Field(strict=False)] = None


def read_configuration(file: Path) -> Configuration:
    """Read a configuration and make its paths absolute."""
    result = valid(TypeAdapter(Configuration), of_file(file), f"model of {file}")
    beside = {
        name: file.parent.absolute() / path for name in ("state", "final_state") if (path := getattr(result, name))
    }
    return result.model_copy(update={"ensemble": str(_folder(result.ensemble, file.parent.absolute())), **beside})


def _folder(ensemble: str, beside: Path) -> Path:
    if ensemble in form.names(SHELF):
        return SHELF / ensemble
    folder = SHELF / ensemble if ensemble in form.names(SHELF, combination.DESCRIPTION) else beside / ensemble
    if (folder / form.DESCRIPTION).exists():
        return folder
    if (folder / combination.DESCRIPTION).exists():
        parts = ", ".join(part.name for part in combination.read(folder).parts)
        raise InvalidInput(f"{ensemble!r} is a combination, which cannot be run here: name one of its parts ({parts}).")
    raise InvalidInput(
        f"There is no ensemble {ensemble!r}: name one of {', '.join(form.names(SHELF))}, or a folder that "
        "`freshet models export` has written."
    )


DAYS = 366
EVERY_DAY_UNTIL, THEN_EVERY = 30, 30

log = structlog.get_logger()


class RecentWeather:
    """The last days of weather that a basin was given."""

    def __init__(self, attributes: Mapping[str, float]) -> None:
        self._latitude = attributes.get("gauge_lat")
        self._climate = BasinClimate.of_attribute(attributes.get("p_mean", np.nan))
        self._days: list[Day] = []
        self._values: dict[str, list[float]] = {}
        self._count, self._reported = 0, set[str]()

    def check(self, day: Day, weather: Mapping[str, float]) -> None:
        """Check a day with those before it: each of the first days, then every 30th. What is odd is logged once.

        Raises:
            InvalidInput: the weather cannot be in the expected units; the day is left out.
        """
        days = [*self._days, day][-DAYS:]
        values = {name: [*self._values.get(name, []), value][-DAYS:] for name, value in weather.items()}
        count = self._count + 1
        if count <= EVERY_DAY_UNTIL or count % THEN_EVERY == 0:
            arrays = {name: np.array(of_days) for name, of_days in values.items()}
            self._check(DailyWeather("the inputs", np.array(days), arrays, self._latitude, self._climate))
        self._days, self._values, self._count = days, values, count

    def _check(self, weather: DailyWeather) -> None:
        for finding in weather_findings(weather):
            if finding.severity == "error":
                raise InvalidInput(finding.sentence)
            if finding.code not in self._reported:
                self._reported.add(finding.code)
                log.warning("bmi.odd-weather", code=finding.code, sentence=finding.sentence)
