"""Weather in the shapes of Open-Meteo and Daymet."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Days, Period, day, zone
from hydrology.base.outline import difference
from hydrology.base.series import DailySeries
from hydrology.weather.climate import daylength
from testing.feed_services.reply import Reply, as_json
from testing.feed_services.world import Gauge, World

Array = npt.NDArray[np.float64]

_UNITS = {
    "precipitation_sum": "mm",
    "temperature_2m_max": "°C",
    "temperature_2m_min": "°C",
    "shortwave_radiation_sum": "MJ/m²",
    "dew_point_2m_mean": "°C",
}
_RUN_HOURS = 6  # from the beginning of a run, at 00:00 UTC, until it is available
_CELL = 0.1  # degrees between the cells of the grid


def run_of(world: World) -> tuple[datetime, datetime]:
    """Return when the newest run began, and since when it is available."""
    stale = timedelta(days=4 if world.has("meteo-stale") else 0)
    now = world.now.astimezone(UTC) - timedelta(hours=_RUN_HOURS) - stale
    began = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return began, began + timedelta(hours=_RUN_HOURS)


def meta(world: World) -> Reply:
    """Answer in which state a model is."""
    began, available = run_of(world)
    return as_json(
        {
            "last_run_initialisation_time": int(began.timestamp()),
            "last_run_availability_time": int(available.timestamp()),
            "update_interval_seconds": 86_400,
        }
    )


def answer(world: World, path: str, asked: Mapping[str, Any]) -> Reply:
    """Answer an archive, a forecast or an ensemble."""
    if world.has("meteo-400"):
        return as_json({"error": True, "reason": "Parameter 'models' has an invalid value."}, 400)
    if world.once("meteo-429-minutely"):
        reason = "Minutely API request limit exceeded. Please try again in one minute."
        return as_json({"error": True, "reason": reason}, 429)
    if "run" in asked and (missing := _missing_run(world, asked)) is not None:
        return missing
    if world.has("meteo-run-days-refused") and "daily" in asked and _within_a_day(world, asked):
        reason = "Daily values of a single run need a run that starts at 00:00 in the timezone."
        return as_json({"error": True, "reason": reason}, 400)
    places = zip(asked["latitude"], asked["longitude"], asked["timezone"], strict=True)
    shown = [_place(world, path, asked, at, *place) for at, place in enumerate(places)]
    reply = as_json(shown[0] if len(shown) == 1 else shown)
    if world.once("meteo-stream-break"):
        return Reply(200, reply.body[: len(reply.body) // 2] + b"Unexpected error while streaming data", reply.headers)
    return reply


def pixel(world: World, query: Mapping[str, str]) -> Reply:
    """Answer Daymet's single pixel."""
    if world.has("daymet-400"):
        return as_json({"message": "Daymet Tile was not found for the location."}, 400)
    gauge = _nearest(world, float(query["lat"]), float(query["lon"]))
    lead = [f"Latitude: {gauge.latitude}  Longitude: {gauge.longitude}", "X & Y on Lambert Conformal Conic: 0.00 0.00"]
    lead += ["Tile: 11575", "Elevation: 12 meters", "All years; all variables; Daymet Software Version 4.0"]
    lead += ["How to cite: invented", *(["A line more", "and one more"] if world.has("daymet-8-lead-lines") else [])]
    lines = ["year,yday,dayl (s),prcp (mm/day),srad (W/m^2),swe (kg/m^2),tmax (deg c),tmin (deg c),vp (Pa)"]
    days = Period(day(query["start"]), day(query["end"])).days
    columns = _over(gauge.weather, days)
    lit = daylength(days, gauge.latitude)[:, 0]
    for at, each in enumerate(days):
        number = int((each - each.astype("datetime64[Y]").astype("datetime64[D]")).astype(int)) + 1
        if number <= 365:
            numbers = [lit[at], columns["precipitation"][at], columns["srad"][at], 0.0]
            numbers += [columns[name][at] for name in ("tmax", "tmin", "vp")]
            year = int(each.astype("datetime64[Y]").astype(int)) + 1970
            lines.append(",".join([f"{year}.0", str(number), *(f"{value:.6g}" for value in numbers)]))
    return Reply(200, "\n".join([*lead, *lines]).encode() + b"\n", {"Content-Type": "text/csv"})


def _missing_run(world: World, asked: Mapping[str, Any]) -> Reply | None:
    """Answer that a run is not there, as the service does; None where it is."""
    if asked["run"] not in world.missing_runs:
        return None
    if len(asked["latitude"]) > 1:
        text = "Unexpected error while streaming data: modelRunUnavailable(model: App.DomainRegistry.ecmwf_ifs)"
        return Reply(200, text.encode(), {"Content-Type": "text/plain"})
    reason = f"The requested model run is not available. Model: {asked['models'][0]}, run: {asked['run']}Z"
    return as_json({"error": True, "reason": reason}, 400)


def _place(
    world: World, path: str, asked: Mapping[str, Any], at: int, latitude: float, longitude: float, time_zone: str
) -> dict[str, Any]:
    gauge = _nearest(world, latitude, longitude)
    time_zone = gauge.standard_time[1] if time_zone == "auto" else time_zone
    days = _days(world, asked, time_zone)
    daily: dict[str, Any] = {"time": [str(each) for each in days]}
    past = path.endswith("archive")
    began = _began(asked) or run_of(world)[0]
    for member in range(world.members if path.endswith("ensemble") else 1):
        weather = world.past_weather(gauge) if past else _forecast(gauge, member, began)
        for name, values in _open_meteo(_over(weather, days), days, gauge.latitude).items():
            daily[name + (f"_member{member:02}" if member else "")] = [_number(value) for value in values]
    _spoil(world, daily)
    of_run = _began(asked)
    if of_run is not None and of_run.astimezone(zone(time_zone)).hour:
        if "hourly" not in asked:
            daily["precipitation_sum"][0] = None  # the run does not have all hours of its first day
        if world.has("meteo-run-days-early") and of_run.astimezone(zone(time_zone)).date() < of_run.date():
            daily["time"] = [str(each - 1) for each in days]
    cell = [round(round(value / _CELL) * _CELL, 2) for value in (latitude, longitude)]
    shown = {
        "latitude": cell[0] + (0.25 if world.has("meteo-shifted-grid") else 0),
        "longitude": cell[1],
        "generationtime_ms": 0.4,
        "utc_offset_seconds": -18000,
        "timezone": time_zone,
    }
    if "hourly" in asked:
        shown |= _in_hours(daily, None if of_run is None else of_run.astimezone(zone(time_zone)))
    else:
        units = {name: _UNITS.get(name.partition("_member")[0], "iso8601") for name in daily}
        shown |= {"daily_units": units, "daily": daily}
    return shown if at == 0 or world.has("meteo-no-location-id") else shown | {"location_id": at}


def _in_hours(daily: Mapping[str, Any], began: datetime | None) -> dict[str, Any]:
    """Return hours that add up to days, null before a run began; rain falls at noon and the warmth rises all day."""
    stamps = [f"{text}T{hour:02}:00" for text in daily["time"] for hour in range(24)]
    share, noon = np.arange(24) / 23, (np.arange(24) == 12).astype(float)
    shapes: dict[str, Array] = {
        "precipitation": np.outer(_values(daily["precipitation_sum"]), noon),
        "temperature_2m": np.outer(_values(daily["temperature_2m_min"]), 1 - share)
        + np.outer(_values(daily["temperature_2m_max"]), share),
        "shortwave_radiation": np.outer(_values(daily["shortwave_radiation_sum"]) / 0.0036, noon),
        "dew_point_2m": np.outer(_values(daily["dew_point_2m_mean"]), np.ones(24)),
    }
    known = [began is None or text >= f"{began:%Y-%m-%dT%H:%M}" for text in stamps]
    hourly: dict[str, Any] = {"time": stamps}
    for name, values in shapes.items():
        hourly[name] = [_number(value) if at else None for value, at in zip(values.ravel(), known, strict=True)]
    units = dict(zip(shapes, ("mm", "°C", "W/m²", "°C"), strict=True))
    return {"hourly": hourly, "hourly_units": {"time": "iso8601"} | units}


def _values(values: list[float | None]) -> Array:
    return np.array(values, dtype=np.float64)


def _within_a_day(world: World, asked: Mapping[str, Any]) -> bool:
    """Return whether a requested run begins within a day of a place, not at its midnight."""
    began = _began(asked)
    zones = [
        _nearest(world, latitude, longitude).standard_time[1] if name == "auto" else name
        for latitude, longitude, name in zip(asked["latitude"], asked["longitude"], asked["timezone"], strict=True)
    ]
    return began is not None and any(began.astimezone(zone(name)).hour for name in zones)


def _spoil(world: World, daily: dict[str, Any]) -> None:
    if world.has("meteo-null-tail"):
        daily["dew_point_2m_mean"][-1] = None
    if world.has("meteo-unequal-lengths"):
        daily["precipitation_sum"] = daily["precipitation_sum"][:-1]


def _days(world: World, asked: Mapping[str, Any], time_zone: str) -> Days:
    if "start_date" in asked:
        return Period(day(asked["start_date"][0]), day(asked["end_date"][0])).days
    today = day((_began(asked) or world.now).astimezone(zone(time_zone)).date())
    return today + np.arange(-asked.get("past_days", 0), asked["forecast_days"])


def _nearest(world: World, latitude: float, longitude: float) -> Gauge:
    latitudes, longitudes = world.places
    apart = np.abs(latitudes - latitude) + np.abs(difference(longitudes, longitude))
    return [*world.gauges.values()][int(apart.argmin())]


def _began(asked: Mapping[str, Any]) -> datetime | None:
    """Return the reference time of the requested run."""
    return datetime.fromisoformat(asked["run"]).replace(tzinfo=UTC) if "run" in asked else None


def _forecast(gauge: Gauge, member: int, began: datetime) -> Mapping[str, DailySeries]:
    """Return what was observed, perturbed: the same for the same run, gauge and member."""
    chance = np.random.default_rng(crc32(f"{began:%Y%m%d} {gauge.basin} {member}".encode()))
    rain, warmth = chance.lognormal(0, 0.3), chance.normal(0, 1)
    changed = {name: series.values.astype(np.float64) for name, series in gauge.weather.items()}
    changed["precipitation"] = changed["precipitation"] * rain
    for name in ("tmax", "tmin"):
        changed[name] = changed[name] + warmth
    return {
        name: DailySeries(series.start, changed[name], series.flags, series.unit)
        for name, series in gauge.weather.items()
    }


def _over(weather: Mapping[str, DailySeries], days: Days) -> dict[str, Array]:
    period = Period(days[0], days[-1])
    return {name: series.over(period).values.astype(np.float64) for name, series in weather.items()}


def _open_meteo(values: Mapping[str, Array], days: Days, latitude: float) -> dict[str, Array]:
    """Return our quantities as Open-Meteo gives them: the sum of radiation, the dew point."""
    ratio = np.log(np.maximum(values["vp"], 1.0) / 610.8)
    return {
        "precipitation_sum": values["precipitation"],
        "temperature_2m_max": values["tmax"],
        "temperature_2m_min": values["tmin"],
        "shortwave_radiation_sum": values["srad"] * daylength(days, latitude)[:, 0] / 1e6,
        "dew_point_2m_mean": 237.3 * ratio / (17.27 - ratio),
    }


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
