"""`freshet worker`, `freshet scheduler`, `freshet api`: the parts of the service, each a process of its own."""

import threading
from typing import Annotated

import uvicorn

from freshet.cli.context import Begins, opened
from freshet.cli.options import option
from freshet.cli.service.serve import Host, Port, check_free
from hydrology.base.errors import InvalidInput
from jobspec.jobs.base import QUEUES
from runtime.settings import Settings

BUILD_AFTER = 1.0
"""Seconds after its start at which the API builds its OpenAPI document, so that the first reader need not wait."""


def worker(
    queue: Annotated[list[str] | None, option("NAME", f"One of {', '.join(QUEUES)}. Default: all.", "--queue")] = None,
    device: Annotated[str | None, option("DEVICE", "Device for trainings: cpu, or cuda:0 and the like.")] = None,
) -> None:
    """Run jobs, one at a time, until stopped. Start as many workers as the machine can carry."""
    from workers.processes import work

    queues = queue or list(QUEUES)
    if unknown := sorted(set(queues) - set(QUEUES)):
        raise InvalidInput(f"There is no queue {', '.join(unknown)}: choose of {', '.join(QUEUES)}.")
    settings = _settings()
    work(settings.model_copy(update={"device": device}) if device else settings, queues)


def scheduler() -> None:
    """Start scheduled jobs, queue alert deliveries, and requeue lost jobs, until stopped."""
    from workers.processes import run_scheduler

    run_scheduler(_settings())


def api(host: Host = "127.0.0.1", port: Port = 8000) -> None:
    """Serve the API alone, without workers."""
    from app.http.server import options
    from app.main import create_app

    settings = _settings()
    check_free(host, port)
    app = create_app(settings, host)
    building = threading.Timer(BUILD_AFTER, app.openapi)
    building.daemon = True
    building.start()
    uvicorn.run(app, host=host, port=port, **options(settings))


def _settings() -> Settings:
    with opened(begins=Begins.WHERE_EXPECTED, log_level="info") as context:
        return context.settings
