"""/metrics"""

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from app.http.api_keys import AnyKey
from app.http.dependencies import OpenDatabase, Reading, ServiceClock, ServiceSettings
from app.http.problems import documented_keyed
from app.service.metrics import service

router = APIRouter(tags=["status"])


@router.get(
    "/metrics",
    summary="Metrics for Prometheus",
    response_class=Response,
    responses=documented_keyed()
    | {200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Figures."}},
)
def read_metrics(
    request: Request,
    session: Reading,
    database: OpenDatabase,
    clock: ServiceClock,
    settings: ServiceSettings,
    _key: AnyKey,
) -> Response:
    """Queues, workers and their GPUs, jobs, feeds, the newest T0, closure, the database and the disk, and the duration
    of requests to this process, in the text format of Prometheus. Any key may read them, because they name feeds.
    Except for requests, they are the same in every process of the service."""
    figures = service.exposition(session, database, clock, settings, database.check().revision)
    times = generate_latest(request.app.state.times.registry)
    return Response(figures + times, media_type=CONTENT_TYPE_LATEST, headers={"Cache-Control": "no-store"})
