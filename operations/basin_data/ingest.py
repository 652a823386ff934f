"""Ingests basins from a source into the records, each basin in one transaction; and published scores from a file."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np
import structlog
from sqlalchemy.orm import Session

from hydrology.base.absent import absent
from hydrology.base.calendar import Day, Period
from hydrology.base.errors import Finding, InvalidInput, Problem, counted
from hydrology.base.reasons import Reason
from hydrology.base.series import DailySeries, refused
from hydrology.weather.climate import BasinClimate
from hydrology.weather.quality import MAX_FILLED_GAP, quality_report
from hydrology.weather.runoff import AREA_UNIT, FLOW_UNIT
from ingestion.base import BasinData, Source, SourceFile
from ingestion.sources import benchmarks
from operations.basin_data import fused_data
from operations.basin_data.check_incoming import Reference, check_observed, ended_only
from records.basins import basins
from records.basins.ownership import Basin
from records.database.stored import grouped
from records.database.work import Work
from records.job_permissions import permissions
from records.job_permissions.permissions import SERVICE, Grant
from records.runs import states
from records.series import revisions, series, series_writer, year_rows
from records.series.series_writer import NewSeries
from records.verification import scores
from records.versions import adoption
from runtime.clock import Clock

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class IngestResult:
    """The outcome of ingesting one basin.

    Attributes:
        new_days, changed_days: number of values added, and of values replaced (and logged).
        invalidated_states: number of model states that had consumed a replaced value.
        warnings: the findings of its quality report above the level of information.
        input_warnings: oddities of the incoming weather, the discharge values that were not taken, and discharge or an
            area that looks like another unit.
        adopted: from which key, with what it held; None where it was not adopted now.
    """

    basin: str
    status: str
    new_days: int = 0
    changed_days: int = 0
    invalidated_states: int = 0
    warnings: tuple[str, ...] = ()
    error: str | None = None
    input_warnings: tuple[str, ...] = ()
    adopted: str | None = None


def held(source: Source, wanted: Sequence[str]) -> list[str]:
    """Return the wanted basins of a source (all when none is named), sorted."""
    basins = source.basins()
    if missing := sorted(set(wanted) - set(basins)):
        raise InvalidInput(
            f"The source does not hold {', '.join(missing)}: it holds {counted(len(basins), 'other basin')}."
        )
    return [basin for basin in basins if not wanted or basin in wanted]


def ingest(
    work: Work,
    source: Source,
    wanted: Sequence[str] = (),
    on_basin: Callable[[IngestResult, int, int], None] = lambda _outcome, _done, _total: None,
    grant: Grant = SERVICE,
    *,
    table: bool = False,
    adopt: bool = False,
) -> list[IngestResult]:
    """Store a source's data of the wanted basins (all when none is named).

    Args:
        table: whether the source is a table: a day that has not ended by the service's clock refuses the data of all
            basins, as another bad line does. Else it is an archive, which may be replayed: see `ended_only`.
        grant: an operator's key changes its own basins and registers new ones; other basins fail.
        on_basin: called with each outcome, the number done and the total.
        adopt: whether an agency's basins that an operator registered become the service's; otherwise they fail.
    """
    names = held(source, wanted)
    if table:
        with work.database.reading() as session:
            for basin in names:
                ended_only(session, source.read(basin), work.clock.now())
    outcomes = []
    for done, basin in enumerate(names, start=1):
        outcomes.append(_ingest_basin(work, source, basin, grant, archive=not table, adopt=adopt))
        on_basin(outcomes[-1], done, len(names))
    return outcomes


def _ingest_basin(work: Work, source: Source, basin: str, grant: Grant, *, archive: bool, adopt: bool) -> IngestResult:
    try:
        data = source.read(basin)
        with work.database.transaction() as session:
            is_new = permissions.register(session, grant, basin)
            taken = adoption.to_claim(session, basin, adopt=adopt) if grant.is_official else None
            if taken is not None:
                adoption.claim(session, basin, work.clock)
            outcome = store(session, data, work.clock, archive=archive)
        findings = report_quality(work, basin)
    except Problem as problem:
        log.warning("ingest.failed", basin=basin, error=str(problem))
        return IngestResult(basin, "failed", error=str(problem))
    if taken is not None:
        outcome = replace(outcome, adopted=f"from {taken}, dropped")
    warnings = tuple(finding.sentence for finding in findings if finding.severity != "info")
    odd = (*outcome.input_warnings, *unit_warnings(findings))
    log.info("ingest.basin", basin=basin, status=outcome.status, new=outcome.new_days, changed=outcome.changed_days)
    return replace(outcome, status="new" if is_new else outcome.status, warnings=warnings, input_warnings=odd)


def unit_warnings(findings: Sequence[Finding]) -> list[str]:
    """Return the sentences on discharge and areas that look like another unit."""
    return [finding.sentence for finding in findings if finding.code in (FLOW_UNIT, AREA_UNIT)]


def store(session: Session, data: BasinData, clock: Clock, *, archive: bool = False) -> IngestResult:
    """Store a basin's data, as `store_all` does."""
    return store_all(session, [data], clock, archive=archive)[data.basin]


def store_all(
    session: Session,
    given: Sequence[BasinData],
    clock: Clock,
    references: Mapping[str, Reference] | None = None,
    *,
    archive: bool = False,
) -> dict[str, IngestResult]:
    """Store data of basins: add new days, revise others, invalidate the states that consumed them; so of fused weather.

    A value of a day that has not ended is refused; the days of an archive end by the machine's clock, not by
    `FRESHET_AS_OF`, because it may be replayed. `references`: those that were read before, by basin.
    """
    known, now = references or {}, clock.wall() if archive else clock.now()
    given = [ended_only(session, data, now, known.get(data.basin)) for data in sorted(given, key=attrgetter("basin"))]
    changes = basins.upsert_all(session, [_facts(data) for data in given])
    given, warnings = check_observed(session, given, known)
    counts = _write(session, given, clock)
    for basin, of_basin in changes.items():
        if basins.attributes_revised(session, basin, of_basin):
            invalidated = states.invalidate_all(session, basin, absent(Reason.ATTRIBUTE_REVISED), clock.wall())
            counts[basin].update(invalidated_states=invalidated)
    for fused in fused_data.following(session, given):  # means of what was checked
        basins.upsert_all(session, [_facts(data) for data in fused])
        for basin, more in _write(session, fused, clock).items():
            counts[basin].update(more)
    return {
        data.basin: IngestResult(
            data.basin,
            _status(changes[data.basin], counts[data.basin]),
            **counts[data.basin],
            input_warnings=(*warnings[data.basin], *_refused(data)),
        )
        for data in given
    }


def _facts(of: BasinData) -> Basin:
    return Basin(
        *(of.basin, of.name, of.latitude, of.longitude, of.huc),
        areas=of.areas,
        attributes=of.attributes,
        texts=of.texts,
    )


def _write(session: Session, given: Sequence[BasinData], clock: Clock) -> dict[str, Any]:
    """Write the series of basins, and invalidate the states that consumed what they revise; return counts by basin."""
    files = {file: (file.name, file.sha256, file.size) for data in given for file in (one.file for one in data.series)}
    numbers = revisions.register_sources(session, files.values(), clock.wall())
    new = [
        NewSeries(data.basin, one.product, one.variable, one.series, numbers[one.file.name, one.file.sha256])
        for data in given
        for one in data.series
    ]
    before = {
        (basin, product, variable): days
        for product, names in grouped((one.product, one) for one in new).items()
        for (basin, variable), days in series.extent(
            session, [*{one.basin for one in names}], product, [*{one.variable for one in names}]
        ).items()
    }
    counts: dict[str, Any] = {data.basin: Counter[str]() for data in given}
    invalid_since: dict[tuple[str, str], Day] = {}
    for one, written in zip(new, series_writer.write_all(session, new, clock.now()), strict=True):
        counts[one.basin].update(new_days=written.new_days, changed_days=written.changed_days)
        first, of_basin = first_affected(written, before.get(one.key)), (one.basin, one.product)
        if first is not None and (of_basin not in invalid_since or first < invalid_since[of_basin]):
            invalid_since[of_basin] = first
            why = absent(Reason.SERIES_REVISED, variable=one.variable, product=one.product)
            invalidated = states.invalidate(session, one.basin, one.product, first, why, clock.wall())
            counts[one.basin].update(invalidated_states=invalidated)
    return counts


def _status(changes: basins.Changes, counts: Mapping[str, int]) -> str:
    if "id" in changes:
        return "new"
    return "changed" if changes or counts["new_days"] or counts["changed_days"] else "unchanged"


def _refused(data: BasinData) -> Iterator[str]:
    for one in data.series:
        if one.variable == "discharge" and (what := refused(one.series)):
            yield f"{one.file.name}: discharge of {one.product}: {what}."


def first_affected(written: series_writer.Written, before: Period | None) -> Day | None:
    """Return the first day whose state can differ after a write, or None.

    A day inside the record may end a gap that was interpolated, so the days of such a gap before it count too.
    Days after the record's end touch no state.
    """
    touched = [day for day in (written.first_changed, written.first_new) if day is not None]
    if before is None or not touched or min(touched) > before.last:
        return None
    return min(touched) - np.timedelta64(MAX_FILLED_GAP, "D")


def _register(session: Session, file: SourceFile, clock: Clock) -> int:
    return revisions.register_source(session, file.name, file.sha256, file.size, clock.wall())


def report_quality(work: Work, basin: str) -> list[Finding]:
    with work.database.reading() as session:
        stored = basins.get(session, basin)
        saved: dict[tuple[str, str], DailySeries] = {}
        damaged: list[Finding] = []
        for entry in series.catalogue(session, basin):
            try:
                one = series.read(session, basin, entry.product, entry.variable)
            except year_rows.DamagedSeries as problem:
                of = {"product": entry.product, "variable": entry.variable}
                damaged.append(Finding("damaged", "error", str(problem), of))
                continue
            assert one is not None
            saved[entry.product, entry.variable] = one
    climate = BasinClimate.of_attribute(stored.attributes.get("p_mean", np.nan))
    findings = [*quality_report(saved, stored.areas, stored.latitude, climate), *damaged]
    with work.database.transaction() as session:
        checked = {product for product, _ in saved} | revisions.findings_of(session, basin).keys()
        by_product: dict[str, list[Finding]] = {product: [] for product in sorted(checked)}
        for finding in findings:
            by_product.setdefault(str(finding.detail.get("product", "basin")), []).append(finding)
        for product, found in by_product.items():
            revisions.replace_findings(
                session, basin, product, [asdict(finding) for finding in found], work.clock.wall()
            )
    return findings


@dataclass(frozen=True, slots=True)
class Ingested:
    """The outcome of ingesting a file of published scores; `basins_here` are stored."""

    source: str
    citation: str
    models: tuple[str, ...]
    basins: int
    basins_here: int
    new: int
    changed: int
    unchanged: int


def ingest_published(work: Work, published: benchmarks.Publication) -> Ingested:
    """Store a file's published scores, once; the basins may be ingested later."""
    stored_scores = [
        scores.PublishedScore(
            source=published.source,
            model=model,
            basin_id=basin,
            metric=metric,
            first_day=published.period.first,
            last_day=published.period.last,
            value=value,
            reason=absent(Reason.NOT_IN_PUBLISHED_FILE) if value is None else None,
        )
        for (model, basin, metric), value in published.scores.items()
    ]
    with work.database.transaction() as session:
        file = _register(session, published.file, work.clock)
        publication = scores.Publication(
            source=published.source, citation=published.citation, file_id=file, stored_at=work.clock.wall()
        )
        stored = scores.store_published(session, publication, stored_scores)
        here = {basin.id for basin in basins.list_basins(session)}
    models, named, _ = map(set, zip(*published.scores, strict=True))
    log.info("published.ingest", source=published.source, new=stored.new, changed=stored.changed)
    return Ingested(
        source=published.source,
        citation=published.citation,
        models=tuple(sorted(models)),
        basins=len(named),
        basins_here=len(named & here),
        **asdict(stored),
    )
