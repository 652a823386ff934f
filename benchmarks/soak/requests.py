"""What is read and what is posted."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from benchmarks.soak.country import FETCHED, KNOWN, T0, country
from benchmarks.speed.daily_cycle import LIVE
from benchmarks.speed.warm_forecast import SPIN_UP

READ = (
    "/v1/basins",
    "/v1/basins/{basin}",
    "/v1/basins/{basin}/forecasts/latest",
    "/v1/basins/{basin}/forecasts/latest?format=netcdf",
    "/v1/forecasts",
    "/v1/forecasts?format=csv",
    "/v1/runs",
    "/v1/runs/{run}",
    "/v1/runs/{run}/basins/{basin}",
    f"/v1/basins/{{basin}}/observations?product={LIVE}",
    f"/v1/basins/{{basin}}/observations?product={LIVE}&format=parquet",
    "/v1/basins/{basin}/storage",
    "/v1/basins/{basin}/water-balance",
    "/v1/basins/{basin}/exceedance",
    "/v1/basins/{basin}/normals",
    "/v1/basins/{basin}/skill",
    "/v1/basins/{basin}/verification",
    "/v1/models/{version}",
    "/v1/models/{version}/skill",
    "/v1/jobs",
    "/v1/weather",
    "/v1/feeds",
    "/v1/alerts",
    "/v1/edr/collections",
    "/v1/status",
    "/openapi.json",
    "/metrics",
    "/",
    "/basins/{basin}",
    "/basins/{basin}/what-if",
    "/models/{version}",
    "/alerts",
    "/status",
)
"""The addresses, as they are counted; each is read as often as every other."""

OWN = "OWN-mill"
OWN_BASIN = {"name": "Mill Creek", "latitude": 44.085, "longitude": -115.622, "area_km2": 118.4}
YEAR = "2004-10-01..2005-09-30"

_TURNS = (
    *("forecast", "what-if", "forecast", "observations", "forecast", "fetch flow", "what-if", "weather"),
    *("forecast", "fetch weather", "verification", "forecast", "forecast", "prune", "check"),
)
_EVALUATED_EVERY = 5 * len(_TURNS)  # it takes as long as all of a round


@dataclass(frozen=True, slots=True)
class Post:
    """A job that is posted.

    Attributes:
        what: as it is counted.
        path: where to.
        body: what.
        key: the idempotency key that it is sent under, until it is answered.
    """

    what: str
    path: str
    body: Any
    key: str


def post(number: int) -> Post:
    """Return the post of a number: no two are the same."""
    what = _TURNS[number % len(_TURNS)] if number % _EVALUATED_EVERY else "evaluation"
    path, body = _request(what, number)
    return Post(what, path, body, f"soak-{number}")


def _request(what: str, number: int) -> tuple[str, Any]:
    match what.split():
        case ["observations"]:
            return "/v1/basins/observations", _table(number)
        case ["weather"]:
            return "/v1/weather", _weather(number)
        case ["fetch", feed]:
            return "/v1/jobs", {"kind": "fetch", "params": {"feed": feed, "period": _days(number)}}
        case ["forecast" | "what-if"]:
            ahead = {"t0": str(T0 - number % SPIN_UP), "horizon": 2 + number // SPIN_UP % 8}
            changes = {"changes": {"degrees": 2.0, "increment": {"mm": 10.0}}} if what == "what-if" else {}
            return "/v1/jobs", {"kind": what, "params": ahead | changes}
        case ["evaluation"]:
            return "/v1/jobs", {"kind": what, "params": {"period": YEAR}}
    return "/v1/jobs", {"kind": what, "params": {}}


def _days(number: int) -> str:
    """Return ten days, of which all but the last are asked for again: each round of posts goes a day on."""
    last = KNOWN.last + 1 + number // len(_TURNS) % FETCHED
    return f"{last - 9}..{last}"


def _table(number: int) -> list[dict[str, Any]]:
    first = datetime(2000, 1, 1, tzinfo=UTC) + timedelta(days=number)
    days = [f"{first + timedelta(days=day):%Y-%m-%d}" for day in range(30)]
    return [{"basin": OWN, "date": day, "precipitation_mm_per_day": number % 20, "tmax_degC": 9} for day in days]


def _weather(number: int) -> dict[str, Any]:
    began = datetime(2008, 10, 1, tzinfo=UTC) + timedelta(minutes=number)
    days = [f"{began + timedelta(days=day):%Y-%m-%d}" for day in range(10)]
    trace = {"precipitation": [number % 9 + 0.5] * 10, "tmax": [9.0] * 10, "tmin": [1.0] * 10}
    return {
        "source": "our-own",
        "model": "guesses",
        "reference_time": began.isoformat(),
        "units": {"precipitation": "mm/day", "tmax": "degC", "tmin": "degC"},
        "basins": {basin: {"time": days, "traces": {"dry": trace, "wet": trace}} for basin in country().basins()},
    }
