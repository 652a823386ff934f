"""Hashes the inputs that a run consumed for a basin. Equal hashes lead to equal numbers."""

from collections.abc import Sequence

from hydrology.base.calendar import Day, Period
from hydrology.base.digests import fingerprint, inputs_sha256
from jobspec.changes import Changes
from operations.basin_data.dataset import BasinForcing
from operations.forecasting.days import RunDays
from operations.forecasting.weather_ahead import WeatherAhead
from operations.states.advance_states import ONE_DAY
from records.runs.run_weather import RunBridge, sources_only


def inputs_hash(
    *,
    forcing: BasinForcing,
    weather: WeatherAhead,
    bridges: Sequence[RunBridge],
    days: RunDays,
    first: Day,
    changes: Changes,
) -> str:
    """Return the hash of the inputs from a day on, with their bridges, the sources of filled weather, and changes.

    Args:
        weather: after T0, with its changes.
        first: the day after that of the parent state.
    """
    consumed, over = _consumed(forcing, weather, days, first), [bridge.sha256 for bridge in bridges]
    if weather.filled:
        over.append(fingerprint(sources_only(weather.filled)))
    if not changes.nothing:
        over.append(fingerprint(changes.as_json()))
    return fingerprint([consumed, *over]) if over else consumed


def _consumed(forcing: BasinForcing, weather: WeatherAhead, days: RunDays, first: Day) -> str:
    record = forcing.forcing
    if weather.of_record:
        consumed = record.over(Period(first, days.ahead.last))
        return inputs_sha256(consumed.mass, consumed.auxiliary, consumed.static)
    to_t0 = slice(*((at - record.first).astype(int) for at in (first, days.t0 + ONE_DAY)))
    arrays = record.mass[:, to_t0], record.auxiliary[:, to_t0], record.static
    return inputs_sha256(*arrays, weather.forcing.mass, weather.forcing.auxiliary)
