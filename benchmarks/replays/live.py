"""Daily cycles replayed on real basins: 60 issue days of 40 basins, beside the same without faults.

A server of this machine gives discharge as USGS does, and weather as Open-Meteo and Daymet do, of what
FRESHET_CAMELS holds: the weather of Maurer is what the live product brings, and, perturbed, an ensemble of 31 members.
Every fault that it can play goes wrong on a day of its own, Open-Meteo's refusal on five in a row; three gauges
have no weather for eight days; a flow that was reported wrong is revised weeks later. Every answer has several pages,
and in the second half of the issue days the API is v1. The days cross a 29 February and a night of 23 hours, and the
days brought before them the 31 December of a leap year, which Daymet lacks.

Every fifth issue day's cycle is done twice, and the second may store nothing. A basin-day is `issued` with a forecast
from the last day that has ended there, `late` with its latest from an earlier day, `stale` with one that is too old, or
`failed` with none. After issue days without faults, the last states, forecasts and series are compared to those of a
replay that had none, bit by bit.
"""

import hashlib
import os
import re
import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from datetime import time as hour
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import func, select

from benchmarks.regional import data
from hydrology.base.calendar import Day, Period, as_date, day
from hydrology.base.series import DailySeries
from hydrology.weather.bridge import BRIDGED
from ingestion.base import BasinData
from jobspec.feed_kinds import NewFeed, read_settings
from operations.basin_data.basins import last_ended
from operations.basin_data.ingest import store
from operations.basin_data.sources import Intake
from operations.daily.daily_cycle import BasinOutcome, daily
from operations.daily.daily_forecasts import DailyRequest
from operations.feeds.fetch import FetchCallbacks, fetch
from operations.training.pretrained import install, read_shipped
from records.basins import basins
from records.database.engine import Database
from records.feeds import feeds
from records.runs import runs, states
from records.runs.run_types import RUN_BASINS, RUNS
from records.schema import Base
from records.series import series
from records.versions import promotions
from runtime.clock import Clock
from runtime.settings import Settings
from testing.feed_services.server import replacing_services, serving
from testing.feed_services.world import FAULTS, Fault, Gauge, Revision, World
from testing.work import work_of

LIVE = "live"
FIRST, ISSUE_DAYS, HORIZON = day("2008-01-20"), 60, 7
BEFORE = Period(day("2004-10-01"), FIRST - 2)
"""The days that the feeds bring before the first issue day."""
ISSUE_DAY = hour(14, tzinfo=UTC)
LONG: dict[Fault, int] = {"meteo-400": 5}
"""The faults that last more than one issue day."""
SILENT, SILENT_FROM, SILENT_ISSUE_DAYS = slice(1, 4), 8, 8
REVISED_AFTER = 45  # issue days: the day has long left those that a feed asks for again
TWICE_EVERY = 5  # issue days
_ROWS_A_PAGE = 8  # of a basin: the 30 days that are asked for fill three pages and more


def measure(basins: int = 40, issue_days: int = ISSUE_DAYS) -> dict[str, Any]:
    """Return how every basin-day and every fault ended, and what differs from a replay without faults."""
    names = data.basins()[:: len(data.basins()) // basins][:basins]
    source = data.source()
    read = {name: source.read(name) for name in names}
    gauges = {name: gauge_of(of_basin) for name, of_basin in read.items()}
    days = [FIRST + at for at in range(issue_days)]
    with tempfile.TemporaryDirectory() as folder:
        started = Path(folder, "started.sqlite")
        begin(started, read, gauges)
        calm, hard = (_Replay.of(started, name, gauges) for name in ("calm", "hard"))
        _go(calm, days)
        _trouble(hard, days)
        took = time.process_time()
        _go(hard, days)
        took = time.process_time() - took
        return {
            "shape": f"{basins} basins x {issue_days} issue days, {HORIZON} days ahead",
            **_accounted(hard),
            "doubled": _doubled(hard),
            "faults": [_reported(hard, fault) for fault in FAULTS],
            "differs_from_replay_without_faults": _differing(calm, hard),
            "cpu_seconds": round(took),
        }


@dataclass(frozen=True, slots=True)
class _IssueDay:
    """The outcome of a cycle.

    Attributes:
        day: the issue day.
        outcomes: of each basin, with the last day that had ended there.
        problems: by feed.
        pauses: seconds waited before each new attempt.
        reported: messages of the feeds, but for their weights.
        again: the runs that a second cycle issued, and the rows that it added.
    """

    day: Day
    outcomes: list[tuple[BasinOutcome, Day]]
    problems: Mapping[str, str]
    pauses: list[float]
    reported: list[str]
    again: tuple[int, int] = (0, 0)


@dataclass(slots=True)
class _Replay:
    """A database, the world that it follows, and the outcomes of its issue days."""

    database: Database
    world: World
    folder: Path
    silent: set[Day] = field(default_factory=set)
    issue_days: list[_IssueDay] = field(default_factory=list)

    @classmethod
    def of(cls, started: Path, name: str, gauges: Mapping[str, Gauge]) -> "_Replay":
        """Return one that goes on from a database which is left as it is."""
        file = started.with_stem(name)
        shutil.copy(started, file)
        world = World(gauges, issue_time(FIRST), page_size=_ROWS_A_PAGE * len(gauges))
        return cls(Database(f"sqlite:///{file}"), world, started.parent)


def issue_time(issue_day: Day) -> datetime:
    return datetime.combine(as_date(issue_day), ISSUE_DAY)


def gauge_of(of_basin: BasinData) -> Gauge:
    """Return a basin as a gauge whose discharge is that of USGS and whose weather is Maurer's."""
    by_key = {(one.product, one.variable): one.series for one in of_basin.series}
    weather = {
        name: replace(daily, values=daily.values.astype(np.float64))
        for name, daily in ((name, by_key[data.PRODUCT, name]) for name in BRIDGED)
    }
    assert of_basin.latitude is not None
    assert of_basin.longitude is not None
    place = of_basin.latitude, of_basin.longitude
    return Gauge(of_basin.basin, *place, of_basin.areas[data.PRODUCT], by_key["usgs", "discharge"], weather)


def _feeds(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the settings of the feeds, by names that begin with that of the service, as the faults' do.

    One basin of each kind of weather is asked for alone: then Open-Meteo's answer is an object, else a list.
    """
    past = {"adapter": "open-meteo-archive", "model": "era5", "product": LIVE}
    one_trace = {"adapter": "open-meteo-forecast", "model": "ecmwf_ifs"}
    ensemble = {"adapter": "open-meteo-ensemble", "model": "ncep_gefs025", "members": 31}
    alone, others = names[:1], names[1:]
    return {
        "usgs": {"adapter": "usgs", "basins": names},
        "meteo-past": past | {"basins": others},
        "meteo-past-alone": past | {"basins": alone},
        "meteo-ahead": ensemble | {"basins": others},
        "meteo-ahead-alone": one_trace | {"basins": alone},
        "daymet": {"adapter": "daymet", "product": "pixel", "days_back": 30, "basins": names[:6]},
    }


def begin(file: Path, read: Mapping[str, BasinData], gauges: Mapping[str, Gauge]) -> None:
    """Store the basins, the feeds with all that they bring of the days before, the ensemble and its states."""
    database = Database(f"sqlite:///{file}")
    database.migrate()
    reported = _feeds([*read])
    world = World(gauges, issue_time(FIRST - 1))
    with database.transaction() as session:
        for of_basin in read.values():
            areas = {LIVE: of_basin.areas[data.PRODUCT]}
            store(session, replace(of_basin, areas=areas, series=(), files=()), Clock(world.now))
        for name, of_feed in reported.items():
            feeds.create(session, NewFeed(name=name, settings=read_settings(of_feed)), None, world.now)
    with serving(world) as url, replacing_services(url):
        settings = settings_of(file.parent, url)
        for name in reported:
            if "ahead" not in name:
                done = fetch(work_of(database, Clock(world.now), settings), intake_of(settings), name, period=BEFORE)
                assert {one.status for one in done} == {"new"}, done
        version = install(work_of(database, Clock(world.now)), read_shipped(), LIVE).version_id
        with database.transaction() as session:
            promotions.promote(session, version, [*read], reason="to replay", by="a benchmark", at=world.now)
        daily(work_of(database, Clock(world.now), settings), intake_of(settings), DailyRequest(HORIZON))
    database.close()


def _trouble(hard: _Replay, days: Sequence[Day]) -> None:
    """Let everything go wrong in a replay, one after the other, and the last issue days be without faults."""
    faults: dict[Day, list[Fault]] = {}
    at = 1
    for fault in FAULTS:
        length = LONG.get(fault, 1)
        faults |= {issue_day: [fault] for issue_day in days[at : at + length]}
        at += length + 1
    hard.world.faults = faults
    hard.silent = {*days[SILENT_FROM : SILENT_FROM + SILENT_ISSUE_DAYS]}
    revised, gauge = days[0], next(iter(hard.world.gauges.values()))
    place = int((revised - gauge.flow.start).astype(int))
    wrong = gauge.flow.values.copy()
    truth, wrong[place] = float(wrong[place]), 2 * wrong[place] + 1
    changed = replace(gauge, flow=replace(gauge.flow, values=wrong))
    hard.world.gauges = {**hard.world.gauges, gauge.basin: changed}
    hard.world.revisions = [Revision(gauge.basin, revised, issue_time(revised) + timedelta(days=REVISED_AFTER), truth)]


def _go(replay: _Replay, days: Sequence[Day]) -> None:
    """Do the cycles of all issue days."""
    whole = replay.world.gauges
    with serving(replay.world) as url, replacing_services(url):
        settings = settings_of(replay.folder, url)
        for number, issue_day in enumerate(days):
            replay.world.now = issue_time(issue_day)
            replay.world.gauges = _silenced(whole) if issue_day in replay.silent else whole
            os.environ["FRESHET_USGS_URL"] = f"{url}/ogcapi/{'v0' if number < len(days) // 2 else 'v1'}"
            of_issue_day = _cycle(replay, issue_day, settings)
            if number % TWICE_EVERY == 0:
                before = _rows(replay.database)
                second = daily(
                    work_of(replay.database, Clock(issue_time(issue_day)), settings),
                    intake_of(settings),
                    DailyRequest(HORIZON),
                )
                of_issue_day = replace(of_issue_day, again=(len(second.runs), _rows(replay.database) - before))
            replay.issue_days.append(of_issue_day)


def _cycle(replay: _Replay, issue_day: Day, settings: Settings) -> _IssueDay:
    pauses: list[float] = []
    reported: list[str] = []
    clock = Clock(issue_time(issue_day))
    listener = FetchCallbacks(notify=reported.append, pause=pauses.append)
    done = daily(
        work_of(replay.database, clock, settings), intake_of(settings), DailyRequest(HORIZON), listener=listener
    )
    with replay.database.reading() as session:
        ended = [last_ended(basins.get(session, one.basin), clock.now()) for one in done.basins]
    outcomes = list(zip(done.basins, ended, strict=True))
    problems = {name: str(problem) for name, problem in done.problems.items()}
    return _IssueDay(issue_day, outcomes, problems, pauses, [one for one in reported if "weighs" not in one])


def _silenced(gauges: Mapping[str, Gauge]) -> dict[str, Gauge]:
    """Return the gauges, some without weather since the silence began."""
    last = FIRST + SILENT_FROM - 2
    silent = {name: replace(gauges[name], weather=_until(gauges[name].weather, last)) for name in [*gauges][SILENT]}
    return {**gauges, **silent}


def _until(weather: Mapping[str, DailySeries], last: Day) -> dict[str, DailySeries]:
    return {name: of_all.over(Period(of_all.start, last)) for name, of_all in weather.items()}


def settings_of(folder: Path, url: str) -> Settings:
    return Settings(data=folder, ingest_hosts=(("127.0.0.1", int(url.rpartition(":")[2])),))


def intake_of(settings: Settings) -> Intake:
    return Intake(settings.data, settings.ingest_hosts, None, lambda _done, _size: None, lambda _name: None)


def _rows(database: Database) -> int:
    """Return how many rows all tables have."""
    with database.reading() as session:
        tables = Base.metadata.sorted_tables
        return sum(session.execute(select(func.count()).select_from(table)).scalar_one() for table in tables)


def _status(outcome: BasinOutcome, ended: Day) -> str:
    if outcome.status == "stale" or outcome.t0 is None:
        return outcome.status
    return "issued" if outcome.t0 == ended else "late"


def _accounted(hard: _Replay) -> dict[str, Any]:
    """Return the basin-days by outcome, with the reasons of those that are not issued."""
    counts: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    for issue_day in hard.issue_days:
        for outcome, ended in issue_day.outcomes:
            status = _status(outcome, ended)
            counts[status] += 1
            if status != "issued":
                reasons[status][_like(None if outcome.reason is None else str(outcome.reason))] += 1
    return {
        "basin_days": {"all": len(hard.issue_days) * len(hard.world.gauges), **counts},
        "reasons": {status: dict(of_status.most_common()) for status, of_status in reasons.items()},
    }


def _like(reason: str | None) -> str:
    """Return a reason without the basin, day and address that it names, which are many."""
    text = re.sub(r"USGS-\d+", "BASIN", reason or "none given")
    return re.sub(r"\d{4}-\d\d-\d\d", "DAY", re.sub(r"http://[^ :]*:\d+", "http://HOST", text))


def _doubled(hard: _Replay) -> dict[str, int]:
    """Return what was stored twice: by a second cycle of an issue day, or as two forecasts of the same."""
    same = (RUN_BASINS.c.basin_id, RUNS.c.t0, RUNS.c.forcing_kind, RUNS.c.weather, RUN_BASINS.c.state_hash)
    with hard.database.reading() as session:
        query = select(func.count()).select_from(RUNS).join(RUN_BASINS, RUN_BASINS.c.run_id == RUNS.c.id)
        of_same = session.scalars(query.where(RUN_BASINS.c.status == "issued").group_by(*same)).all()
    return {
        "runs_of_second_cycles": sum(issue_day.again[0] for issue_day in hard.issue_days),
        "rows_of_second_cycles": sum(issue_day.again[1] for issue_day in hard.issue_days),
        "forecasts_from_the_same_state_and_weather": sum(count - 1 for count in of_same),
    }


def _reported(hard: _Replay, fault: Fault) -> dict[str, Any]:
    """Return how often a fault went wrong, and how that ended for the feeds of its service."""
    service = fault.partition("-")[0]

    def problems(issue_day: _IssueDay) -> dict[str, str]:
        return {feed: problem for feed, problem in issue_day.problems.items() if feed.startswith(service)}

    of_fault = [issue_day for issue_day in hard.issue_days if fault in hard.world.faults.get(issue_day.day, ())]
    if not of_fault:
        return {"fault": fault, "ended": "not played: too few issue days"}
    refused = {feed: _like(why) for issue_day in of_fault for feed, why in problems(issue_day).items()}
    pauses = [seconds for issue_day in of_fault for seconds in issue_day.pauses]
    after = (
        issue_day.day for issue_day in hard.issue_days if issue_day.day > of_fault[-1].day and not problems(issue_day)
    )
    ended = "taken as it came"
    if refused:
        ended = f"refused, whole again on {next(after, 'no issue day')}"
    elif pauses:
        ended = "whole at another attempt"
    return {
        "fault": fault,
        "issue_days": [str(issue_day.day) for issue_day in of_fault],
        "played": sum(hard.world.played[issue_day.day, fault] for issue_day in of_fault),
        "ended": ended,
        "refused": refused,
        "paused_seconds": pauses,
        "reported": [sentence for issue_day in of_fault for sentence in issue_day.reported],
        "basin_days": dict(Counter(_status(*outcome) for issue_day in of_fault for outcome in issue_day.outcomes)),
    }


def _differing(calm: _Replay, hard: _Replay) -> dict[str, list[str]]:
    """Return the basins whose last states, forecasts or series have other bits than without faults."""
    left, right = _last(calm), _last(hard)
    on_time = [outcome.basin for outcome, ended in hard.issue_days[-1].outcomes if outcome.t0 == ended]
    return {
        "not_on_time_at_last": sorted(left.keys() - set(on_time)),
        **{
            kind: [basin for basin in left if left[basin][kind] != right[basin][kind]]
            for kind in ("state", "forecast", "series")
        },
    }


def _last(replay: _Replay) -> dict[str, dict[str, str]]:
    """Return the fingerprints of what each basin has at last."""
    found = {}
    with replay.database.reading() as session:
        for outcome, ended in replay.issue_days[-1].outcomes:
            basin, version = outcome.basin, promotions.current(session, [outcome.basin])[outcome.basin]
            state = states.newest_valid(session, version, basin, ended)
            assert state is not None
            assert outcome.run is not None
            forecast = runs.series_of(session, outcome.run, basin)
            stored = {
                (entry.product, entry.variable): series.read(session, basin, entry.product, entry.variable)
                for entry in series.catalogue(session, basin)
            }
            found[basin] = {
                "state": f"{state.day} {state.sha256}",
                "forecast": _digest(values.values for values in forecast.values()),
                "series": _digest(part for one in stored.values() if one for part in (one.values, one.flags, one.days)),
            }
    return found


def _digest(arrays: Iterable[Any]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(array.tobytes())
    return digest.hexdigest()
