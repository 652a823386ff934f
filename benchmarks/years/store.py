"""A store with its issue days: each stored by the functions of the service, like real forecasts."""

import shutil
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.speed.calibrated_forecast import error_model
from benchmarks.speed.country import PRODUCT, UNITS, SyntheticCountry
from benchmarks.speed.warm_forecast import CLOCK, prepare
from benchmarks.speed.weather_traces import ESP_HORIZON, LEADS, T0, issue, store_weather
from benchmarks.years.pattern import Pattern
from hydrology.base.calendar import Day
from hydrology.base.products import WEATHER
from hydrology.base.series import DailySeries
from hydrology.weather.forcing import WeatherForecast, WeatherIssue
from hydrology.weather.forcing_kinds import ForcingKind
from ingestion.feeds.base import Observations
from jobspec.jobs.forecasting import ForecastParams
from operations.basin_data.ingest import store as store_observed
from operations.upkeep.prune import prune
from records.access import audit
from records.basins import basins
from records.basins.ownership import Basin
from records.database.checksums import new_id
from records.database.engine import Database
from records.jobs import attempts, jobs
from records.outlooks.outlooks import store_run
from records.runs import run_types, runs, states
from records.runs.run_weather import RunWeather, WeatherSkill, name_of_weather
from records.runs.tables import State
from records.versions import error_models, promotions
from records.weather import weather_issues
from runtime.clock import Clock
from runtime.settings import Settings
from testing.work import work_of

PATTERNS = 8  # basins
PROGRESS = 5  # events of a job: as many as its heartbeats that find its progress changed
SPREAD = 0.5  # of the factors, in logarithms
BY = audit.Actor("a benchmark")
SOURCE, MODEL = "ensemble", "traces"
SUPPLIED: Literal["supplied"] = "supplied"
CLIMATOLOGY: Literal["climatology"] = "climatology"


@dataclass(frozen=True)
class Standing(Clock):
    """A clock that stands."""

    at: datetime = field(kw_only=True)

    def wall(self) -> datetime:
        """Return its instant."""
        return self.at


@dataclass
class Store:
    """A database with basins, a version in use and an error model, and the patterns of its issue days."""

    database: Database
    file: Path
    settings: Settings
    version: str
    names: Sequence[str]
    patterns: Sequence[Pattern]
    created: Mapping[str, run_types.Run]
    drawn: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def copied(self, folder: Path) -> "Store":
        """Return another store that holds the same."""
        self.database.close()
        shutil.copytree(self.file.parent, folder)
        file = folder / self.file.name
        settings = Settings.load(data=folder, database_url=f"sqlite:///{file}")
        return replace(self, database=Database(settings.database_url), file=file, settings=settings)

    @property
    def sizes(self) -> Mapping[str, int]:
        """How many bytes each table takes with its indexes."""
        of_table = "SELECT tbl_name, sum(pgsize) FROM dbstat JOIN sqlite_master USING (name) GROUP BY tbl_name"
        with closing(sqlite3.connect(self.file)) as connection:
            return dict(connection.execute(of_table).fetchall())

    def issue_day(self, at: datetime, names: Sequence[str]) -> None:
        """Store the data of an issue day of some basins: states, a weather forecast, runs and the job that ran them."""
        t0 = _day_before(at)
        factors = dict(zip(names, self.drawn.lognormal(0, SPREAD, len(names)).astype(np.float32), strict=True))
        job = self._started("daily", {}, at)
        issued = self._store_weather(t0, factors, at)
        stored = self._store_states(t0, factors, at)
        if at.day == 1:
            self._issue(CLIMATOLOGY, t0, factors, stored, at - timedelta(minutes=1))
        self._issue(SUPPLIED, t0, factors, stored, at, issued)
        self._end(job, {"issued": len(names), "runs": [], "problems": {}}, at)

    def observe(self, at: datetime, basin: str) -> None:
        """Store what two feeds report of the day before in a basin: its flow, and five variables of its weather."""
        day, value = _day_before(at), np.float32(self.drawn.lognormal())
        flow = {"discharge": _of_day(day, value, "cfs")}
        past = {name: _of_day(day, value, UNITS[name]) for name in UNITS if name in WEATHER}
        with self.database.transaction() as session:
            for variables, feed in ((flow, "flow"), (past, "weather")):
                observed = Observations(variables, f"https://feeds.example/{feed} {basin}")
                store_observed(session, observed.as_data(basin, PRODUCT), Standing(at=at))

    def prune(self, at: datetime) -> None:
        """Apply the rules of retention, as a job does."""
        job = self._started("prune", {}, at)
        pruned = {of.rule: of.count for of in prune(work_of(self.database, Standing(at=at), self.settings), BY)}
        self._end(job, {"pruned": pruned}, at)

    def _like(self, t0: Day, names: Iterable[str]) -> Mapping[str, Pattern]:
        """Return for each basin the one whose pattern it follows: another every day."""
        number = int(t0.astype(int))
        return {name: self.patterns[(number + int(name[-3:])) % len(self.patterns)] for name in names}

    def _store_weather(self, t0: Day, factors: Mapping[str, np.float32], at: datetime) -> RunWeather:
        reference = datetime.combine(at.date(), datetime.min.time(), UTC)
        ahead = WeatherIssue(source=SOURCE, model=MODEL, reference_time=reference, available_time=at)
        like = self._like(t0, factors)
        forecasts: list[WeatherForecast] = [
            like[basin].weather_like(ahead, basin, t0 + 1, factor) for basin, factor in factors.items()
        ]
        with self.database.transaction() as session:
            stored = weather_issues.store(session, forecasts, at, operational=True)
        return RunWeather(
            id=stored.issue_id,
            source=SOURCE,
            model=MODEL,
            reference_time=reference,
            available_time=at,
            licence=None,
            credit=None,
            skill=WeatherSkill(issues=0, correlations={}),
            recalibration=error_models.ASSUMED,
        )

    def _store_states(self, t0: Day, factors: Mapping[str, np.float32], at: datetime) -> Mapping[str, State]:
        like = self._like(t0, factors)
        with self.database.transaction() as session:
            return {
                basin: states.put(session, [like[basin].state_like(basin, t0, factor)], at)[0]
                for basin, factor in factors.items()
            }

    def _issue(
        self,
        kind: str,
        t0: Day,
        factors: Mapping[str, np.float32],
        stored: Mapping[str, State],
        at: datetime,
        used: RunWeather | None = None,
    ) -> None:
        like, pattern = self._like(t0, factors), self.created[kind]
        fields = {name: getattr(pattern, name) for name in run_types.NewRun.__dataclass_fields__}
        dated = {"id": new_id(at), "t0": t0, "issued_at": at, "available_at": at, "created_at": at}
        new = run_types.NewRun(**fields | dated | {"forcing_cutoff": t0, "weather": used})
        results = [like[basin].result_like(kind, stored[basin], factor) for basin, factor in factors.items()]
        with self.database.transaction() as session:
            store_run(session, new, results)

    def _started(self, kind: str, params: dict[str, Any], at: datetime) -> str:
        new = jobs.NewJob(kind=kind, params=params, queue="default", schedule_id="0" * 22)
        with self.database.transaction() as session:
            job = jobs.create(session, new, at)[0].id
            attempts.claim(session, job, worker="worker", lease_until=at + timedelta(hours=1), at=at)
        return job

    def _end(self, job: str, result: dict[str, Any], at: datetime) -> None:
        with self.database.transaction() as session:
            for done in range(PROGRESS):
                shown = {"done": done, "total": PROGRESS, "detail": "basin-days to T0"}
                attempts.heartbeat(session, job, 1, lease_until=at + timedelta(hours=1), progress=shown, at=at)
            attempts.finish(session, job, 1, status="succeeded", result=result, at=at)


def opened(folder: Path, count: int) -> Store:
    """Return a store of a number of basins that has seen no issue day yet, but those of the patterns."""
    folder.mkdir()
    file = folder / "freshet.sqlite"
    settings = Settings.load(data=folder, database_url=f"sqlite:///{file}")
    database = Database(settings.database_url)
    database.migrate()
    country, names = SyntheticCountry(PATTERNS), SyntheticCountry(count).basins()
    version = prepare(database, country, PRODUCT, T0)
    store_weather(database, country.basins())
    patterns, created = _patterns(database, version, country.basins())
    with database.transaction() as session:
        for name in names:
            basins.upsert(session, Basin(name))
        promotions.promote(session, version, names, reason="to measure", by=BY.name, at=CLOCK.wall())
    return Store(
        database=database,
        file=file,
        settings=settings,
        version=version,
        names=names,
        patterns=patterns,
        created=created,
    )


def _patterns(database: Database, version: str, names: list[str]) -> tuple[list[Pattern], dict[str, run_types.Run]]:
    """Return what calibrated forecasts leave of some basins, and the runs."""
    with database.transaction() as session:
        (stored,) = weather_issues.list_issues(session, CLOCK.wall())
        error_models.replace(session, error_model(version, names), CLOCK.wall())
        weather = name_of_weather(stored.source, stored.model)
        error_models.replace_recalibration(session, version, weather, error_models.ASSUMED, CLOCK.wall())
    horizons: dict[ForcingKind, int] = {SUPPLIED: LEADS, CLIMATOLOGY: ESP_HORIZON}
    created: dict[str, run_types.Run] = {}
    for kind, horizon in horizons.items():
        asked: dict[str, Any] = {"basins": names, "t0": T0, "version": version}
        issue(database, ForecastParams(**asked, weather=kind, horizon=horizon))
        with database.reading() as session:
            (created[kind],) = runs.list_runs(session, limit=1)
    with database.reading() as session:
        forecasts = weather_issues.read_many(session, stored.id, names, CLOCK.wall())
        return [Pattern.read(session, name, created, forecasts[name]) for name in names], created


def _day_before(at: datetime) -> Day:
    return np.datetime64(at.date(), "D") - np.timedelta64(1, "D")


def _of_day(day: Day, value: np.float32, unit: str) -> DailySeries:
    return DailySeries(day, np.array([value], np.float32), np.zeros(1, np.uint8), unit)
