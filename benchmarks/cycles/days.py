"""Issue days of a synthetic country: by a scheduler and workers on PostgreSQL, and undivided in this process."""

import hashlib
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

from sqlalchemy import select

from benchmarks.replays.live import intake_of
from benchmarks.speed.country import PERIOD, SyntheticCountry
from benchmarks.speed.daily_cycle import FEEDS, HORIZON, LIVE, LiveCountry, gauges_of
from benchmarks.speed.warm_forecast import prepare
from hydrology.base.calendar import Period, as_date
from jobspec.feed_kinds import NewFeed, read_settings
from jobspec.jobs.forecasting import ISSUE_TIME
from models import ensemble
from models.ensemble import GROUP
from operations.basin_data import dataset
from operations.daily.daily_cycle import daily
from operations.daily.daily_forecasts import DailyRequest
from operations.forecasting import calibration, simulate
from operations.states import advance_states
from records.database.engine import Database
from records.feeds import feeds
from records.runs import runs
from records.runs.run_types import RUN_BASINS, RUNS
from records.runs.tables import STATES
from records.versions import promotions
from runtime.clock import Clock
from runtime.settings import Settings
from testing.feed_services.server import replacing_services, serving
from testing.feed_services.world import World
from testing.jobs.processes import Shop
from testing.parts.forked_parts import ForkedPart
from testing.work import work_of

LEASE = 20.0
BEGIN = PERIOD.last - 60
"""The last day that is stored before the first cycle."""
BY_GROUPS = (ensemble, dataset, calibration, simulate, advance_states)
"""What reads and computes groups of basins."""
USED_FEEDS = ("flow", "past", "ahead-31")


@dataclass(frozen=True, slots=True)
class Days:
    """A store before the first of its issue days, and the services that its feeds ask.

    Attributes:
        file: the store, on SQLite.
    """

    file: Path
    world: World
    url: str
    basins: list[str]

    @contextmanager
    def at(self, ahead: int) -> Iterator[datetime]:
        """Stand at an issue day until the block ends: this process and those that it starts."""
        self.world.now = datetime.combine(as_date(BEGIN + 2 + ahead), ISSUE_TIME)
        hosts = self.url.removeprefix("http://")
        chosen = {"FRESHET_OPEN_METEO_KEY": "a-key", "FRESHET_INGEST_HOSTS": hosts}
        with replacing_services(self.url, **chosen, FRESHET_AS_OF=self.world.now.isoformat()):
            yield self.world.now

    def undivided(self, count: int, block: int = GROUP) -> dict[str, str]:
        """Return the bits of some issue days that one process computes in one part, on SQLite.

        Args:
            block: number of basins that are read and computed together.
        """
        file = Path(shutil.copy(self.file, self.file.with_stem("undivided")))
        database = Database(f"sqlite:///{file}")
        with ExitStack() as stack:
            for module in BY_GROUPS:
                stack.enter_context(patch.object(module, "GROUP", block))
            for ahead in range(count):
                now = stack.enter_context(self.at(ahead))
                settings = Settings.load(data=file.parent, database_url=database.url)
                daily(work_of(database, Clock(now), settings), intake_of(settings), DailyRequest(HORIZON))
        found = bits(database)
        database.close()
        return found


@contextmanager
def prepared(folder: Path, count: int) -> Iterator[Days]:
    """Store a country of some basins with an untrained ensemble, and serve what its feeds ask for."""
    file, country = folder / "freshet.sqlite", SyntheticCountry(count)
    database, first = Database(f"sqlite:///{file}"), datetime.combine(as_date(BEGIN + 2), ISSUE_TIME)
    database.migrate()
    source = LiveCountry(country, Period(PERIOD.first, BEGIN))
    with database.transaction() as session:
        for name in USED_FEEDS:
            feeds.create(session, NewFeed(name=name, settings=read_settings(FEEDS[name])), None, first)
    version = prepare(database, source, LIVE, BEGIN - HORIZON)
    with database.transaction() as session:
        promotions.promote(session, version, source.basins(), reason="to measure", by="a benchmark", at=first)
    database.close()
    world = World(gauges_of(LiveCountry(country, Period(BEGIN - 60, PERIOD.last))), first)
    with serving(world) as url:
        yield Days(file, world, url, source.basins())


def bits(database: Database) -> dict[str, str]:
    """Return a digest of every stored forecast and state, by what it is of."""
    forecasts = select(RUN_BASINS.c.run_id, RUN_BASINS.c.basin_id, RUNS.c.issued_at, RUNS.c.t0).join(
        RUNS, RUNS.c.id == RUN_BASINS.c.run_id
    )
    with database.reading() as session:
        found = {
            f"state of {row.basin_id}, {row.day}": str(row.sha256)
            for row in session.execute(select(STATES.c.basin_id, STATES.c.day, STATES.c.sha256))
        }
        for row in session.execute(forecasts).all():
            digest = hashlib.sha256()
            for name, one in sorted(runs.series_of(session, row.run_id, row.basin_id).items()):
                digest.update(name.encode() + one.values.tobytes())
            digest.update(repr(runs.ledger_of(session, row.run_id, row.basin_id)).encode())
            of = f"forecast of {row.basin_id}, {row.t0}, issued {row.issued_at}"
            if of in found:
                raise SystemExit(f"Issued twice: {of}.")
            found[of] = digest.hexdigest()
    return found


def differing(whole: Mapping[str, str], parts: Mapping[str, str]) -> list[str]:
    """Return what is not the same in both, or in one alone."""
    return sorted(of for of in whole.keys() | parts.keys() if whole.get(of) != parts.get(of))


@dataclass
class Workers:
    """A broker, a scheduler and workers that stand at an issue day."""

    shop: Shop
    count: int
    part_basins: int
    scheduler: ForkedPart = field(init=False)
    workers: list[ForkedPart] = field(init=False)

    def __post_init__(self) -> None:
        self.scheduler = self.shop.start("scheduler")
        self.workers = [self.worker() for _ in range(self.count)]

    def worker(self) -> ForkedPart:
        """Start a worker of all queues."""
        return self.shop.start(str(self.part_basins), module="benchmarks.cycles.noting")

    def cycle(self) -> Any:
        """Post a daily cycle."""
        return self.shop.post("daily", horizon=HORIZON)


@contextmanager
def working(data: Path, database_url: str, count: int, part_basins: int) -> Iterator[Workers]:
    """Start a scheduler and some workers whose parts of a cycle have at most some basins."""
    data.mkdir(exist_ok=True)
    settings = Settings.load(data=data, database_url=database_url, lease_seconds=LEASE)
    with ExitStack() as stack:
        shop = Shop(settings, stack)
        stack.callback(shop.close)
        yield Workers(shop, count, part_basins)
