"""Verifies forecasts with weather forecasts that err, from an empty history on, over two years.

Weather forecasts of stated errors are derived from the observed weather: until a day that is drawn for each issue the
forecast follows it, with wrong amounts and sometimes a day early or late; from that day on it is the weather of another
year. The traces of an ensemble differ from its control forecast by errors of half the size, so that their spread is too
small. Every issue day the states advance, the forecast is stored and the runs are issued as in operation; each tenth
issue day forecasts are recalibrated by what came (`freshet calibrate --forecasts`). Three histories begin empty.

By issue day and lead: coverage of the central 90 % and 50 % intervals, CRPSS over climatology (the days of other years
within a week) and over the raw traces, and how the chance of passing the highest 2 % of flow verified. `truth` has the
observed weather as its forecast.
"""

import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from datetime import time as time_of_day
from pathlib import Path
from typing import Any

import numpy as np
import structlog

from benchmarks.regional import data
from hydrology.base.absent import Absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Day, Period, as_date, day_of_year, days_between
from hydrology.base.errors import DataProblem
from hydrology.base.products import WEATHER
from hydrology.scores.probabilistic import crps, exceedance_probability
from hydrology.uncertainty.error_model import LEVELS
from hydrology.verification.results import Spread
from hydrology.weather.bridge import BRIDGED
from hydrology.weather.forcing import WeatherForecast, WeatherIssue
from jobspec.jobs.forecasting import ISSUE_TIME
from operations.alerts.decide_alerts import decide
from operations.basin_data.dataset import load_discharge
from operations.basin_data.ingest import ingest
from operations.daily.daily_forecasts import DailyRequest, issue_newest
from operations.training.pretrained import install, read_shipped
from operations.verification.recalibrate import recalibrate
from records.alerts import alerts
from records.database.engine import Database
from records.runs import run_arrays, run_types, runs
from records.series import series
from records.versions import promotions, versions
from records.weather import weather_issues
from runtime.clock import Clock
from testing.work import work_of

log = structlog.get_logger()

ENSEMBLE = "mclstm-maurer-447"
STARTS: Mapping[str, Sequence[Day]] = {
    years: [np.datetime64(day, "D") for day in of_seasons]
    for years, of_seasons in {
        "validation": ("1986-10-01", "1987-06-01", "1988-02-01"),
        "test": ("1994-10-01", "1995-06-01", "1996-02-01"),
    }.items()
}
"""First issue days with an empty history, in a wet, a warm and a cold season of two years."""
HORIZON, ENSEMBLE_TRACES = 10, 11
FIT_EVERY = 10
GROUPS = {"1-30": (0, 30), "31-90": (30, 90), "91-120": (90, 120)}
COUNT = 120
"""Issue days of a history."""
LEADS = (1, 3, 5, 10)
LARGEST_RAIN_MM = 1000.0
"""Of a day, whatever its factor."""
WARNING = 0.5
"""The chance from which a high flow counts as warned of."""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the errors of a weather forecast.

    Attributes:
        leaves: chance of leaving the weather that comes, by each day ahead.
        shifts: chance of a day early or late.
        amount: standard deviation of the logarithm of precipitation's factor on the first day; it grows with the root
            of the lead, as the others do.
        warmth: standard deviation of temperature, degC.
    """

    leaves: float
    shifts: float
    amount: float
    warmth: float


SIZES: Mapping[str, Size] = {
    "truth": Size(0.0, 0.0, 0.0, 0.0),
    "small": Size(0.02, 0.1, 0.1, 0.4),
    "medium": Size(0.05, 0.2, 0.2, 0.8),
    "large": Size(0.1, 0.4, 0.3, 1.2),
}


def measure(basins: int = 40, years: str = "validation", only: str = "") -> dict[str, Any]:
    """Return what the probabilities were worth, for each size of errors, with one trace and with an ensemble.

    Args:
        years: `validation` or `test`.
        only: names `SIZE/TRACES`, with commas between them; all if empty.
    """
    names = data.basins()[:: len(data.basins()) // basins][:basins]
    variants = [(size, traces) for size in SIZES for traces in (1, ENSEMBLE_TRACES)]
    chosen, starts, results = only.split(",") if only else None, STARTS[years], {}
    with tempfile.TemporaryDirectory() as folder:
        start = prepared(Path(folder), names, starts)
        for size, traces in variants:
            name = f"{size}/{traces}"
            if name in chosen if chosen else name != f"truth/{ENSEMBLE_TRACES}":
                results[name] = _replayed(start, SIZES[size], traces, starts)
                log.warning("benchmark.variant", name=name, result=results[name])
    shape = f"{len(names)} basins, {COUNT} issue days from each of {', '.join(map(str, starts))}, {HORIZON} days ahead"
    return {"shape": shape, "by_errors": results}


@dataclass(frozen=True, slots=True)
class Start:
    """A store with basins and a version, and nothing issued yet."""

    file: Path
    version: str
    archives: "Mapping[str, Archive]"

    @property
    def names(self) -> list[str]:
        """The basins."""
        return [*self.archives]


@dataclass(slots=True)
class Archive:
    """The observed weather and flow of a basin: (days, variables), and (days,) in mm/day, over the same period."""

    period: Period
    weather: Array
    flow: Array


def prepared(folder: Path, names: Sequence[str], starts: Sequence[Day]) -> Start:
    file, at = folder / "start.sqlite", issue_time(min(starts))
    database = Database(f"sqlite:///{file}")
    database.migrate()
    outcomes = ingest(work_of(database, Clock(at)), data.source(), names)
    data.require_all({outcome.basin: outcome.error for outcome in outcomes if outcome.error})
    version = install(work_of(database, Clock(at)), read_shipped(ENSEMBLE)).version_id
    with database.transaction() as session:
        promotions.promote(session, version, names, reason="to replay", by="a benchmark", at=at)
    archives = read_archives(database, version, names)
    database.close()
    return Start(file, version, archives)


def _replayed(start: Start, size: Size, traces: int, starts: Sequence[Day]) -> dict[str, Any]:
    before, scored = time.process_time(), _Scored(start.archives)
    for first in starts:
        file = Path(shutil.copy(start.file, start.file.with_name("replayed.sqlite")))
        database = Database(f"sqlite:///{file}")
        for number, day in enumerate(Period(first, first + COUNT - 1).days):
            at = Clock(issue_time(day))
            store_weather(database, at, start.archives, size, traces)
            done = issue_newest(work_of(database, at), start.names, DailyRequest(HORIZON, "operational", 1))
            scored.add(database, number, done.issued)
            if number == 0:
                decide(work_of(database, at), start.names)
                scored.decided.append(_decided(database, start.names))
            if number % FIT_EVERY == FIT_EVERY - 1:
                _fit(database, at, start.version)
        database.close()
        file.unlink()
    return scored.report() | {"cpu_seconds": round(time.process_time() - before)}


def _fit(database: Database, at: Clock, version: str) -> None:
    try:
        recalibrate(work_of(database, at), version)
    except DataProblem:
        return  # too few so far


def _decided(database: Database, names: Sequence[str]) -> int:
    """Return the number of basins whose alerts are decided."""
    with database.reading() as session:
        standings = alerts.standings(session, names)
    return sum(name in standings and standings[name].reason is None for name in names)


def read_archives(database: Database, version: str, names: Sequence[str]) -> dict[str, Archive]:
    archives = {}
    with database.reading() as session:
        products = versions.get(session, version).area_products
        for name in names:
            extent = series.extent(session, [name], data.PRODUCT, ["precipitation"])[name, "precipitation"]
            whole = Period(extent.first, extent.last)
            weather = series.read_many(session, [name], data.PRODUCT, BRIDGED, whole)[0].astype(np.float64)
            flow = load_discharge(session, name, products, whole)
            assert not isinstance(flow, Absent)
            archives[name] = Archive(whole, weather, flow.astype(np.float64))
    return archives


def store_weather(
    database: Database, at: Clock, archives: Mapping[str, Archive], size: Size, traces: int, name: str | None = None
) -> None:
    """Store a weather forecast with errors; those of a named weather model are its own."""
    first = np.datetime64(at.now().date(), "D") - 1  # one day of latency
    issue = WeatherIssue(
        source="a-benchmark",
        model=name or f"errs-{traces}",
        reference_time=datetime.combine(as_date(first), time_of_day(), UTC),
        available_time=at.now(),
        credit="Errors drawn by a benchmark.",
    )
    # One weather for all basins: the errors of an issue are drawn once.
    chance = np.random.default_rng([int(first.astype(int)), *(name or "").encode()])
    control = _Errors.draw(chance, size)
    of_traces = [control if traces == 1 else _Errors.draw(chance, size, control) for _ in range(traces)]
    forecasts = []
    for name, archive in archives.items():
        values = np.stack([errors.apply(archive, first) for errors in of_traces]).astype(np.float32)
        forecasts.append(
            WeatherForecast(
                issue=issue,
                basin=name,
                traces=tuple(f"{number:02}" for number in range(traces)),
                first=first,
                values={variable: values[..., at_] for at_, variable in enumerate(BRIDGED)},
                units={variable: WEATHER[variable].unit for variable in BRIDGED},
            )
        )
    with database.transaction() as session:
        weather_issues.store(session, forecasts, at.wall(), operational=True)


@dataclass(frozen=True, slots=True)
class _Errors:
    """The errors of a trace: which day's weather it takes for each day ahead, and by how much it changes it."""

    days: Array
    amount: Array
    warmth: Array

    @classmethod
    def draw(cls, chance: np.random.Generator, size: Size, of: "_Errors | None" = None) -> "_Errors":
        """Draw errors; with those of a control forecast, errors of half the size around it."""
        scale = 1.0 if of is None else 0.5
        leads, root = np.arange(HORIZON), np.sqrt(np.arange(1, HORIZON + 1))
        days = leads.astype(float) if of is None else of.days.copy()
        if chance.random() < size.shifts * scale:
            days += chance.choice([-1, 1])
        leaves = leads >= np.argmax(np.append(chance.random(HORIZON) < size.leaves * scale, True))
        years = chance.integers(1, 6) * chance.choice([-1, 1])
        days = np.where(leaves, leads + 365 * years + chance.integers(-10, 11), days)
        amount = np.exp(scale * size.amount * root * chance.normal())
        warmth = scale * size.warmth * root * chance.normal()
        return cls(days, amount if of is None else of.amount * amount, warmth if of is None else of.warmth + warmth)

    def apply(self, archive: Archive, first: Day) -> Array:
        """Return the weather of a basin as the trace has it, (days, variables)."""
        at = days_between(archive.period.first, first) + self.days.astype(int)
        weather = archive.weather[np.clip(at, 0, len(archive.weather) - 1)].copy()
        rain = weather[:, BRIDGED.index("precipitation")]
        rain[:] = np.minimum(rain * self.amount, LARGEST_RAIN_MM)
        for variable in ("tmax", "tmin"):
            weather[:, BRIDGED.index(variable)] += self.warmth
        return np.asarray(weather)


@dataclass(frozen=True, slots=True)
class _Issued:
    """A forecast of a basin: how many issue days were before it, and quantiles (leads, `LEVELS`) in mm/day."""

    number: int
    t0: Day
    calibrated: Array
    raw: Array


@dataclass(slots=True)
class _Scored:
    """What was issued for each basin.

    Attributes:
        decided: number of basins whose alerts the first issue day of each history decided.
    """

    archives: Mapping[str, Archive]
    issued: dict[str, list[_Issued]] = field(default_factory=lambda: defaultdict(list))
    decided: list[int] = field(default_factory=list)

    def add(self, database: Database, number: int, issued: Sequence[run_types.Run]) -> None:
        """Add the forecasts of an issue day.

        Raises:
            SystemExit: a basin has none.
        """
        there = set()
        with database.reading() as session:
            for run in issued:
                keys = [(run.id, name) for name in self.archives]
                wanted = ("discharge", run_arrays.LEVELS_OF_MEMBERS, run_arrays.CALIBRATED)
                for (_, name), arrays in runs.series_of_many(session, keys, wanted).items():
                    if arrays:
                        there.add(name)
                        raw = run_arrays.levels_of_members(arrays).T
                        self.issued[name].append(_Issued(number, run.t0, arrays[run_arrays.CALIBRATED].values.T, raw))
        if missing := self.archives.keys() - there:
            raise SystemExit(f"Issue day {number}: no forecast of {', '.join(sorted(missing))}.")

    def report(self) -> dict[str, Any]:
        """Return the scores by issue days and leads, pooled over the basins."""
        result: dict[str, Any] = {"alerts_decided_on_issue_day_1": self.decided}
        for name, (first, last) in GROUPS.items():
            result[name] = {str(lead): self._of(first, last, lead) for lead in LEADS}
        return result

    def _of(self, first: int, last: int, lead: int) -> dict[str, float]:
        parts = [self._of_basin(name, first, last, lead) for name in self.issued]
        together = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        high, warned = together["high"] > 0, together["chance"] >= WARNING
        hits = int((high & warned).sum())
        mean = {name: float(values.mean()) for name, values in together.items()}
        return {
            "inside_90": round(mean["inside_90"], 3),
            "inside_50": round(mean["inside_50"], 3),
            "crpss_climatology": round(1 - mean["crps"] / mean["crps_climatology"], 3),
            "crpss_raw": round(1 - mean["crps"] / mean["crps_raw"], 3),
            "high_flows": int(high.sum()),
            "pod": round(hits / max(int(high.sum()), 1), 3),
            "far": round(1 - hits / max(int(warned.sum()), 1), 3),
            "brier": round(float(((together["chance"] - together["high"]) ** 2).mean()), 5),
        }

    def _of_basin(self, name: str, first: int, last: int, lead: int) -> dict[str, Array]:
        archive = self.archives[name]
        issued = [one for one in self.issued[name] if first <= one.number < last]
        at = np.array([days_between(archive.period.first, one.t0) + lead for one in issued], dtype=np.int64)
        known = np.isfinite(archive.flow[at])
        observed = archive.flow[at][known]
        scale = float(np.nanmean(archive.flow))
        level = float(np.nanquantile(archive.flow, 0.98))
        quantiles = np.stack([one.calibrated[lead - 1] for one in issued])[known].astype(np.float64)
        raw = np.stack([one.raw[lead - 1] for one in issued])[known].astype(np.float64)
        of_climatology = np.array([climatology(archive, place) for place in at[known]]).reshape(-1, len(LEVELS))
        spread = Spread.of(quantiles, LEVELS, observed)
        return {
            "inside_90": spread.inside_90.astype(float),
            "inside_50": spread.inside_50.astype(float),
            "crps": crps(quantiles, LEVELS, observed) / scale,
            "crps_raw": crps(raw, LEVELS, observed) / scale,
            "crps_climatology": crps(of_climatology, LEVELS, observed) / scale,
            "chance": exceedance_probability(quantiles, LEVELS, level),
            "high": (observed > level).astype(float),
        }


def climatology(archive: Archive, at: int) -> Array:
    """Return the quantiles of flow of the days of other years within a week."""
    of_year = day_of_year(archive.period.days)
    apart = np.abs(of_year - of_year[at])
    near = (np.minimum(apart, 365 - apart) <= 7) & (np.abs(np.arange(len(of_year)) - at) > 100)
    return np.asarray(np.nanquantile(archive.flow[near], LEVELS))


def issue_time(issue_day: Day) -> datetime:
    return datetime.combine(as_date(issue_day), ISSUE_TIME)
