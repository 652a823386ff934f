"""Handlers of jobs that bring data in or derive data, maintain the database and notify receivers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

from sqlalchemy.orm import Session

from hydrology.base.digests import sha256
from hydrology.base.errors import DataProblem
from ingestion.base import Files, Source, SourceFile
from ingestion.sources import benchmarks
from ingestion.sources.camels import CamelsSource
from ingestion.sources.tables import TablesSource
from jobspec.extensions import load
from jobspec.jobs import data as requests
from jobspec.new_data import AddedBasin, ClimateParams
from operations.alerts.decide_alerts import carry_out
from operations.alerts.deliver import deliver
from operations.basin_data import ingest as ingestions
from operations.basin_data.ingest import IngestResult
from operations.feeds import add_gauge, holes
from operations.feeds import fetch as fetches
from operations.upkeep import audit_details
from operations.upkeep import prune as pruning
from operations.weather import fuse as fusing
from operations.weather.fit_bridges import apply, fit
from operations.weather.import_forecasts import add
from records.access import audit
from records.basins import basins
from records.feeds import feeds
from records.job_permissions import permissions
from records.upkeep import integrity
from records.weather import bridges
from records.weather.bridges import Bridge
from workers.division import Division
from workers.job import MAX_REPORTED, JobRun
from workers.queue import uploads


def ingest(running: JobRun, params: requests.IngestParams) -> dict[str, Any]:
    """Ingest data from a source."""
    with running.intake().of(params.from_) as (paths, files):
        fetched = {str(path): place for path, place in zip(paths, params.from_, strict=True) if "://" in place}
        if params.source == "benchmarks":
            published = benchmarks.read(paths[0], files)
            done = ingestions.ingest_published(running.work, published)
            named = _origin(running, params.from_, fetched, [published.file])
            running.record("data ingested", "published scores", new=done.new, changed=done.changed, **named)
            return asdict(done)
        source: Source
        if params.source == "camels":
            source = CamelsSource(paths, params.product, files)
        else:
            source = load(requests.SOURCES[params.source])(paths, files)
        return _ingested(running, source, params.from_, fetched, params.basins, adopt=params.adopt)


def upload(running: JobRun, params: requests.UploadParams) -> dict[str, Any]:
    """Ingest a table that was uploaded."""
    with running.work.database.reading() as session:
        permissions.require_free_product(session, running.grant, params.product)
        changeable = basins.user_basins(session, running.grant.owner)
    settings = running.work.settings
    folder = uploads.folder(settings.data)
    path = folder / params.observations_file
    files = Files((*settings.ingest_roots, folder), running.on_file(), {path: params.name})
    source = TablesSource(None, path, params.product, changeable, files)
    return _ingested(running, source, [params.name], {}, table=True)


def weather(running: JobRun, params: requests.WeatherParams) -> dict[str, Any]:
    """Store a weather forecast that was uploaded. One from an operator's key does not replace a feed's."""
    work, operational = running.work, running.grant.is_official
    folder = uploads.folder(work.settings.data)
    path = folder / params.weather_file
    files = Files((folder,), running.show_file, {path: params.name})
    stored = add(work, path, files, operational=operational)
    for reason in stored.refused.values():
        running.log(f"Refused: {reason}")
    for basin, odd in stored.warnings.items():
        running.log(f"{basin}: {' '.join(odd)}")
    digest = sha256(path.read_bytes())
    running.record("weather added", stored.issue_id, sha256=digest, new=len(stored.new), known=len(stored.known))
    return {
        "weather": stored.issue_id,
        "new": len(stored.new),
        "known": len(stored.known),
        "refused": dict(islice(stored.refused.items(), MAX_REPORTED)),
        "refused_basins": len(stored.refused),
        **_warned(stored.warnings),
    }


def _ingested(
    running: JobRun,
    source: Source,
    places: Sequence[str],
    fetched: Mapping[str, str],
    basins: Sequence[str] = (),
    *,
    table: bool = False,
    adopt: bool = False,
) -> dict[str, Any]:
    def show(outcome: IngestResult, done: int, total: int) -> None:
        if outcome.error:
            running.log(f"{outcome.basin} failed: {outcome.error}")
        for sentence in outcome.input_warnings:
            running.log(f"{outcome.basin}: {sentence}")
        running.show(done, total, f"{outcome.basin} {outcome.status}")

    read = audit_details.ReadFiles(source)
    outcomes = ingestions.ingest(running.work, read, basins, show, running.grant, table=table, adopt=adopt)
    named = _origin(running, places, fetched, read.of(outcomes))
    running.record("data ingested", "basins", **audit_details.changes(outcomes), **named)
    return _counted(outcomes, "ingested")


def _origin(
    running: JobRun, places: Sequence[str], fetched: Mapping[str, str], read: Sequence[SourceFile]
) -> dict[str, Any]:
    settings = running.work.settings
    called = {path: audit_details.shown(url, {}) for path, url in fetched.items()}
    roots = {str(root): "" for root in (*settings.ingest_roots, uploads.folder(settings.data))}
    named = [audit_details.shown(place, roots) for place in places]
    return {"from": named} | audit_details.files(read, called | roots)


def _whole_fetch(running: JobRun, params: requests.FetchParams) -> list[requests.FetchParams]:
    with running.work.database.reading() as session:
        names = fetches.basins_to_divide(session, feeds.get(session, params.feed), params.basins)
    return [params.model_copy(update={"basins": names or params.basins})]


def _fetch_part(running: JobRun, params: requests.FetchParams) -> fetches.FetchedPart:
    asked = params.feed, params.basins, params.period
    return fetches.fetch_part(running.work, running.intake(), *asked, running.pause)


def _fetched(running: JobRun, parts: Sequence[tuple[requests.FetchParams, fetches.FetchedPart]]) -> dict[str, Any]:
    params = parts[0][0]
    done = fetches.conclude(running.work, params.feed, [part for _, part in parts])
    failed: dict[str, object] = {one.basin_id: one.reason for one in done.basins if one.status == "failed"}
    failed |= {name: part.problem for asked, part in parts if part.problem is not None for name in asked.basins}
    others = {one.basin_id: one.reason for one in done.basins if one.reason and one.status != "failed"}
    for sentence in done.notes:
        running.log(sentence)
    for name, reason in failed.items():
        running.log(f"{name} failed: {reason}")
    for name, why in others.items():
        running.log(f"{name}: {why}")
    period = None if params.period is None else str(params.period)
    running.record("feed fetched", params.feed, **audit_details.fetched(done.basins, done.files), period=period)
    if all(one.status == "failed" for one in done.basins):
        raise DataProblem(f"None of the {len(failed)} basins could be fetched. {next(iter(failed.values()))}")
    remarks = holes.remarks(params.feed, done.basins)
    for sentence in remarks[:MAX_REPORTED]:
        running.log(sentence)
    missing = {one.basin_id: one.holes for one in done.basins if one.holes}
    return {
        "counts": feeds.statuses(done.basins),
        "failed": {name: str(reason) for name, reason in failed.items()},
        "holes": dict(islice(missing.items(), MAX_REPORTED)),
        "warnings": remarks[:MAX_REPORTED],
    }


fetch = Division(fetches.FetchedPart, _whole_fetch, _fetch_part, _fetched)
"""Ask a feed for new data."""


def bridge(running: JobRun, params: requests.BridgeParams) -> dict[str, Any]:
    """Fit a bridge if requested, and apply it."""
    work, plan = running.work, running.job.plan
    with work.database.reading() as session:
        among = permissions.writable(session, running.grant)
        fitted = None if plan is None else bridges.get(session, plan["bridge"])

    def store_plan(session: Session, bridge: Bridge) -> None:
        running.store_plan(session, {"bridge": bridge.id})

    result: dict[str, Any] = {}
    if params.fit is not None:
        if fitted is None:  # not by an earlier attempt
            kind, named = params.fit, (params.name, params.fit, params.basins)
            fitted = fit(work, *named, among=among, on_stored=store_plan)
            for reason in fitted.refused.values():
                running.log(f"Not fitted: {reason}")
            products = {"from": kind.from_, "to": kind.to, "model": kind.model}
            running.record("bridge fitted", fitted.id, name=params.name, **products)
        result = {"bridge": fitted.id, "refused_basins": len(fitted.refused)}
        if params.fit.model is not None:
            return result
    outcomes = apply(work, params.name, () if params.fit else params.basins, among)
    running.record("bridge applied", params.name, **audit_details.changes(outcomes))
    return result | _counted(outcomes, "bridged")


def fuse(running: JobRun, params: requests.FuseParams) -> dict[str, Any]:
    """Define weather that is the mean of several products, and derive it."""
    fused, outcomes = fusing.fuse(running.work, params.name, params.of)
    running.record("weather fused", fused.product, of=list(fused.parts), **audit_details.changes(outcomes))
    return {"product": fused.product} | _counted(outcomes, "fused")


def basin(running: JobRun, params: AddedBasin) -> dict[str, Any]:
    """Add a basin, or further facts about one."""
    added = add_gauge.add(running.work, params, running.grant.key_id, running.pause)
    running.record("basin added", added.basin, new=added.new, changed=list(added.changed), adopted=added.adopted)
    return asdict(added)


def climate(running: JobRun, params: ClimateParams) -> dict[str, Any]:
    """Compute the climate indices of a basin."""
    from operations.basin_data.climate import compute  # which loads torch

    computed = compute(running.work, params.basin, params.product, params.period)
    running.record("climate computed", computed.basin, computed_from=computed.source)
    return {"basin": computed.basin, "computed_from": computed.source, "indices": asdict(computed.indices)}


def _counted(outcomes: Sequence[IngestResult], done: str) -> dict[str, Any]:
    failed = {outcome.basin: outcome.error for outcome in outcomes if outcome.status == "failed"}
    if failed and len(failed) == len(outcomes):
        raise DataProblem(f"None of the {len(outcomes)} basins could be {done}. {next(iter(failed.values()))}")
    counts = Counter(outcome.status for outcome in outcomes)
    odd = {outcome.basin: outcome.input_warnings for outcome in outcomes if outcome.input_warnings}
    return {"counts": dict(counts), "failed": failed, **_warned(odd)}


def _warned(warnings: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the part of a job's result with oddities of the input, by basin. Empty without any."""
    if not warnings:
        return {}
    first = {basin: list(odd) for basin, odd in islice(warnings.items(), MAX_REPORTED)}
    return {"warnings": first, "warned_basins": len(warnings)}


def check(running: JobRun, params: requests.CheckParams) -> dict[str, Any]:
    """Check all records, or those that have changed."""
    work = running.work
    done = integrity.check(work.database, work.clock.wall(), running.show, only_changed=params.only_changed)
    for sentence in (*(one.sentence for one in done.unchanged), *done.sentences[:MAX_REPORTED]):
        running.log(sentence)
    done.require()
    return {"rows": done.row_count, "unchanged": {one.table: one.rows for one in done.unchanged}}


def delivery(running: JobRun, _params: requests.DeliveryParams) -> dict[str, Any]:
    """Carry out what forecasters decided on alerts, and send due changes to their receivers."""
    work = running.work
    try:
        changes = carry_out(work)
    finally:  # what is due goes out, whatever becomes of other decisions
        counts = deliver(work)
    return {"changes": len(changes), "deliveries": dict(counts)}


def prune(running: JobRun, _params: requests.PruneParams) -> dict[str, Any]:
    """Delete records past their retention."""
    job = running.job
    actor = audit.Actor(job.created_by or f"job {job.id}", job.key_id)
    done = pruning.prune(running.work, actor)
    return {"pruned": {of_rule.rule: of_rule.count for of_rule in done}}
