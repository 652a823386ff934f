"""The daily cycle from fetch to stored forecasts: 50, 150 and 447 basins x 10 members x 1 and 31 traces x 10 days.

Every issue day a server of this machine, in a process of its own, gives the flow and weather of the last 30 days and a
weather forecast; a cycle stores them, advances the states by a day and issues a run. `cpu_seconds` is of a whole cycle,
`fetch_cpu_seconds` of fetching the feeds and storing their data. `products_cpu_seconds` is of the bare products: each
linear layer of the networks once for the day until T0 and once a day ahead for every trace, in float32, by torch, as
many samples at a time as the service runs. `growth` is the CPU seconds of a basin over those where basins are fewest.

Synthetic basins with 29 years of weather, an untrained ensemble of the default network, SQLite, one thread; CPU seconds
of this process, the median of ROUNDS issue days after a first one. `--basins` sets the largest number of basins. The
last cycles are of a combined version like `freshet-us`: four parts on two products, each with a feed of its own, and on
the mean of both.

`--only divided` instead does a cycle with 31 traces in two processes and, the next day, in one, after a first one
(`benchmarks.divided`); `--only divided-combined` the same of the combined version.
"""

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.divided import timed
from benchmarks.speed.country import PERIOD, PRODUCT, SyntheticCountry
from benchmarks.speed.warm_forecast import CLOCK, MEMBERS, add_version, cpu_seconds, prepare
from benchmarks.speed.weather_traces import products
from hydrology.base.calendar import Period, as_date
from hydrology.base.series import DailySeries
from hydrology.base.units import Area, converted
from hydrology.weather.bridge import BRIDGED
from ingestion.base import BasinData
from jobspec.feed_kinds import NewFeed, read_settings
from jobspec.jobs.forecasting import ISSUE_TIME
from operations.basin_data.ingest import ingest
from operations.basin_data.sources import Intake
from operations.daily.daily_cycle import daily
from operations.daily.daily_forecasts import DailyRequest
from operations.states.advance_states import ADVANCING
from operations.versions.load_networks import load_version
from operations.weather.fuse import fuse
from records.database.engine import Database
from records.feeds import feeds
from records.versions import combinations, promotions
from runtime.child_processes import spawn_context
from runtime.clock import Clock
from runtime.settings import Settings
from testing.feed_services.server import replacing_services, serving
from testing.feed_services.world import Gauge, World
from testing.work import work_of

COUNTS, TRACES = (50, 150, 447), (1, 31)
HORIZON, ROUNDS = 10, 3
LIVE, SECOND, MEAN = "live", "second", "mean"
COMBINED = ((LIVE, "mclstm", 6), (SECOND, "mclstm", 6), (LIVE, "buckets", 3), (MEAN, "buckets", 2))
"""The parts of `freshet-us`: product, network and members."""
BEGIN = PERIOD.last - 30
"""The last day that is stored before the first cycle."""
FEEDS = {
    "flow": {"adapter": "usgs"},
    "past": {"adapter": "open-meteo-archive", "model": "era5", "product": LIVE},
    "past-second": {"adapter": "open-meteo-archive", "model": "era5", "product": SECOND},
    "ahead-1": {"adapter": "open-meteo-forecast", "model": "ecmwf_ifs", "days_ahead": HORIZON},
    "ahead-31": {"adapter": "open-meteo-ensemble", "model": "ncep_gefs025", "members": 31, "days_ahead": HORIZON},
}


def measure(basins: int = COUNTS[-1], only: str | None = None) -> dict[str, Any]:
    """Return CPU seconds by basins and traces, how they grow, and their share of the bare products."""
    if only is not None:
        return {"cycles": [*_divided(basins, _combined_version if only == "divided-combined" else _default_version)]}
    counts = [count for count in COUNTS if count < basins] + [basins]
    cycles = [cycle for count in counts for cycle in _of_basins(count, _default_version)]
    for cycle in cycles:
        fewest = next(other for other in cycles if other["traces"] == cycle["traces"])
        per_basin = (one["cpu_seconds"] / one["basins"] for one in (cycle, fewest))
        cycle["growth"] = next(per_basin) / next(per_basin)
    return {
        "shape": f"{MEMBERS} members x {HORIZON} days, 1 thread",
        "cycles": cycles,
        "combined": [*_of_basins(counts[-1], _combined_version)],
    }


@dataclass(frozen=True, slots=True)
class LiveCountry:
    """The synthetic country as gauges of USGS whose weather is of two live products alike, known until a day."""

    country: SyntheticCountry
    known: Period

    def basins(self) -> list[str]:
        """Return the basins' identifiers."""
        return [f"USGS-9{basin.removeprefix('SYNTH-').zfill(7)}" for basin in self.country.basins()]

    def read(self, basin: str) -> BasinData:
        """Return a basin's series and attributes; no two lie at the same place."""
        number = int(basin.removeprefix("USGS-9"))
        data = self.country.read(f"SYNTH-{number:03d}")
        area = data.areas[PRODUCT]
        series = tuple(
            replace(
                one,
                product=product,
                series=(_in_cfs(one.series, area) if one.variable == "discharge" else one.series).over(self.known),
            )
            for one in data.series
            for product in ((LIVE, SECOND) if one.product == PRODUCT else ("usgs",))
        )
        areas, place = {LIVE: area, SECOND: area}, (30 + number % 450 / 30, -70 - number % 450 / 15 - number // 450)
        return replace(data, basin=basin, areas=areas, latitude=place[0], longitude=place[1], series=series)


def _in_cfs(daily: DailySeries, area: float) -> DailySeries:
    values = converted(daily.values, unit="mm/day", into="cfs", area=Area(LIVE, area)).astype(np.float32)
    return replace(daily, values=values, unit="cfs")


def _default_version(database: Database, source: LiveCountry) -> list[str]:
    return [prepare(database, source, LIVE, BEGIN - HORIZON)]


def _combined_version(database: Database, source: LiveCountry) -> list[str]:
    """Store the parts of a combined version, and return them."""
    ingest(work_of(database, CLOCK), source)
    fuse(work_of(database, CLOCK), MEAN, (LIVE, SECOND))
    names, day = source.basins(), BEGIN - HORIZON
    return [
        add_version(
            database, names, day, inputs={"product": product}, network={"architecture": network}, members=members
        )
        for product, network, members in COMBINED
    ]


@dataclass(slots=True)
class _Service:
    """A store of basins whose parts of a version are in use, and the server of their feeds, at the first issue day."""

    database: Database
    settings: Settings
    server: Connection
    issue_day: datetime
    parts: list[str]

    def next_day(self) -> datetime:
        """Let the feeds give what is known on an issue day, and return it; one day later each time."""
        self.server.send(self.issue_day)
        self.issue_day += timedelta(days=1)
        return self.issue_day - timedelta(days=1)

    def feeds(self, traces: int) -> tuple[str, ...]:
        """Return the names of the feeds of a cycle with a number of traces."""
        past = ("flow", "past") if len(self.parts) == 1 else ("flow", "past", "past-second")
        return (*past, f"ahead-{traces}")


@contextmanager
def _service(count: int, add_versions: Callable[[Database, LiveCountry], list[str]]) -> Iterator[_Service]:
    country = SyntheticCountry(count)
    with tempfile.TemporaryDirectory() as folder, _served(count) as (url, server), _services(url):
        database = Database(f"sqlite:///{folder}/freshet.sqlite")
        database.migrate()
        issue_day = datetime.combine(as_date(BEGIN + 2), ISSUE_TIME)
        with database.transaction() as session:
            for name, shown in FEEDS.items():
                feeds.create(session, NewFeed(name=name, settings=read_settings(shown)), None, issue_day)
        source = LiveCountry(country, Period(PERIOD.first, BEGIN))
        parts = add_versions(database, source)
        with database.transaction() as session:
            version, weights = parts[0], dict.fromkeys(parts, 0.25)
            if len(parts) > 1:
                version = combinations.combine(session, weights, label=None, wall=issue_day, now=issue_day).id
            promotions.promote(session, version, source.basins(), reason="to measure", by="a benchmark", at=issue_day)
        yield _Service(database, _settings(Path(folder), url), server, issue_day, parts)
        database.close()


def _divided(count: int, add_versions: Callable[[Database, LiveCountry], list[str]]) -> Iterator[dict[str, Any]]:
    with _service(count, add_versions) as service:
        cycles = []
        for cores in (2, 2, 1):
            work = work_of(service.database, Clock(service.next_day()), service.settings, cores=cores)
            taken, result = timed(work, "daily", count, horizon=HORIZON, feeds=[*service.feeds(TRACES[-1])])
            if result["counts"] != {"issued": count} or result["problems"]:
                raise SystemExit(f"Not all basins have their forecast: {result['counts']}, {result['problems']}.")
            cycles.append(taken)
        yield from cycles[1:]


def _of_basins(count: int, add_versions: Callable[[Database, LiveCountry], list[str]]) -> Iterator[dict[str, Any]]:
    """Measure the cycles of a number of basins, with each number of traces."""
    with _service(count, add_versions) as service:
        with service.database.reading() as session:
            ensembles = [load_version(session, part).ensemble for part in service.parts]
        for traces in TRACES:
            rounds = []
            for _ in range(ROUNDS + 1):
                day = service.next_day()
                rounds.append(_cycle(service.database, day, service.settings, service.feeds(traces), count))
            whole, fetching = zip(*rounds[1:], strict=True)
            bare = sum(
                cpu_seconds(partial(products, ensemble, samples, days))
                for ensemble in ensembles
                for samples, days in ((count * traces, HORIZON), (count, 1))
            )
            yield {
                "basins": count,
                "traces": traces,
                "cpu_seconds": statistics.median(whole),
                "fetch_cpu_seconds": statistics.median(fetching),
                "products_cpu_seconds": bare,
                "over_products": statistics.median(whole) / bare,
            }


def _cycle(
    database: Database, issue_day: datetime, settings: Settings, names: tuple[str, ...], count: int
) -> tuple[float, float]:
    """Do a cycle; return the CPU seconds of it, and those until the feeds have given what they have."""
    started, fetched = time.process_time(), 0.0

    def show(_done: int, _total: int, what: str) -> None:
        nonlocal fetched
        if not what.startswith(ADVANCING):
            fetched = time.process_time() - started

    intake = Intake(settings.data, settings.ingest_hosts, None, lambda _done, _size: None, lambda _name: None)
    cycle = daily(
        work_of(database, Clock(issue_day), settings, progress=show), intake, DailyRequest(HORIZON), names=names
    )
    if cycle.counts != {"issued": count} or cycle.problems or {run.forcing_kind for run in cycle.runs} != {"supplied"}:
        raise SystemExit(f"Not all basins have their forecast: {cycle.counts}, {cycle.problems}.")
    return time.process_time() - started, fetched


def _services(url: str) -> AbstractContextManager[None]:
    # With a key, for Open-Meteo's free limit is less than 447 x 31 a fetch.
    return replacing_services(url, FRESHET_OPEN_METEO_KEY="a-key")


def _settings(folder: Path, url: str) -> Settings:
    return Settings(data=folder, ingest_hosts=(("127.0.0.1", int(url.rpartition(":")[2])),))


@contextmanager
def _served(count: int) -> Iterator[tuple[str, Connection]]:
    """Serve the country from another process; gives the server's address, and a way to set its time."""
    context = spawn_context()
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(count, theirs))
    process.start()
    theirs.close()  # so that its end is seen here
    try:
        yield ours.recv(), ours
    finally:
        ours.send(None)
        process.join()


def gauges_of(source: LiveCountry) -> dict[str, Gauge]:
    """Return the gauges of a country, as a local server gives them."""
    gauges = {}
    for basin in source.basins():
        data = source.read(basin)
        shown = {one.variable: one.series for one in data.series}
        weather = {name: shown[name] for name in BRIDGED}
        place = float(data.latitude or 0), float(data.longitude or 0)
        gauges[basin] = Gauge(basin, *place, data.areas[LIVE], shown["discharge"], weather)
    return gauges


def _serve(count: int, orders: Connection) -> None:
    source = LiveCountry(SyntheticCountry(count), Period(BEGIN - 60, PERIOD.last))
    world = World(gauges_of(source), datetime.combine(as_date(BEGIN), ISSUE_TIME))
    with serving(world) as url:
        orders.send(url)
        while (now := orders.recv()) is not None:
            world.now = now
