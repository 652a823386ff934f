"""What jobs do that bring data in, and make data from data."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydrology.errors import DataProblem
from jobspec.basins import AddedBasin, ClimateParams
from jobspec.jobs.data import BridgeParams, FetchParams, IngestParams, UploadParams, WeatherParams
from records import feeds
from workers import uploads
from workers.job import Running
from workers.tasks.common import MOST_TOLD, counted, intake_of, on_file

if TYPE_CHECKING:
    from ingestion.sources.base import Source
    from operations.ingest import Outcome


def ingest(running: Running, params: IngestParams) -> dict[str, Any]:
    """Ingest data from a source."""
    from ingestion.sources import benchmarks
    from ingestion.sources.camels import CamelsSource
    from ingestion.sources.caravan import CaravanSource
    from operations.ingest_benchmarks import ingest_published

    with intake_of(running).of(params.from_) as (paths, files):
        match params.source:
            case "benchmarks":
                published = benchmarks.read(paths[0], files)
                return asdict(ingest_published(running.tools.database, running.tools.clock, published))
            case "caravan":
                return _ingested(running, CaravanSource(paths, files), params.basins)
            case "camels":
                return _ingested(running, CamelsSource(paths, params.product, files), params.basins)


def upload(running: Running, params: UploadParams) -> dict[str, Any]:
    """Ingest a table that was sent to the service."""
    from ingestion.reading import Files
    from ingestion.sources.tables import TablesSource
    from operations import posted

    with running.tools.database.reading() as session:
        changeable = posted.changeable(session, running.job)
    settings = running.tools.settings
    files = Files((*settings.ingest_roots, uploads.folder(settings.data)), on_file(running))
    return _ingested(running, TablesSource(None, Path(params.observations_file), params.product, changeable, files))


def weather(running: Running, params: WeatherParams) -> dict[str, Any]:
    """Keep a weather forecast that was sent to the service. One from an operator's key takes no place of a feed's."""
    from ingestion.reading import Files
    from operations import posted
    from operations.weather import add

    tools = running.tools
    with tools.database.reading() as session:
        operational = posted.speaks_for_the_service(session, running.job)
    files = Files((uploads.folder(tools.settings.data),), running.show_file)
    kept = add(tools.database, tools.clock, Path(params.weather_file), files, operational=operational)
    for reason in kept.refused.values():
        running.log(f"Refused: {reason}")
    return {
        "weather": kept.issue_id,
        "new": len(kept.new),
        "known": len(kept.known),
        "refused": dict(islice(kept.refused.items(), MOST_TOLD)),
        "refused_basins": len(kept.refused),
    }


def _ingested(running: Running, source: "Source", basins: Sequence[str] = ()) -> dict[str, Any]:
    from operations.ingest import ingest as run

    def show(outcome: "Outcome", done: int, total: int) -> None:
        if outcome.error:
            running.log(f"{outcome.basin} failed: {outcome.error}")
        running.show(done, total, f"{outcome.basin} {outcome.status}")

    outcomes = run(running.tools.database, source, running.tools.clock, basins, show)
    return counted(outcomes, "ingested")


def fetch(running: Running, params: FetchParams) -> dict[str, Any]:
    """Ask a feed for what is new."""
    from operations import holes
    from operations.feeds import Listener
    from operations.feeds import fetch as run

    def show(basin: feeds.FetchedBasin, done: int, total: int) -> None:
        if basin.status == "failed":
            running.log(f"{basin.basin_id} failed: {basin.reason}")
        running.show(done, total, f"{basin.basin_id} {basin.status}")

    tools = running.tools
    listener = Listener(show, running.log, running.pause)
    intake = intake_of(running)
    done = run(tools.database, tools.clock, tools.settings, intake, params.feed, params.basins, params.period, listener)
    failed = {one.basin_id: one.reason for one in done if one.status == "failed"}
    if len(failed) == len(done):
        raise DataProblem(f"Nothing came of any of the {len(done)} basins. {next(iter(failed.values()))}")
    remarks = holes.remarks(params.feed, done)
    for sentence in remarks[:MOST_TOLD]:
        running.log(sentence)
    missing = {one.basin_id: one.holes for one in done if one.holes}
    result = {"counts": feeds.statuses(done), "failed": failed, "holes": dict(islice(missing.items(), MOST_TOLD))}
    return result | {"warnings": remarks[:MOST_TOLD]}


def bridge(running: Running, params: BridgeParams) -> dict[str, Any]:
    """Fit a bridge where that is asked for, and apply it."""
    from operations import posted
    from operations.bridge import apply, fit

    tools = running.tools

    def show(basin: str, done: int, total: int) -> None:
        running.show(done, total, basin)

    result: dict[str, Any] = {}
    if params.fit is not None:
        with tools.database.reading() as session:
            posted.require_may_fit(session, running.job, params.name, params.fit.model)
        fitted = fit(tools.database, tools.clock, params.name, params.fit, params.basins, show)
        for reason in fitted.refused.values():
            running.log(f"Not fitted: {reason}")
        result = {"bridge": fitted.id, "refused_basins": len(fitted.refused)}
        if params.fit.model is not None:
            return result
    outcomes = apply(tools.database, tools.clock, params.name, () if params.fit else params.basins, show)
    return result | counted(outcomes, "bridged")


def basin(running: Running, params: AddedBasin) -> dict[str, Any]:
    """Add a basin, or what more is known of one."""
    from operations import posted
    from operations.gauges import add

    tools, job = running.tools, running.job
    with tools.database.reading() as session:
        posted.require_describable(session, job, params.basin)
    return asdict(add(tools.database, tools.clock, tools.settings, params, job.key_id, running.pause))


def climate(running: Running, params: ClimateParams) -> dict[str, Any]:
    """Compute the climate indices of a basin."""
    from operations import posted
    from operations.climate import compute

    tools = running.tools
    with tools.database.reading() as session:
        posted.require_describable(session, running.job, params.basin)
    computed = compute(tools.database, tools.clock, params.basin, params.product, params.period)
    return {"basin": computed.basin, "computed_from": computed.source, "indices": asdict(computed.indices)}
