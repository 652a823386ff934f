"""Synthetic basins whose weather comes by feeds, day by day, and a version that has learnt from what they brought."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from hydrology.base.calendar import Day, Period
from hydrology.base.series import DailySeries
from hydrology.weather.bridge import BRIDGED
from jobspec.feed_kinds import NewFeed, read_settings
from jobspec.training import InputsConfig
from operations.basin_data.sources import Intake
from operations.daily.daily_cycle import Cycle, daily
from operations.daily.daily_forecasts import DailyRequest
from operations.feeds.fetch import FetchCallbacks, fetch
from records.basins import basins
from records.database.engine import Database
from records.database.work import Progress
from records.feeds import feeds
from records.series import series
from records.versions import promotions
from runtime.clock import Clock
from runtime.settings import Settings
from testing.country import BASINS, configuration
from testing.feed_services.server import replacing_services, serving
from testing.feed_services.world import Gauge, World
from testing.synthetic import archive as synthetic
from testing.training import train
from testing.work import work_of

PRODUCT = "live"
ISSUE_DAY = datetime(2005, 6, 1, 14, tzinfo=UTC)
"""When the first cycle begins: the feed has brought the days until some before."""
RECORD = Period.parse("2000-10-01..2005-05-28")
HORIZON = 5
ARCHIVE = {"adapter": "open-meteo-archive", "model": "era5", "product": PRODUCT, "days_back": 10}
FORECAST = {"adapter": "open-meteo-forecast", "model": "ecmwf_ifs", "days_ahead": 8}


def quiet(*_: Any) -> None:
    """Send nothing to anybody."""


@dataclass
class Station:
    """A database that follows the basins, the services of its world, and the clock of both."""

    database: Database
    world: World
    settings: Settings
    show: Progress = quiet

    @property
    def clock(self) -> Clock:
        return Clock(self.world.now)

    @property
    def intake(self) -> Intake:
        return Intake(self.settings.data / "downloads", self.settings.ingest_hosts, None, quiet, quiet)

    @property
    def environment(self) -> dict[str, str]:
        """The settings of a command that follows the world."""
        url = os.environ["FRESHET_OPEN_METEO_ARCHIVE_URL"]
        return {
            "FRESHET_OPEN_METEO_ARCHIVE_URL": url,
            "FRESHET_OPEN_METEO_FORECAST_URL": url,
            "FRESHET_OPEN_METEO_RUNS_URL": url,
            "FRESHET_INGEST_HOSTS": url.removeprefix("http://"),
            "FRESHET_AS_OF": self.world.now.isoformat(),
        }

    def add(self, name: str, settings: dict[str, Any]) -> None:
        with self.database.transaction() as session:
            feeds.create(session, NewFeed(name=name, settings=read_settings(settings)), None, self.world.now)

    def fetch(self, name: str, period: Period | None = None) -> None:
        fetch(
            work_of(self.database, self.clock, self.settings),
            self.intake,
            name,
            (),
            period,
            FetchCallbacks(pause=quiet),
        )

    def cycle(self, *names: str, days: int = 0, **asked: Any) -> Cycle:
        """Do a cycle, some days after the last."""
        self.world.now += timedelta(days=days)
        return daily(
            work_of(self.database, self.clock, self.settings, progress=self.show),
            self.intake,
            DailyRequest(HORIZON, **asked),
            names=names,
            listener=FetchCallbacks(pause=quiet),
        )

    def stop(self, basin: str, last: Day) -> None:
        """Let a basin's weather end."""
        gauge = self.world.gauges[basin]
        weather = {name: daily.over(Period(daily.start, last)) for name, daily in gauge.weather.items()}
        self.world.gauges = {**self.world.gauges, basin: replace(gauge, weather=weather)}

    def change(self, basin: str, at: Day, rain: float) -> None:
        """Let the archive report another rain of a day."""
        gauge = self.world.gauges[basin]
        daily = gauge.weather["precipitation"]
        values = daily.values.copy()
        values[int((at - daily.start).astype(int))] = rain
        weather = {**gauge.weather, "precipitation": replace(daily, values=values)}
        self.world.gauges = {**self.world.gauges, basin: replace(gauge, weather=weather)}


def world_of(database: Database) -> World:
    """Return a world with the stored data of the synthetic basins, all of it in time."""
    gauges = {}
    with database.reading() as session:
        for name in BASINS:
            basin = basins.get(session, name)
            weather: dict[str, DailySeries] = {}
            for variable in BRIDGED:
                daily = series.read(session, name, synthetic.PRODUCT, variable)
                assert daily is not None
                weather[variable] = replace(daily, values=daily.values.astype(np.float64))
            assert basin.latitude is not None
            assert basin.longitude is not None
            gauges[name] = Gauge(name, basin.latitude, basin.longitude, 1e9, weather["precipitation"], weather)
    return World(gauges, ISSUE_DAY)


@contextmanager
def station(database: Database, folder: Path) -> Iterator[Station]:
    """Serve the world of a database's basins."""
    world = world_of(database)
    with serving(world) as url, replacing_services(url):
        settings = Settings(data=folder, ingest_hosts=(("127.0.0.1", int(url.rpartition(":")[2])),))
        yield Station(database, world, settings)


def prepare(at: Station) -> None:
    """Bring the past by a feed, and train a version on it that serves every basin."""
    with at.database.transaction() as session:
        for name in BASINS:
            basin = basins.get(session, name)
            basins.upsert(session, replace(basin, areas={**basin.areas, PRODUCT: 1e9}))
    at.add("past", ARCHIVE)
    at.fetch("past", RECORD)
    config = configuration(inputs=InputsConfig(product=PRODUCT))
    version = train(work_of(at.database, at.clock), config, BASINS).version_id
    with at.database.transaction() as session:
        promotions.promote(session, version, BASINS, reason="live", by="a test", at=ISSUE_DAY)
