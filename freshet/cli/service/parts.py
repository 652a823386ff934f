"""`freshet worker`, `freshet scheduler`, `freshet api`: the parts of the service, each a process of its own."""

import threading
from typing import Annotated

import uvicorn

from freshet.cli.context import MayCreateDatabase, opened
from freshet.cli.options import option
from freshet.cli.service.serve import PORT, Host, Port, check_free
from hydrology.base.errors import InvalidInput
from jobspec.jobs.base import GPU, QUEUES
from models.devices import CPU
from runtime.settings import Settings

BUILD_AFTER = 1.0
"""Seconds after its start at which the API builds its OpenAPI document, so that the first reader need not wait."""


def worker(
    queue: Annotated[
        list[str] | None,
        option("NAME", f"One of {', '.join(QUEUES)}; {GPU} needs a CUDA device. Default: all that it can.", "--queue"),
    ] = None,
    device: Annotated[
        str | None, option("DEVICE", "cpu, or a CUDA device such as cuda:0. Default: FRESHET_DEVICE, otherwise cpu.")
    ] = None,
) -> None:
    """Run jobs, one at a time, until stopped. Start as many workers as the machine can carry, and one for each GPU."""
    from workers.processes import work

    settings = _settings()
    if device is not None:
        settings = settings.model_copy(update={"device": Settings.load(device=device).device})
    queues = queue or [name for name in QUEUES if name != GPU or settings.device != CPU]
    if unknown := sorted(set(queues) - set(QUEUES)):
        raise InvalidInput(f"There is no queue {', '.join(unknown)}: choose of {', '.join(QUEUES)}.")
    if GPU in queues and settings.device == CPU:
        raise InvalidInput(f"The queue {GPU} is for workers with a GPU: name it with --device, such as cuda:0.")
    work(settings, queues)


def scheduler() -> None:
    """Start scheduled jobs, queue alert deliveries, and requeue lost jobs, until stopped."""
    from workers.processes import run_scheduler

    run_scheduler(_settings())


def api(host: Host = "127.0.0.1", port: Port = PORT) -> None:
    """Serve the API alone, without workers."""
    from app.http.server import options, raise_limit_of_files
    from app.main import create_app

    settings = _settings()
    check_free(host, port)
    app = create_app(settings, host)
    building = threading.Timer(BUILD_AFTER, app.openapi)
    building.daemon = True
    building.start()
    raise_limit_of_files()
    uvicorn.run(app, host=host, port=port, **options(settings))


def _settings() -> Settings:
    with opened(begins=MayCreateDatabase.WHERE_EXPECTED, log_level="info") as context:
        return context.settings
