"""What a run has consumed of a basin, as a hash: the same hashes lead to the same numbers."""

from collections.abc import Sequence

from hydrology.base.calendar import Day, Period
from jobspec.changes import Changes
from operations.data.dataset import BasinForcing, content_hash
from operations.forecasting.advance_states import ONE_DAY
from operations.forecasting.days import RunDays
from operations.forecasting.weather_ahead import WeatherAhead
from records.database.ids import fingerprint
from records.runs.bridge_used import RunBridge


def inputs_hash(
    forcing: BasinForcing,
    weather: WeatherAhead,
    bridges: Sequence[RunBridge],
    days: RunDays,
    first: Day,
    changes: Changes,
) -> str:
    """Return the hash of what was consumed from a day on, of the bridges that it is of, and of what was changed.

    Args:
        weather: after T0, as it was changed.
        first: the day after that of the parent state.
    """
    consumed, over = _consumed(forcing, weather, days, first), [bridge.sha256 for bridge in bridges]
    if not changes.nothing:
        over.append(fingerprint(changes.as_json()))
    return fingerprint([consumed, *over]) if over else consumed


def _consumed(forcing: BasinForcing, weather: WeatherAhead, days: RunDays, first: Day) -> str:
    record = forcing.forcing
    if weather.of_record:
        consumed = record.over(Period(first, days.ahead.last))
        return content_hash(consumed.mass, consumed.auxiliary, consumed.static)
    to_t0 = slice(*((at - record.first).astype(int) for at in (first, days.t0 + ONE_DAY)))
    arrays = record.mass[:, to_t0], record.auxiliary[:, to_t0], record.static
    return content_hash(*arrays, weather.forcing.mass, weather.forcing.auxiliary)
