"""/v1/basins/{basin}/weather-models: the forecast with each of the weather models that a forecast mixes."""

from datetime import date, datetime
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.exports.answers import SeriesAnswer, documented_responses
from app.exports.formats import SERIES
from app.exports.table import RIVER_FLOW
from app.forecasts.discharge import DischargeUnits, in_units
from app.forecasts.header import DaysOfRun, days_ahead, header_of_days, run_table
from app.forecasts.lookup import PROBLEMS, AskedRun
from app.http.base_schema import EXPLAINED, Missing, Series, column, maybe
from app.http.dependencies import Reading
from app.http.json_numbers import column as numbers
from app.http.json_numbers import gappy_column
from app.http.shown import As
from hydrology.base.absent import Absent
from hydrology.base.units import Units
from hydrology.uncertainty.error_model import LEVELS
from records.forecasts.latest import Latest
from records.runs import run_arrays, runs
from records.runs.run_summary import WeatherShare

OwnQuantiles = dict[str, list[float]]


def _quantile(words: str) -> Series:
    return Series(
        f"{words} of the discharge",
        each=f"{words} of the discharge with {{}} alone",
        unit_of="discharge",
        standard_name=RIVER_FLOW,
        cell_methods="time: mean",
    )


class WeatherModelsOfRun(DaysOfRun):
    """The calibrated forecast with each weather model alone, by its source and model."""

    weather_models: list[Annotated[WeatherShare, As()]] = Field(
        description="The shares of the weather models, and why others are missing. Empty where there is one alone."
    )
    p05: Annotated[OwnQuantiles | None, _quantile("5 % quantile")] = Field(
        description=column("Discharge in the requested unit: lower with a chance of 5 %")
    )
    median: Annotated[OwnQuantiles | None, _quantile("median")] = Field(
        description=column("Discharge in the requested unit, the median")
    )
    p95: Annotated[OwnQuantiles | None, _quantile("95 % quantile")] = Field(
        description=column("Discharge in the requested unit: higher with a chance of 5 %")
    )
    missing: Missing = EXPLAINED


TABLE = run_table("weather_models", "Discharge of {0.basin} with each weather model")
router = APIRouter(prefix="/basins", tags=["forecasts"])


def _answer(session: Session, latest: Latest, at: datetime | None, units: Units) -> WeatherModelsOfRun:
    run, basin, used = latest.run, latest.basin, latest.basin.summary.calibration
    series = runs.series_of(session, run.id, basin.basin_id, run_arrays.CALIBRATIONS)
    own = run_arrays.by_weather(series, run.weather_name)

    def quantiles(level: float) -> OwnQuantiles | Absent:
        at_level = LEVELS.index(level)
        return {
            name: numbers(in_units(of[at_level], basin, units)) for name, of in own.items()
        } or basin.why_not_calibrated

    return WeatherModelsOfRun(
        **header_of_days(latest, at),
        units={"discharge": units},
        weather_models=[] if isinstance(used, Absent) else list(used.weather_shares),
        p05=maybe(quantiles(0.05)),
        median=maybe(quantiles(0.5)),
        p95=maybe(quantiles(0.95)),
    )


@router.get(
    "/{basin}/weather-models",
    summary="Forecast with each weather model alone",
    **documented_responses(WeatherModelsOfRun, *PROBLEMS, formats=SERIES),
)
def read_weather_models(
    session: Reading, answer: SeriesAnswer, asked: AskedRun, units: DischargeUnits = "m3/s"
) -> Response:
    """The calibrated discharge of a forecast with each of its weather models alone, and their shares in the mixture,
    which every other answer has."""
    return answer.of_basin(_answer(session, *asked, units), TABLE)


def drawn(session: Session, latest: Latest, units: Units) -> dict[str, dict[date, float | None]]:
    """Return the median of each weather model's own forecast by day, where the forecast mixes several."""
    run, basin = latest.run, latest.basin
    series = runs.series_of(session, run.id, basin.basin_id, (run_arrays.OF_WEATHER,))
    days, middle = days_ahead(run)["time"], LEVELS.index(0.5)
    own = run_arrays.by_weather(series, run.weather_name)
    return {
        name: dict(zip(days, gappy_column(in_units(of[middle], basin, units)), strict=True)) for name, of in own.items()
    }
