"""`freshet serve`: the whole service; `worker`, `scheduler`, `api`: its parts, each a process of its own."""

import errno
import gc
import socket
import sys
import threading
from typing import Annotated

import structlog

from freshet.cli.context import MayCreateDatabase, cores, opened
from freshet.cli.options import option
from freshet.cli.output import inform
from hydrology.base.errors import InvalidInput
from jobspec.jobs.base import GPU, QUEUES
from models.devices import CPU
from runtime.process import log_to_stderr
from runtime.settings import Settings

log = structlog.get_logger()

PORT = 8000
"""Where the service is found unless another port is chosen."""
Host = Annotated[str, option("ADDRESS", "Address to listen on: 0.0.0.0 for every one of this machine.")]
Port = Annotated[int, option("PORT", "Port to listen on.", min=1, max=65535)]


def serve(
    host: Host = "127.0.0.1",
    port: Port = PORT,
    workers: Annotated[int, option("COUNT", "Workers besides those that train or ingest.", min=1)] = 1,
    training_workers: Annotated[
        int | None, option("COUNT", "Workers that train a member each. Default: one for every core.", min=1)
    ] = None,
) -> None:
    """Serve the API, with pages that describe it at /docs, and run its jobs: broker, workers, scheduler."""
    with opened(begins=MayCreateDatabase.WHERE_EXPECTED, log_level="info") as context:
        settings = context.settings
    run(settings, host, port, workers, training_workers)


class PortInUse(InvalidInput):
    """Another program listens on the port."""

    kind = InvalidInput.kind


def run(settings: Settings, host: str, port: int, workers: int = 1, training_workers: int | None = None) -> None:
    """Serve until interrupted.

    Args:
        training_workers: None for one a core.
    """
    from freshet.cli.main import main
    from freshet.supervisor.service import Service

    log_to_stderr(settings.log_level)
    check_free(host, port)
    if sys.stderr.isatty():
        inform("\n".join(addresses(host, port)))
    else:
        log.info("service.address", url=base(host, port))
    here = cores(settings.cores)
    members = training_workers or here
    Service(main, settings, host=host, port=port, workers=workers, training_workers=members, cores=here).run()


def check_free(host: str, port: int) -> int:
    """Return the port if it is free to listen on at the address; any free one for 0."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
            free: int = probe.getsockname()[1]
            return free
    except OSError as error:
        kind, remedy = {
            errno.EADDRINUSE: (PortInUse, "stop what listens there, or choose another --port"),
            errno.EACCES: (InvalidInput, "choose a --port above 1023"),
        }.get(error.errno or 0, (InvalidInput, "choose a --host of this machine, such as 127.0.0.1"))
        raise kind(f"Nothing can listen on {host}:{port} ({error.strerror or error}): {remedy}.") from error


def addresses(host: str, port: int) -> list[str]:
    """Return the main addresses of the service, a line each."""
    start = base(host, port)
    return [
        f"pages            {start}/",
        f"API pages        {start}/docs",
        f"basins           {start}/v1/basins",
        f"latest forecast  {start}/v1/basins/BASIN/forecasts/latest",
    ]


def base(host: str, port: int) -> str:
    """Return the base URL of the service."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


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
    import uvicorn

    from app.http.server import options, raise_limit_of_files
    from app.main import create_app

    settings = _settings()
    check_free(host, port)
    app = create_app(settings, host)
    gc.freeze()  # what stays loaded: the garbage collector would stop all answers for half a second to look at it
    building = threading.Timer(BUILD_AFTER, app.openapi)
    building.daemon = True
    building.start()
    raise_limit_of_files()
    uvicorn.run(app, host=host, port=port, **options(settings))


def _settings() -> Settings:
    with opened(begins=MayCreateDatabase.WHERE_EXPECTED, log_level="info") as context:
        return context.settings
