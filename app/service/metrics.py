"""For those who run the service: /metrics in the text format of Prometheus, and /v1/audit, the trail of changes."""

import shutil
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, TypeAlias

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy.orm import Session
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.exports.fields import Listing, documented_list, listing
from app.http.api_keys import AdminReader, AnyKey
from app.http.base_schema import Model, next_page
from app.http.conditional import NO_STORE
from app.http.dependencies import NumberCursor, OpenDatabase, Reading, ServiceClock, ServiceSettings
from app.http.middleware import Middleware, on_start
from app.http.problems import Forbidden, Unauthorized, documented
from app.http.shown import As
from hydrology.base.calendar import age_days
from jobspec.jobs.base import QUEUES
from records.access import audit
from records.database import storage_sizes
from records.database.engine import Database
from records.jobs import process_heartbeats, queues
from records.upkeep import monitoring
from runtime.clock import Clock
from runtime.release import code_version
from runtime.settings import Settings

Samples: TypeAlias = Mapping[tuple[str, ...], float]

METRICS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "freshet_build_info": ("The version of the service and the revision of its tables.", ("version", "revision")),
    "freshet_queue_jobs": ("Jobs that wait for a worker.", ("queue",)),
    "freshet_queue_oldest_seconds": ("Waiting time of the oldest job.", ("queue",)),
    "freshet_workers": ("Workers with a heartbeat in the last two minutes.", ("queue",)),
    "freshet_gpu_usable": ("Whether the GPU of a worker takes trainings (1) or failed (0).", ("gpu", "name")),
    "freshet_gpu_memory_bytes": ("Memory of a worker's GPU.", ("gpu", "name")),
    "freshet_gpu_memory_used_bytes": ("Memory in use on a worker's GPU, by any process.", ("gpu", "name")),
    "freshet_gpu_utilisation_ratio": ("Share of the last moments in which a worker's GPU computed.", ("gpu", "name")),
    "freshet_day_jobs": ("Jobs posted in the last 24 hours, by status.", ("kind", "status")),
    "freshet_failing_schedules": ("Schedules whose last job has failed, and whose work has not succeeded since.", ()),
    "freshet_feed_age_seconds": ("Time since the last successful fetch of a feed.", ("feed",)),
    "freshet_newest_t0_seconds": ("The newest T0 of a version, as seconds since 1970.", ("version",)),
    "freshet_newest_t0_age_days": ("Days from the newest T0 to the service's clock.", ("version",)),
    "freshet_newest_basins": ("Basins by the outcome of their newest operational run.", ("status",)),
    "freshet_worst_residual_ratio": (
        "The largest residual of the newest runs' ledgers relative to its tolerance; above 1 it does not close.",
        (),
    ),
    "freshet_degraded": ("1 for each degradation that `/health/ready` lists.", ("code",)),
    "freshet_disk_free_bytes": ("Free space on the disk of the data folder.", ()),
    "freshet_database_bytes": ("Size of the database.", ()),
    "freshet_storage_bytes": ("Room that a kind of data takes in the database, as the last prune measured.", ("kind",)),
    "freshet_storage_bytes_a_day": ("Growth of that in a day, in the mean of at most 30.", ("kind",)),
}
"""Description and labels of each metric."""


class Figures(Collector):
    """The metrics at one instant."""

    def __init__(self, samples: Mapping[str, Samples]) -> None:
        self._samples = samples

    def collect(self) -> Iterable[GaugeMetricFamily]:
        for name, (meaning, labels) in METRICS.items():
            family = GaugeMetricFamily(name, meaning, labels=labels)
            for values, number in self._samples.get(name, {}).items():
                family.add_metric(values, number)
            yield family


def _samples(
    session: Session, database: Database, clock: Clock, settings: Settings, revision: str | None
) -> dict[str, Samples]:
    now, wall = clock.now(), clock.wall()
    waiting = {of.queue: of for of in monitoring.waiting_jobs(session)}
    processes = process_heartbeats.live_processes(session)
    workers = process_heartbeats.workers_by_queue(processes)
    newest, storage = monitoring.newest_t0(session, now), storage_sizes.read(session)
    return {
        "freshet_build_info": {(code_version(), revision or "none"): 1},
        "freshet_queue_jobs": {(queue,): waiting[queue].jobs if queue in waiting else 0 for queue in QUEUES},
        "freshet_queue_oldest_seconds": {
            (queue,): _seconds(waiting[queue].oldest_at, wall) if queue in waiting else 0 for queue in QUEUES
        },
        "freshet_workers": {(queue,): workers.get(queue, 0) for queue in QUEUES},
        **_gpus([process.gpu for process in processes if process.gpu is not None]),
        "freshet_day_jobs": monitoring.jobs_of_a_day(session, wall),
        "freshet_failing_schedules": _alone(sum(job.schedule is not None for job in queues.failing(session))),
        "freshet_feed_age_seconds": {
            (feed,): _seconds(at, now) for feed, at in monitoring.feeds(session).items() if at is not None
        },
        "freshet_newest_t0_seconds": {
            (name,): float(t0.astype("datetime64[s]").astype(int)) for name, t0 in newest.items()
        },
        "freshet_newest_t0_age_days": {(name,): age_days(t0, now) for name, t0 in newest.items()},
        "freshet_newest_basins": {(status,): basins for status, basins in monitoring.newest_basins(session).items()},
        "freshet_worst_residual_ratio": _alone(monitoring.worst_residual(session)),
        "freshet_disk_free_bytes": _alone(shutil.disk_usage(settings.data).free if settings.data.exists() else None),
        "freshet_database_bytes": _alone(monitoring.database_bytes(session, database.file)),
        "freshet_storage_bytes": {(use.kind,): use.size_bytes for use in storage},
        "freshet_storage_bytes_a_day": {(use.kind,): use.bytes_a_day for use in storage if use.bytes_a_day is not None},
    }


def _gpus(states: Sequence[process_heartbeats.GPUState]) -> dict[str, Samples]:
    samples: dict[str, dict[tuple[str, ...], float]] = defaultdict(dict)
    for gpu in states:
        figures = {
            "freshet_gpu_usable": gpu.fault is None,
            "freshet_gpu_memory_bytes": gpu.memory,
            "freshet_gpu_memory_used_bytes": gpu.memory_used,
            "freshet_gpu_utilisation_ratio": gpu.utilisation,
        }
        for metric, value in figures.items():
            if value is not None:
                samples[metric][gpu.id or gpu.device, gpu.name or "unknown"] = float(value)
    return {**samples}


def _seconds(since: datetime, now: datetime) -> float:
    return (now - since).total_seconds()


def _alone(number: float | None) -> Samples:
    return {} if number is None else {(): number}


BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
"""Seconds."""
NO_ROUTE = "none"
"""Template of unknown addresses, so that clients cannot create metric series."""


def template_of(scope: Scope) -> str:
    """Return the address template of a request, including the router's prefix."""
    template = getattr(scope.get("route"), "path_format", None)
    if template is None:
        return NO_ROUTE
    led_to = template.format(**scope.get("path_params", {}))
    prefix = scope["path"].removesuffix(led_to) if scope["path"].endswith(led_to) else ""
    return f"{prefix}{template}"


class RequestTimes:
    """Histogram of request durations."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._seconds = Histogram(
            "freshet_request_seconds",
            "How long requests took until their answer was sent, by this process.",
            ("method", "route", "status"),
            registry=self.registry,
            buckets=BUCKETS,
        )

    def add(self, scope: Scope, status: int, seconds: float) -> None:
        route = template_of(scope)
        method = scope["method"] if route != NO_ROUTE else NO_ROUTE
        self._seconds.labels(method, route, str(status)).observe(seconds)


class Timed(Middleware):
    """Middleware that measures the duration of every request."""

    def __init__(self, app: ASGIApp, times: RequestTimes) -> None:
        super().__init__(app)
        self._times = times

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        started, status = time.perf_counter(), 500

        def note(start: Message) -> None:
            nonlocal status
            status = start["status"]

        try:
            await self._app(scope, receive, on_start(send, note))
        finally:
            self._times.add(scope, status, time.perf_counter() - started)


router = APIRouter(tags=["status"])


@router.get(
    "/metrics",
    summary="Metrics for Prometheus",
    response_class=Response,
    responses=documented(Unauthorized)
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
    registry = CollectorRegistry()
    samples = _samples(session, database, clock, settings, database.check().revision)
    codes = request.app.state.hindered.codes(database, clock, settings)
    registry.register(Figures(samples | {"freshet_degraded": {(code,): 1 for code in codes}}))
    figures = generate_latest(registry) + generate_latest(request.app.state.times.registry)
    return Response(figures, media_type=CONTENT_TYPE_LATEST, headers={"Cache-Control": "no-store"})


audit_router = APIRouter(prefix="/audit", tags=["audit"])

_CHANGE = As(name="Change", rename=(("key_id", "key"),), exact=True, missing=True)


class AuditPage(Model):
    """Changes, the newest first."""

    changes: list[Annotated[audit.Entry, _CHANGE]]
    next: str | None = next_page("/v1/audit?limit=100&after=42")


@audit_router.get(
    "", summary="Audit trail of changes", **documented_list(AuditPage, Unauthorized, Forbidden, cache_control=NO_STORE)
)
def list_changes(
    session: Reading, _key: AdminReader, page: Annotated[Listing, listing(AuditPage, NumberCursor)]
) -> Response:
    """Every change over the API and by the command line, the newest first, a page at a time: follow `next` until it is
    null. For admins alone."""
    return page.of(audit.page(session, before=page.after, limit=page.sought), list, lambda entry: entry.seq)
