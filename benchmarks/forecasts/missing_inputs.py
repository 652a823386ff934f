"""Lets one feed after the other fail for 1, 3 and 10 days in a replay with weather forecasts that err.

Observed weather, weather forecasts and flow fail in turn; the observed weather a second time with another product at
hand, through its bridge. A replay without faults goes beside. By feed and days without it: basins with a forecast of
the issue day, the sources of their weather, and the CRPS over that of the replay without faults and over climatology,
of the first, third and fifth day to come. After the feed has come back: basins whose state of T0 has the bits of the
replay without faults.
"""

import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.forecasts.forecast_weather import (
    ENSEMBLE_TRACES,
    HORIZON,
    SIZES,
    Start,
    climatology,
    issue_time,
    prepared,
    store_weather,
)
from benchmarks.regional import data
from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, Period, day, days_between
from hydrology.scores.probabilistic import crps
from hydrology.uncertainty.error_model import LEVELS
from jobspec.jobs.data import BridgeFit
from operations.basin_data.ingest import ingest
from operations.daily.daily_forecasts import DailyRequest, issue_newest
from operations.weather.fit_bridges import fit
from records.database.engine import Database
from records.runs import run_arrays, run_types, runs, states
from runtime.clock import Clock
from testing.late_archive import LateArchive
from testing.work import work_of

Feed = Literal["weather", "weather, second feed", "weather forecast", "flow"]
FEEDS: tuple[Feed, ...] = ("weather", "weather, second feed", "weather forecast", "flow")
FIRSTS = (np.datetime64("1986-10-01", "D"), np.datetime64("1987-02-01", "D"))
"""The first days of faults: of the wet and of the cold season."""
LATENCY_DAYS = 1
BEFORE = 20
"""Days before the first fault whose weather forecasts are stored."""
OUTAGES = (1, 3, 10)
SPANS = {"1": (1, 1), "2-3": (2, 3), "4-10": (4, 10)}
LEADS = (1, 3, 5)
"""Days to come that are scored."""
SECOND = "daymet"
SIZE = "medium"
Triple = tuple[float, float, float]
"""CRPS of a forecast, of the one without a fault, and of climatology."""


def measure(basins: int = 12) -> dict[str, Any]:
    """Return the forecasts during faults and the states after them."""
    covered = {*data.basins(SECOND)}
    both = [name for name in data.basins() if name in covered]
    names = both[:: len(both) // basins][:basins]
    before, scored = time.process_time(), _Scored()
    with tempfile.TemporaryDirectory() as folder:
        start = prepared(Path(folder), names, FIRSTS)
        for first in FIRSTS:
            _replay(start, first, scored)
    shape = f"{len(names)} basins, faults from {', '.join(map(str, FIRSTS))}, {ENSEMBLE_TRACES} traces, errors {SIZE}"
    return {"shape": shape, **scored.report(), "cpu_seconds": round(time.process_time() - before)}


@dataclass(slots=True)
class _Service:
    """A store that is forecast every day, with what has not been brought yet.

    Attributes:
        late: the first day of each kind of data that is still missing.
    """

    file: Path
    start: Start
    archive: LateArchive
    late: dict[str, Day]

    def copied(self, name: str) -> "_Service":
        """Return one that goes on from here."""
        file = Path(shutil.copy(self.file, self.file.with_name(name)))
        return _Service(file, self.start, self.archive, dict(self.late))

    def issue_day(self, at: Day, failing: Feed | None) -> "_Forecasts":
        """Bring what comes on a day, forecast, and return the forecasts."""
        clock, known = Clock(issue_time(at)), at - 1 - LATENCY_DAYS
        database = Database(f"sqlite:///{self.file}")
        for kind in ("weather", "flow"):
            if failing is None or not failing.startswith(kind) or failing == "weather forecast":
                brought = Period(self.late[kind], known)
                self.archive.bring(database, clock, brought, weather=kind == "weather", flow=kind == "flow")
                self.late[kind] = known + 1
        if failing != "weather forecast":
            store_weather(database, clock, self.start.archives, SIZES[SIZE], ENSEMBLE_TRACES)
        asked = DailyRequest(HORIZON, "operational", LATENCY_DAYS)
        done = issue_newest(work_of(database, clock), self.start.names, asked)
        found = _Forecasts.of(database, self.start, known, done.issued)
        database.close()
        return found


@dataclass(frozen=True, slots=True)
class _Forecasts:
    """The forecasts of an issue day.

    Attributes:
        sources: of the weather, by basin with a forecast.
        scores: CRPS, of climatology too, by basin and lead, relative to the basin's mean flow.
        flow_gap: days from the last observed flow to T0, by basin; -1 without one.
        states: checksum of the state of T0 by basin.
    """

    sources: Mapping[str, str]
    scores: Mapping[tuple[str, int], tuple[float, float]]
    flow_gap: Mapping[str, int]
    states: Mapping[str, str | None]

    @classmethod
    def of(cls, database: Database, start: Start, known: Day, issued: Sequence[run_types.Run]) -> "_Forecasts":
        """Read the forecasts of runs."""
        sources, gaps = dict[str, str](), dict[str, int]()
        scores: dict[tuple[str, int], tuple[float, float]] = {}
        with database.reading() as session:
            for run in issued:
                for row in runs.basins_of(session, run.id):
                    used = row.summary.calibration
                    if row.status != "issued" or isinstance(used, Absent):
                        continue
                    name = row.basin_id
                    sources[name] = _sources(run, row)
                    last = used.last_flow_day
                    gaps[name] = -1 if last is None else days_between(day(last), run.t0)
                    flow = runs.series_of(session, run.id, name, [run_arrays.CALIBRATED])[
                        run_arrays.CALIBRATED
                    ].values.T
                    scores |= dict(_scores(start, name, known, flow[run.filled_days :]))
            of_t0 = {name: states.get(session, start.version, name, known) for name in start.names}
        return cls(sources, scores, gaps, {name: None if one is None else one.sha256 for name, one in of_t0.items()})


def _sources(run: run_types.Run, row: run_types.RunBasin) -> str:
    """Return what the past days were filled with, and what drives the days to come."""
    filled = {one.source for one in row.summary.filled_weather}
    ahead = "other years"
    if run.weather is not None:
        age = days_between(day(run.weather.reference_time.date()), run.weather_until) + 1
        ahead = f"forecast {age} days old" if age else "forecast"
    return " + ".join([*sorted(filled), ahead])


def _scores(
    start: Start, name: str, known: Day, flow: np.ndarray
) -> Iterator[tuple[tuple[str, int], tuple[float, float]]]:
    """Yield the CRPS of the quantiles of days to come, (leads, levels), and that of climatology."""
    archive = start.archives[name]
    for lead in LEADS:
        at = days_between(archive.period.first, known) + lead
        observed = archive.flow[at : at + 1]
        if lead <= len(flow) and np.isfinite(observed).all():
            of_forecast = crps(flow[lead - 1 : lead].astype(np.float64), LEVELS, observed)
            of_climatology = crps(climatology(archive, at)[np.newaxis], LEVELS, observed)
            scale = float(np.nanmean(archive.flow))
            yield (name, lead), (float(of_forecast[0]) / scale, float(of_climatology[0]) / scale)


def _replay(start: Start, first: Day, scored: "_Scored") -> None:
    """Replay an outage of each feed from a day on, and the same days without one."""
    base = _first_store(start, first)
    second = base.copied("second.sqlite")
    _add_second_feed(second, first)
    whole = base.copied("whole.sqlite")
    days = Period(first, first + max(OUTAGES)).days
    without = [whole.issue_day(at, None) for at in days]
    for feed in FEEDS:
        failing = (second if feed == "weather, second feed" else base).copied("failing.sqlite")
        for number, at in enumerate(days[:-1], start=1):
            scored.add(feed, number, failing.issue_day(at, feed), without[number - 1], start.names)
            if number in OUTAGES:
                back = failing.copied("back.sqlite").issue_day(at + 1, None)
                scored.add_recovery(feed, number, back, without[number], start.names)


def _first_store(start: Start, first: Day) -> _Service:
    """Return a store that knows the days before, with past weather forecasts and a forecast of the day before."""
    file = Path(shutil.copy(start.file, start.file.with_name("base.sqlite")))
    database = Database(f"sqlite:///{file}")
    until = first - 1 - LATENCY_DAYS - 1
    archive = LateArchive.take(database, data.PRODUCT, start.names, until)
    for at in Period(first - BEFORE, first - 2).days:
        store_weather(database, Clock(issue_time(at)), start.archives, SIZES[SIZE], ENSEMBLE_TRACES)
    database.close()
    service = _Service(file, start, archive, dict.fromkeys(("weather", "flow"), until + 1))
    service.issue_day(first - 1, None)
    return service


def _add_second_feed(service: _Service, first: Day) -> None:
    database = Database(f"sqlite:///{service.file}")
    clock = Clock(issue_time(first))
    outcomes = ingest(work_of(database, clock), _WeatherOnly(), service.start.names)
    data.require_all({outcome.basin: outcome.error for outcome in outcomes if outcome.error})
    period = f"1980-10-01..{first - 30}"
    fit(
        work_of(database, clock),
        "second-feed",
        BridgeFit.model_validate({"from": SECOND, "to": data.PRODUCT, "period": period}),
    )
    database.close()


class _WeatherOnly:
    """The second product alone, without flow."""

    def __init__(self) -> None:
        self._source = data.source(SECOND)
        self.basins = self._source.basins

    def read(self, basin: str) -> Any:
        """Return the weather of a basin."""
        read = self._source.read(basin)
        return replace(read, series=tuple(one for one in read.series if one.product == SECOND))


@dataclass(slots=True)
class _Scored:
    """What was forecast during faults, and the states after them, by feed."""

    forecasts: Counter[tuple[str, str]] = field(default_factory=Counter)
    expected: Counter[tuple[str, str]] = field(default_factory=Counter)
    crps: dict[tuple[str, str], list[Triple]] = field(default_factory=lambda: defaultdict(list))
    by_source: dict[tuple[str, str], list[Triple]] = field(default_factory=lambda: defaultdict(list))
    equal: dict[tuple[str, int], list[bool]] = field(default_factory=lambda: defaultdict(list))
    gap: int = 0

    def add(self, feed: Feed, number: int, found: _Forecasts, without: _Forecasts, names: Sequence[str]) -> None:
        """Add the forecasts of the issue day on which a feed has failed for a number of days."""
        span = next(name for name, (low, high) in SPANS.items() if low <= number <= high)
        self.expected[feed, span] += len(names)
        self.forecasts[feed, span] += len(found.sources)
        self.gap = max([self.gap, *found.flow_gap.values()])
        for key, (of_forecast, of_climatology) in found.scores.items():
            if key in without.scores:
                scores = of_forecast, without.scores[key][0], of_climatology
                self.crps[feed, span].append(scores)
                self.by_source[feed, found.sources[key[0]]].append(scores)

    def add_recovery(self, feed: Feed, days: int, found: _Forecasts, without: _Forecasts, names: Sequence[str]) -> None:
        """Add the states of the issue day on which a feed has come back."""
        self.equal[feed, days] += [
            found.states[name] is not None and found.states[name] == without.states[name] for name in names
        ]

    def report(self) -> dict[str, Any]:
        """Return the figures by feed."""
        expected, there = sum(self.expected.values()), sum(self.forecasts.values())
        return {
            "share_with_forecast": round(there / expected, 4),
            "oldest_flow_days": self.gap,
            "by_days_without": {
                f"{feed}, {span} days": {
                    "share_with_forecast": round(self.forecasts[feed, span] / count, 4),
                    **_skill(self.crps[feed, span]),
                }
                for (feed, span), count in self.expected.items()
            },
            "by_source": {f"{feed}: {source}": _skill(scores) for (feed, source), scores in self.by_source.items()},
            "equal_states_after": {
                f"{feed}, {days} days": f"{sum(equal)} of {len(equal)}" for (feed, days), equal in self.equal.items()
            },
        }


def _skill(scores: Sequence[Triple]) -> dict[str, float]:
    if not scores:
        return {"forecasts": 0}
    found, without, of_climatology = np.array(scores).mean(axis=0)
    return {
        "forecasts": len(scores),
        "crps_over_without_fault": round(float(found / without), 3),
        "crpss_climatology": round(float(1 - found / of_climatology), 3),
    }
