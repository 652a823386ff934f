"""Fetches a feed and stores its data, some basins in one transaction, each independently of the others."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Self

import numpy as np
import structlog
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.basins import TIME_ZONE, gauge_product
from hydrology.base.calendar import Day, Period, day, last_ended_anywhere, last_ended_day
from hydrology.base.errors import InvalidInput, Problem, counted
from hydrology.weather.forcing import WeatherForecast
from ingestion.base import SourceFile
from ingestion.feeds.base import (
    Feed,
    FeedProblem,
    FetchedBasinData,
    FetchWindow,
    MeasuredFlow,
    Observations,
    Site,
)
from ingestion.feeds.http import FeedAccess
from jobspec.extensions import load
from jobspec.feed_kinds import kind_of
from jobspec.levels import NewCategories, NewRating
from operations.basin_data.check_incoming import Reference, check_forecast, read_references
from operations.basin_data.ingest import report_quality, store_all, unit_warnings
from operations.basin_data.sources import Intake
from operations.feeds import holes
from records.access.audit import Actor
from records.basins import basins, ratings
from records.basins.ownership import Basin
from records.database.stored import grouped
from records.database.work import Work
from records.feeds import feeds
from records.feeds.feeds import BasinStatus, FetchedBasin
from records.levels import categories_and_doubts
from records.outlooks import outlooks, updates
from records.series.series import AT_A_TIME
from records.weather import weather_issues
from runtime.clock import Clock

log = structlog.get_logger()

_NOTHING = "The service has no value for the requested days."
_NO_TABLE = "The service has none of this gauge: what is stored stays."
MAX_REASONS = 3  # different ones of a fetch, in the log
_MANY_DAYS = 30  # of any variable: a check reads the whole record, too slow for the few days of a usual fetch
ELEVATIONS = ("elev_mean", "ele_mt_sav")
"""Attributes that are the mean elevation of a basin, m: of CAMELS and of Caravan."""
_WESTERNMOST = "Etc/GMT+12"  # where a day ends last


@dataclass(frozen=True, slots=True)
class FetchCallbacks:
    """Callbacks that follow a fetch; `notify` gets notes before it, `on_file` each file of data that are stored."""

    on_basin: Callable[[FetchedBasin, int, int], None] = lambda _basin, _done, _total: None
    notify: Callable[[str], None] = lambda _sentence: None
    pause: Callable[[float], None] = time.sleep
    on_file: Callable[[SourceFile], None] = lambda _file: None


SILENT = FetchCallbacks()


@dataclass(frozen=True, slots=True)
class FetchedPart:
    """The outcome of a fetch of some basins of a feed, whose data are stored.

    Attributes:
        notes: what the service's adapter reported.
        problem: why it could not be done.
    """

    basins: list[FetchedBasin] = field(default_factory=list)
    files: list[SourceFile] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problem: Absent | None = None

    @classmethod
    def failed(cls, _names: Sequence[str], reason: Absent) -> Self:
        """Return the outcome of a part that failed."""
        return cls(problem=reason)


def fetch(
    work: Work,
    intake: Intake,
    name: str,
    wanted: Sequence[str] = (),
    period: Period | None = None,
    listener: FetchCallbacks = SILENT,
) -> list[FetchedBasin]:
    """Fetch a feed's new data, store them, and record the outcome.

    By default it fetches the feed's usual last days, of all its basins. `intake` has the locations that a file feed may
    read.
    """
    done = _fetch(work, intake, name, wanted, period, listener)
    conclude(work, name, [FetchedPart(done)])
    return done


def fetch_part(
    work: Work,
    intake: Intake,
    name: str,
    wanted: Sequence[str] = (),
    period: Period | None = None,
    pause: Callable[[float], None] = time.sleep,
) -> FetchedPart:
    """Fetch some basins of a feed as `fetch` does, and store their data. `conclude` records the whole."""
    part = FetchedPart()

    def show(basin: FetchedBasin, done: int, total: int) -> None:
        work.show(done, total, f"{basin.basin_id} {basin.status}")

    listener = FetchCallbacks(show, part.notes.append, pause, part.files.append)
    part.basins.extend(_fetch(work, intake, name, wanted, period, listener))
    return part


def conclude(work: Work, name: str, parts: Sequence[FetchedPart]) -> FetchedPart:
    """Join the parts of a fetch, and record its end, with why it failed, if it did, also for some basin."""
    problem = next((part.problem for part in parts if part.problem is not None), None)
    basins, files, notes = ([one for part in parts for one in getattr(part, of)] for of in ("basins", "files", "notes"))
    failed = [basin for basin in basins if basin.status == "failed"]
    error = None if problem is None else str(problem)
    if failed:
        error = f"{len(failed)} of {counted(len(basins), 'basin')} failed. {failed[0].basin_id}: {failed[0].reason}"
        first: dict[str | None, str] = {}
        for basin in failed:
            first.setdefault(basin.reason, basin.basin_id)
        reasons = [f"{basin_id}: {reason}" for reason, basin_id in [*first.items()][:MAX_REASONS]]
        log.warning("feed.failed", feed=name, basins=len(basins), failed=len(failed), first_reasons=reasons)
    with work.database.transaction() as session:
        feeds.note_fetch(session, feeds.get(session, name), work.clock.now(), error)
    log.info("feed.fetched", feed=name, **feeds.statuses(basins))
    return FetchedPart(basins, files, [*dict.fromkeys(notes)], problem)


def basins_to_divide(session: Session, feed: feeds.Feed, wanted: Sequence[str] = ()) -> list[str]:
    """Return the basins that a fetch can be divided by; none where each fetch reads all of its source."""
    return [] if feed.read().reads_all else _chosen(session, feed, wanted)


def _fetch(
    work: Work, intake: Intake, name: str, wanted: Sequence[str], period: Period | None, listener: FetchCallbacks
) -> list[FetchedBasin]:
    now = work.clock.now()
    with work.database.reading() as session:
        feed = feeds.get(session, name)
        shown = feed.read()
        sites = sites_of(session, feed, wanted)
        before = {one.basin_id: one for one in feeds.basins_of(session, feed, [site.basin for site in sites])}
        # Discharge is not checked by the climate.
        of_weather = [feed.product] if feed.product is not None or shown.brings == "forecast" else []
        references = read_references(session, [site.basin for site in sites], of_weather)
        products = {feed.product or gauge_product(site.basin) for site in sites}
        origins = {product: feeds.origin_of(session, product) for product in products}
    # The usual last days are long enough for every time zone; each basin uses its ended days.
    days_back = np.timedelta64(getattr(shown, "days_back", 1) - 1, "D")
    usual = until_now(last_ended_day(now, _WESTERNMOST) - days_back, work.clock)
    until = usual.first if period is None else None
    with ExitStack() as stack:
        access = FeedAccess(
            *(work.settings.ingest_hosts, listener.pause, listener.notify),
            read_places=lambda places: stack.enter_context(intake.of(places)),
            data=work.settings.data,
        )
        source: Feed = load(kind_of(shown.adapter).feed)(shown, access)
        one = _Fetch(
            *(work, feed, source, listener),
            before=before,
            references=references,
            origins=origins,
            is_usual=period is None,
        )
        noted = one.store(sites, FetchWindow(period or usual, now))
        found, done = one.find_holes(noted, until), dict(noted)
        if period is None and not shown.reads_all:
            asked = one.ask_for_holes(sites, found, done)
            again = {name: of for name, of in done.items() if name in asked}
            found = {name: of for name, of in found.items() if name not in asked} | one.find_holes(again, until)
    return [*one.with_holes(done, noted, found).values()]


@dataclass(frozen=True, slots=True)
class _Fetch:
    """One fetch of a feed, from its source into the store.

    A fetch that does not ask for the usual last days asks for no revision after its own days, so the next usual fetch
    asks for all revisions since the usual fetch before. `before` is the outcome in each basin before it; `references`
    are what the data are checked against, `origins` those of the products' credits.
    """

    work: Work
    feed: feeds.Feed
    source: Feed
    listener: FetchCallbacks
    before: Mapping[str, FetchedBasin]
    references: Mapping[str, Reference]
    origins: Mapping[str, str | None]
    is_usual: bool

    def store(self, sites: Sequence[Site], wanted: FetchWindow) -> dict[str, FetchedBasin]:
        fetched_at = {site.basin: site.fetched_at for site in sites}
        done: dict[str, FetchedBasin] = {}
        for block in _blocks(self._given(sites, wanted)):
            stored = self._store(block, fetched_at, wanted.days.first)
            for one, fetched in zip(block, stored, strict=True):
                done[one.basin] = fetched
                if fetched.status != "failed" and (file := one.file) is not None:
                    self.listener.on_file(file)
                self.listener.on_basin(fetched, len(done), len(sites))
        return done

    def find_holes(self, fetched: Mapping[str, FetchedBasin], until: Day | None) -> dict[str, holes.ByVariable]:
        with self.work.database.reading() as session:
            return holes.find(session, self.feed, _since(fetched), until, last_ended_anywhere(self.work.clock.now()))

    def ask_for_holes(
        self, sites: Sequence[Site], found: Mapping[str, holes.ByVariable], done: dict[str, FetchedBasin]
    ) -> set[str]:
        """Fetch gaps inside the records, add the result to that of the usual days, and return the basins asked for."""
        # Without `fetched_at`: revisions since then came with the usual days.
        asked = {site.basin: replace(site, fetched_at=None) for site in sites if done[site.basin].status != "failed"}
        now, of_asked = self.work.clock.now(), {name: of for name, of in found.items() if name in asked}
        others, heads = holes.without_heads(of_asked, _since(done), now)
        spans = [*holes.spans_to_ask(others, now), *heads]
        for span, names in spans:
            for given in self._given([asked[name] for name in names], FetchWindow(span, now)):
                before = done[given.basin]
                try:
                    with self.work.database.transaction() as session:
                        (more,) = self._stored(session, [given], span.first)
                except Problem as problem:
                    why = f"Days missing inside its record were requested again ({span}), without success: {problem}"
                    done[given.basin] = replace(before, warnings=[*before.warnings, why])
                    continue
                if given.file is not None:
                    self.listener.on_file(given.file)
                new, revised = before.new_days + more.new_days, before.revised_days + more.revised_days
                done[given.basin] = replace(
                    before,
                    status=_status(new, revised),
                    reason=None if new or revised else before.reason,
                    warnings=[*dict.fromkeys([*before.warnings, *more.warnings])],
                    new_days=new,
                    revised_days=revised,
                )
        return {name for _, names in spans for name in names}

    def with_holes(
        self, done: Mapping[str, FetchedBasin], noted: Mapping[str, FetchedBasin], found: Mapping[str, holes.ByVariable]
    ) -> dict[str, FetchedBasin]:
        """Record the current gaps inside the records. Where they changed or many days arrived, check the basin anew."""
        whole = {basin: replace(one, holes=holes.reported(found.get(basin, {}))) for basin, one in done.items()}
        for basin, one in whole.items():
            before = self.before.get(basin)
            if one.holes != (before.holes if before else []) or one.new_days + one.revised_days >= _MANY_DAYS:
                units = unit_warnings(report_quality(self.work, basin))
                whole[basin] = replace(one, warnings=[*one.warnings, *units])
        if changed := [one for basin, one in whole.items() if one != noted[basin]]:
            with self.work.database.transaction() as session:
                feeds.note_basins(session, self.feed, changed)
        return whole

    def _given(self, sites: Sequence[Site], wanted: FetchWindow) -> Iterator[FetchedBasinData]:
        left = {site.basin for site in sites}
        cause: Problem = FeedProblem("The service gave no answer about the basin.")
        try:
            for given in self.source.fetch(sites, wanted):
                if given.basin in left:
                    left.remove(given.basin)
                    yield given
        except FeedProblem as problem:
            cause = problem
        yield from (FetchedBasinData(site.basin, cause) for site in sites if site.basin in left)

    def _store(
        self, block: Sequence[FetchedBasinData], before: Mapping[str, datetime | None], first: Day
    ) -> list[FetchedBasin]:
        """Store the data of basins in one transaction; where that fails, in one of each."""
        try:
            with self.work.database.transaction() as session:
                stored = self._stored(session, block, first)
                if not self.is_usual:
                    stored = [replace(one, fetched_at=before[one.basin_id] or one.fetched_at) for one in stored]
                feeds.note_basins(session, self.feed, stored)
        except Problem as problem:
            if len(block) > 1:
                return [fetched for given in block for fetched in self._store([given], before, first)]
            basin = block[0].basin
            failed = replace(self._nothing(basin), status="failed", reason=str(problem), fetched_at=before[basin])
            stored = [replace(failed, record_since=self._since(basin))]
            with self.work.database.transaction() as session:
                feeds.note_basins(session, self.feed, stored)
        return stored

    def _stored(self, session: Session, block: Sequence[FetchedBasinData], first: Day) -> list[FetchedBasin]:
        observed, forecasts = dict[str, Observations](), dict[str, WeatherForecast]()
        measured, stored = dict[str, MeasuredFlow](), dict[str, FetchedBasin]()
        for given in block:
            match given.content:
                case Observations() as content:
                    observed[given.basin] = content
                case WeatherForecast() as forecast:
                    forecasts[given.basin] = forecast
                case None:
                    stored[given.basin] = replace(self._nothing(given.basin), reason=_NO_TABLE)
                case NewRating() | NewCategories() as table:
                    stored[given.basin] = self._stored_table(session, given.basin, table)
                case MeasuredFlow() as flow:
                    measured[given.basin] = flow
                case problem:
                    raise problem
        stored |= self._stored_observations(session, observed, first) | self._stored_forecasts(session, forecasts)
        stored |= {basin: self._stored_update(session, basin, flow) for basin, flow in measured.items()}
        return [stored[given.basin] for given in block]

    def _stored_table(self, session: Session, basin: str, new: NewRating | NewCategories) -> FetchedBasin:
        now, waits = self.work.clock.now(), list[str]()
        if isinstance(new, NewCategories):
            if changed := categories_and_doubts.put_categories(session, basin, new, now, renews=True).changed:
                outlooks.renew(session, basin)
        else:
            doubt = partial(categories_and_doubts.doubt_rating, session, basin)
            rating, changed = ratings.put(session, basin, new, now, doubt)
            outlooks.follow_rating(session, basin, now)
            if rating.waits:
                waits.append(f"Version {rating.version} of its rating waits for a forecaster. {rating.held}")
        return replace(self._nothing(basin), status="new" if changed else "unchanged", warnings=waits)

    def _nothing(self, basin: str) -> FetchedBasin:
        now = self.work.clock.now()
        return FetchedBasin(basin_id=basin, status="unchanged", tried_at=now, fetched_at=now)

    def _stored_observations(
        self, session: Session, observed: Mapping[str, Observations], first: Day
    ) -> dict[str, FetchedBasin]:
        feed = self.feed
        for product in sorted({feed.product or gauge_product(basin) for basin, of in observed.items() if of.variables}):
            origin = feed.origin if feed.product else product
            if self.origins.get(product) != origin:
                feeds.store_credit(session, product, origin, self.source.credit)
        data = [of.as_data(basin, feed.product) for basin, of in observed.items()]
        outcomes = store_all(session, data, self.work.clock, self.references) if data else {}
        return {
            basin: replace(
                self._nothing(basin),
                status=_status(outcome.new_days, outcome.changed_days),
                new_days=outcome.new_days,
                revised_days=outcome.changed_days,
                reason=None if observed[basin].variables else _NOTHING,
                warnings=list(outcome.input_warnings),
                record_since=self._record_since(basin, first, observed[basin].since),
            )
            for basin, outcome in outcomes.items()
        }

    def _stored_forecasts(self, session: Session, forecasts: Mapping[str, WeatherForecast]) -> dict[str, FetchedBasin]:
        of_issues = grouped(
            ((one.issue.source, one.issue.model, one.issue.reference_time), one) for one in forecasts.values()
        )
        stored: dict[str, FetchedBasin] = {}
        for of_issue in of_issues.values():
            odd = {one.basin: check_forecast(one, self.references.get(one.basin)) for one in of_issue}
            storing = weather_issues.store(session, of_issue, self.work.clock.wall(), operational=True)
            for one in of_issue:
                # Data stored earlier by this run stay unchanged, even where the requested days have moved on.
                of_basin = replace(self._nothing(one.basin), reason=storing.refused.get(one.basin))
                if one.basin in storing.new:
                    of_basin = replace(of_basin, status="new", new_days=len(one.period), warnings=odd[one.basin])
                stored[one.basin] = of_basin
        return stored

    def _stored_update(self, session: Session, basin: str, flow: MeasuredFlow) -> FetchedBasin:
        """Update the latest forecast of a basin; one that cannot be updated is not a failure of the feed."""
        now, by = self.work.clock.now(), Actor(f"feed {self.feed.name}", self.feed.created_by)
        try:
            _, is_new = updates.update(session, basin, flow.at, flow.m3s, by, now)
        except Problem as problem:
            return replace(self._nothing(basin), reason=str(problem))
        return replace(self._nothing(basin), status="new" if is_new else "unchanged")

    def _since(self, basin: str) -> str | None:
        return self.before[basin].record_since if basin in self.before else None

    def _record_since(self, basin: str, first: Day, stated: Day | None) -> str | None:
        if stated is None:
            return None
        before = self._since(basin)
        return str(max(stated, first if before is None else min(first, day(before))))


def _blocks(given: Iterable[FetchedBasinData]) -> Iterator[list[FetchedBasinData]]:
    """Yield what is stored together: the data of some basins; why a basin has none is noted alone."""
    block: list[FetchedBasinData] = []
    for one in given:
        if isinstance(one.content, Problem):
            yield [one]
            continue
        block.append(one)
        if len(block) == AT_A_TIME:
            yield block
            block = []
    if block:
        yield block


def _since(fetched: Mapping[str, FetchedBasin]) -> dict[str, Day | None]:
    return {name: None if one.record_since is None else day(one.record_since) for name, one in fetched.items()}


def _status(new_days: int, revised_days: int) -> BasinStatus:
    return "revised" if revised_days else "new" if new_days else "unchanged"


def sites_of(session: Session, feed: feeds.Feed, wanted: Sequence[str] = ()) -> list[Site]:
    """Return the basins of a feed, as its service is asked for them; all when none is named."""
    stored = basins.get_many(session, _chosen(session, feed, wanted))
    fetched = {one.basin_id: one.fetched_at for one in feeds.basins_of(session, feed, stored)}
    return [site_of(basin, fetched.get(name)) for name, basin in stored.items()]


def _chosen(session: Session, feed: feeds.Feed, wanted: Sequence[str]) -> list[str]:
    names = feeds.targets(session, feed)
    if others := sorted(set(wanted) - set(names)):
        raise InvalidInput(f"The feed {feed.name} does not include {', '.join(others[:10])}: name basins of this feed.")
    if wanted:
        names = [*filter({*wanted}.__contains__, names)]
    if not names:
        raise InvalidInput(f"The feed {feed.name} has no basin to fetch: ingest or register some first.")
    return names


def site_of(basin: Basin, fetched_at: datetime | None = None) -> Site:
    """Return a basin as a feed is asked for it."""
    return Site(
        *(basin.id, basin.latitude, basin.longitude, basin.texts.get(TIME_ZONE), fetched_at),
        points=tuple((latitude, longitude) for latitude, longitude in basin.weather_points or ()),
        outline=basin.outline or (),
        elevation=next((basin.attributes[name] for name in ELEVATIONS if name in basin.attributes), None),
    )


def until_now(first: Day, clock: Clock) -> Period:
    """Return the days from a first one to the last that has ended anywhere on Earth."""
    return Period(first, last_ended_anywhere(clock.now()))
