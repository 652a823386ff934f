"""Fits bridges from one weather product to another on their common days, and applies them to the first.

A bridged series is a product of its own; its source product is never changed. A bridge applied again stores nothing
new, and carries over revisions of its source product.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
import structlog
from sqlalchemy.orm import Session

from hydrology.base.arrays import Array
from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem, InvalidInput, Problem
from hydrology.base.products import WEATHER
from hydrology.base.series import DailySeries, Flag, Flags
from hydrology.base.similar_basins import ATTRIBUTES, most_similar
from hydrology.weather import bridge as method
from hydrology.weather.bridge import BRIDGED, PRECIPITATION, DailyWeather, TooFewDays
from ingestion.base import BasinData, SourceFile, SourceSeries
from jobspec.jobs.data import BridgeFit
from operations.basin_data.basins import chosen
from operations.basin_data.ingest import IngestResult, store
from records.basins import basins
from records.database.work import Work
from records.feeds import feeds
from records.series import series
from records.weather import bridges
from records.weather.bridges import Bridge, BridgePart, NewPart
from runtime.release import code_version

log = structlog.get_logger()

MIN_NEIGHBOURS, MAX_NEIGHBOURS = 3, 5
"""Number of basins of a pooled bridge."""


class NothingToBridge(DataProblem):
    """No basin can have a bridge fitted or applied."""


def fit(
    work: Work,
    name: str,
    asked: BridgeFit,
    wanted: Sequence[str] = (),
    among: Collection[str] | None = None,
    on_stored: Callable[[Session, Bridge], None] = lambda _session, _bridge: None,
) -> Bridge:
    """Fit and store a bridge for basins (default: all that have its source product).

    A basin with too few common days gets the median of the bridges of similar basins. `among` has the basins that may
    be written; None for all. `on_stored` is called in the transaction that stores the bridge. A name of a product that
    no bridge produced is refused.
    """
    if len({name, asked.from_, asked.to}) < 3:
        raise InvalidInput("A bridge leads from one product to another, and makes a third: give three names.")
    with work.database.reading() as session:
        bridges.require_free(session, name)
        names = [basin for basin in chosen(session, wanted) if among is None or basin in among]
        names = _with_weather(session, names, asked.from_)
    own: dict[str, NewPart] = {}
    too_few: dict[str, str] = {}
    for done, basin in enumerate(names, start=1):
        with work.database.reading() as session:
            pair = [weather_of(session, basin, product, asked.period) for product in (asked.from_, asked.to)]
        try:
            own[basin] = _fitted(basin, asked, *pair)
        except TooFewDays as error:
            too_few[basin] = str(error)
        work.show(done, len(names), basin)
    with work.database.reading() as session:
        pooled = _pooled(session, own, too_few)
    refused = {basin: reason for basin, reason in too_few.items() if basin not in pooled}
    if not own:
        first = next(iter(refused.values()), "")
        raise NothingToBridge(f"No basin has enough days of both {asked.from_} and {asked.to}. {first}")
    new = bridges.NewBridge(
        name=name,
        from_product=asked.from_,
        to_product=asked.to,
        model=asked.model,
        first=None if asked.period is None else asked.period.first,
        last=None if asked.period is None else asked.period.last,
        refused=refused,
        code_version=code_version(),
    )
    with work.database.transaction() as session:
        stored = bridges.create(session, new, [*own.values(), *pooled.values()], work.clock.wall())
        on_stored(session, stored)
    log.info("bridge.fitted", bridge=stored.id, name=name, own=len(own), pooled=len(pooled), refused=len(refused))
    return stored


def apply(
    work: Work, name: str, wanted: Sequence[str] = (), among: Collection[str] | None = None
) -> list[IngestResult]:
    """Apply a bridge to basins (default: all of the bridge), producing its product from the source product.

    The name is of the bridge, whose newest fit is applied, or the id of a fit. `among` has the basins that may be
    written; None for all. A bridge for weather forecasts is refused: it is applied when they are used.
    """
    with work.database.reading() as session:
        bridge = bridges.get(session, name)
        parts = {part.basin_id: part for part in bridges.parts_of(session, bridge.id)}
        names = [basin for basin in chosen(session, wanted) if basin in parts] if wanted else list(parts)
        names = [basin for basin in names if among is None or basin in among]
    if bridge.model is not None:
        raise InvalidInput(
            f"The bridge {bridge.name} is for the weather forecasts of {bridge.model}: they go over it when they are "
            "used, and nothing is stored of it."
        )
    if wanted and len(names) < len(wanted):
        raise InvalidInput(f"The bridge {bridge.name} is not of every basin that is named: fit it with them.")
    outcomes = []
    for done, basin in enumerate(names, start=1):
        outcomes.append(_apply_to(work, bridge, parts[basin]))
        work.show(done, len(names), basin)
    return outcomes


def weather_of(session: Session, basin: str, product: str, period: Period | None = None) -> DailyWeather | None:
    """Return a basin's weather of a product in the form bridges take; None where it has none."""
    extents = series.extent(session, [basin], product, BRIDGED)
    if len(extents) < len(BRIDGED):
        return None
    whole = Period(min(part.first for part in extents.values()), max(part.last for part in extents.values()))
    days = whole if period is None else whole.overlap(period)
    if days is None:
        return None
    values = series.read_many(session, [basin], product, BRIDGED, days)[0].astype(np.float64)
    return DailyWeather(days.first, dict(zip(BRIDGED, values.T, strict=True)))


def _with_weather(session: Session, names: Sequence[str], product: str) -> list[str]:
    extents = series.extent(session, names, product, BRIDGED)
    having = [basin for basin in names if all((basin, variable) in extents for variable in BRIDGED)]
    if not having:
        raise NothingToBridge(f"No basin has {', '.join(BRIDGED)} of {product}: fetch or ingest that product first.")
    return having


def _fitted(basin: str, asked: BridgeFit, source: DailyWeather | None, target: DailyWeather | None) -> NewPart:
    if source is None or target is None:
        lacking = asked.from_ if source is None else asked.to
        raise TooFewDays(f"{basin} has no weather of {lacking} on the days asked for.")
    return NewPart(basin_id=basin, corrections=method.fit(source, target), skill=method.held_out(source, target))


def _pooled(session: Session, own: Mapping[str, NewPart], too_few: Mapping[str, str]) -> dict[str, NewPart]:
    """Return pooled bridges of similar basins for basins with too few days. None where those are few."""
    if len(own) < MIN_NEIGHBOURS or not too_few:
        return {}
    donors = list(own)
    names = [*donors, *too_few]
    stored = {basin.id: basin for basin in basins.list_basins(session)}
    places = np.array([(stored[name].latitude, stored[name].longitude) for name in names], np.float64)
    features = np.concatenate([places, basins.attributes_of(session, names, ATTRIBUTES)], axis=1)
    pooled = {}
    for at, (basin, reason) in enumerate(too_few.items(), start=len(donors)):
        alike = [donors[place] for place in most_similar(features[at], features[: len(donors)], MAX_NEIGHBOURS)]
        if len(alike) >= MIN_NEIGHBOURS:
            corrections = method.pooled([own[donor].corrections for donor in alike])
            pooled[basin] = NewPart(
                basin_id=basin, corrections=corrections, pooled_from=tuple(alike), pooled_reason=reason
            )
    return pooled


def _apply_to(work: Work, bridge: Bridge, part: BridgePart) -> IngestResult:
    try:
        with work.database.transaction() as session:
            basins.lock(session, part.basin_id)
            stamp = series.stamp(session, part.basin_id, bridge.from_product)
            last = bridges.applied(session, bridge.name, [part.basin_id]).get(part.basin_id)
            if last is not None and (last.bridge.id, last.part.applied_stamp) == (bridge.id, stamp):
                return IngestResult(part.basin_id, "unchanged")
            outcome = store(session, _bridged(session, bridge, part), work.clock)
            credit = feeds.credits_of(session, [bridge.from_product]).get(bridge.from_product)
            if credit is not None:
                feeds.store_credit(session, bridge.name, f"the bridge from {bridge.from_product}", credit)
            bridges.note_applied(session, bridge, part.basin_id, work.clock.now(), stamp)
    except Problem as problem:
        log.warning("bridge.failed", bridge=bridge.id, basin=part.basin_id, error=str(problem))
        return IngestResult(part.basin_id, "failed", error=str(problem))
    return outcome


def _bridged(session: Session, bridge: Bridge, part: BridgePart) -> BasinData:
    weather = weather_of(session, part.basin_id, bridge.from_product)
    if weather is None:
        raise NothingToBridge(f"{part.basin_id} has no weather of {bridge.from_product}: fetch or ingest it.")
    days = weather.period
    bridged = part.corrections.apply(weather)
    file = SourceFile(f"bridge {bridge.name} {bridge.id}", part.sha256, 0)
    of_source = {name: series.read(session, part.basin_id, bridge.from_product, name, days) for name in BRIDGED}
    known = bridged.period.days[np.isfinite(bridged.values[PRECIPITATION])]
    if not len(known):
        raise NothingToBridge("No day of it has precipitation: fetch or ingest more.")
    stored = Period(known[0], known[-1])  # the record's last days may wait for the next
    created = []
    for name in BRIDGED:
        given = of_source[name]
        assert given is not None
        flags = _flags(given.flags, bridged.values[name])
        whole = DailySeries(days.first, bridged.values[name].astype(np.float32), flags, WEATHER[name].unit)
        created.append(SourceSeries(bridge.name, name, whole.over(stored), file))
    areas = basins.get(session, part.basin_id).areas
    area = areas.get(bridge.to_product, areas.get(bridge.from_product))
    return BasinData(
        basin=part.basin_id, areas={} if area is None else {bridge.name: area}, series=tuple(created), files=(file,)
    )


def _flags(of_source: Flags, values: Array) -> Flags:
    """Return the flags of bridged values. Those of the source's days, as far as they still apply."""
    nothing = np.uint8(Flag.MISSING | Flag.ABSENT)
    stored = np.where(np.isfinite(values), of_source & ~nothing, of_source)
    unsaid = np.isnan(values) & (stored & nothing == 0)
    flags: Flags = np.where(unsaid, stored | np.uint8(Flag.MISSING), stored)
    return flags
