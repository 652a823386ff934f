"""Seasonal volumes as a table: a row for each chance."""

from collections.abc import Mapping

from app.exports.table import Column, Table, constant, numbers
from app.forecasts.table import run_columns
from app.forecasts.volumes.schemas import VolumeQuantiles, VolumesOfRun
from records.basins.basins import Site

_COLUMNS = (
    ("depth", "of the whole season", "mm"),
    ("volume", "of the whole season", "1e6 m3"),
    ("percent_of_normal", "of the whole season, of the normal mean", "percent"),
    ("ahead_depth", "of the days after t0", "mm"),
    ("ahead_volume", "of the days after t0", "1e6 m3"),
)


def of_volumes(answer: VolumesOfRun, sites: Mapping[str, Site]) -> Table:
    """Return the seasonal volume exceeded with each chance."""
    rows = len(answer.exceeded_percent)
    area, observed, normal = answer.area, answer.observed, answer.normal
    columns = [
        *run_columns(answer, sites, rows),
        constant("area", "drainage area", "number", area and area.km2, rows, unit="km2"),
        constant("season", "days of every year", "text", answer.season, rows),
        constant("first_day", "first day of the season", "day", answer.period.first_day, rows),
        constant("last_day", "last day of the season", "day", answer.period.last_day, rows),
        Column("exceeded", "chance that the volume is exceeded", "integer", answer.exceeded_percent, "percent"),
        *_quantiles("calibrated", "calibrated volume", answer.calibrated, rows),
        *_quantiles("raw", "volume of the members and traces, not calibrated", answer.raw, rows),
        constant("observed_depth", "observed until t0", "number", observed and observed.depth, rows, unit="mm"),
        constant("observed_volume", "observed until t0", "number", observed and observed.volume, rows, unit="1e6 m3"),
        constant("normal_depth", "mean of other years", "number", normal and normal.mean_depth, rows, unit="mm"),
        constant("normal_volume", "mean of other years", "number", normal and normal.mean_volume, rows, unit="1e6 m3"),
    ]
    return Table(f"{answer.basin}_volume_{answer.t0}", f"Volume of {answer.season} in {answer.basin}", columns)


def _quantiles(prefix: str, meaning: str, shown: VolumeQuantiles | None, rows: int) -> list[Column]:
    return [
        numbers(f"{prefix}_{name}", f"{meaning} {of}", None if shown is None else getattr(shown, name), rows, unit)
        for name, of, unit in _COLUMNS
    ]
