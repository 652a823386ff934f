"""Starts child processes, limits them, ends them, and describes how they ended.

All processes start here: programs (`start`), functions in a new Python (`spawn_context`) or in a copy of one that has
loaded what they need (`fork_context`), and copies of this process (`Fork`). A child dies with its parent, and runs the
installed Freshet: without `-P` Python searches the working folder for modules first, so a folder `models/` or
`records/` in it would run in place of Freshet's.
"""

import ctypes
import os
import resource
import signal
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import forkserver, get_context, resource_tracker
from multiprocessing.context import ForkServerContext, SpawnContext, SpawnProcess
from pathlib import Path
from threading import Lock
from typing import IO, NoReturn, TypeAlias

from runtime.process import collect_seldom

_SAFE_PATH = "PYTHONSAFEPATH"
_starting = Lock()
_ENDING = (signal.SIGTERM, signal.SIGINT)
_LOOK_SECONDS = 0.05  # between two looks at whether a fork has ended


def python_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module in its own process."""
    return [sys.executable, "-P", "-m", module, *arguments]


def start(
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    log: IO[bytes] | None = None,
    own_group: bool = True,
    dies_by: signal.Signals | None = signal.SIGKILL,
    umask: int = -1,
) -> subprocess.Popen[bytes]:
    """Start a program.

    Args:
        log: receives its output and its errors; without it, its input and output are pipes.
        own_group: whether it leads a process group: then Ctrl-C does not reach it, and `kill_group` ends its children.
        dies_by: the signal that it gets when this process dies. None where this process has threads, which a call
            between fork and exec may deadlock: the program then calls `end_with_parent` itself.
        umask: of the program; -1 for that of this process.
    """
    return subprocess.Popen(
        command,
        env=environment,
        stdin=None if log else subprocess.PIPE,
        stdout=log or subprocess.PIPE,
        stderr=log,
        process_group=0 if own_group else None,
        umask=umask,
        preexec_fn=None if dies_by is None else partial(end_with_parent, dies_by),  # noqa: PLW1509 - see `dies_by`
    )


def spawn_context() -> SpawnContext:
    """Return the way to spawn processes for functions, which are as safe as `python_command`."""
    with _safe_path():
        resource_tracker.ensure_running()  # a process of its own, which the first lock or queue would start
    return _SafeContext()


def fork_context(loads: str) -> ForkServerContext:
    """Return the way to fork processes for functions from one that has loaded a module, and computes nothing itself.

    It starts with the first call and ends with this process: its copies have its environment and limits.
    """
    context = get_context("forkserver")
    context.set_forkserver_preload(["__main__", loads])
    with _safe_path():
        resource_tracker.ensure_running()
        forkserver.ensure_running()
    return context


class _SafeProcess(SpawnProcess):
    def start(self) -> None:
        with _safe_path():
            super().start()

    def run(self) -> None:
        collect_seldom()
        super().run()


class _SafeContext(SpawnContext):
    Process = _SafeProcess


@contextmanager
def _safe_path() -> Iterator[None]:
    """Let processes that are started meanwhile pass by the working folder; one thread at a time is in here.

    `multiprocessing` passes no option to its processes but those of this one, so that it takes the environment.
    """
    with _starting:
        before = os.environ.get(_SAFE_PATH)
        os.environ[_SAFE_PATH] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ[_SAFE_PATH]
            else:
                os.environ[_SAFE_PATH] = before


class Signalled(ABC):
    """A process that runs no program, with the signals of `subprocess.Popen`."""

    pid: int

    @abstractmethod
    def poll(self) -> int | None:
        """Return its exit code, negative for a signal; None while it runs."""

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Fork(Signalled):
    """A copy of this process that runs a function, with the needed part of the interface of `subprocess.Popen`.

    `subprocess` does not fork without another program, and `multiprocessing` hands each fork the pipes of those before
    it, and leaks its own pipes where a fork fails. A lock that another thread holds stays locked in the copy: fork
    where there are no threads, or where the function takes none of their locks.

    Args:
        run: runs in the copy, which ends with it: with exit code 0, that of a `SystemExit`, or 1 after another error.
        defaults: signals whose handlers the copy does not inherit.
    """

    def __init__(self, run: Callable[[], object], defaults: Sequence[signal.Signals]) -> None:
        self._code: int | None = None
        with suppress(OSError, ValueError):  # the copy would write what is buffered a second time
            sys.stdout.flush()
            sys.stderr.flush()
        # A signal between the fork and the default handlers would go to an inherited handler, and be lost.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
        try:
            self.pid = os.fork()
            if self.pid == 0:
                for number in defaults:
                    signal.signal(number, signal.SIG_DFL)
                signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
                _run(run)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    def poll(self) -> int | None:
        return self._reap(os.WNOHANG)

    def wait(self, timeout: float | None = None) -> int:
        if timeout is None and (code := self._reap(0)) is not None:
            return code
        started = time.monotonic()
        while (code := self.poll()) is None:
            if timeout is not None and time.monotonic() - started > timeout:
                raise subprocess.TimeoutExpired("freshet", timeout)
            time.sleep(_LOOK_SECONDS)
        return code

    def _reap(self, options: int) -> int | None:
        if self._code is None:
            try:
                process, status = os.waitpid(self.pid, options)
            except ChildProcessError:  # SIGCHLD is ignored for us: the exit status is lost, and may have been an error
                self._code = 1
            else:
                self._code = os.waitstatus_to_exitcode(status) if process else None
        return self._code


def _run(run: Callable[[], object]) -> NoReturn:
    code = 1
    try:
        run()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - as where a program ends by an error
        sys.excepthook(*sys.exc_info())
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:  # though the disk of the log is full: it must not go on as a second parent
            os._exit(code)


Process: TypeAlias = Fork | subprocess.Popen[bytes]


def end_with_parent(how: signal.Signals = signal.SIGKILL, *, parent: int | None = None) -> None:
    """Send this process a signal when its parent dies, however it dies (Linux). The setting survives an exec.

    SIGKILL alone ends a process that is stopped or hangs, too. This process ends at once if `parent`, a process id, has
    died before the call.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, how)  # 1: PR_SET_PDEATHSIG
    if parent is not None and os.getppid() != parent:
        os._exit(1)


def leave_signals_to_parent(*numbers: signal.Signals) -> None:
    """Ignore signals that reach the whole group: the parent decides what has to stop."""
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)


def limit(*, memory: int | None = None, seconds: int | None = None) -> None:
    """Write no core file, which would hold whatever was in memory, and limit the resources of this process.

    `memory` is bytes of data; `seconds` are of computing, and one more kills the process.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if seconds is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    if memory is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def memory_limit() -> int | None:
    """Return the bytes of data that this process may allocate. None without a limit."""
    bytes_, _ = resource.getrlimit(resource.RLIMIT_DATA)
    return None if bytes_ == resource.RLIM_INFINITY else bytes_


@contextmanager
def memory_limited_to(bytes_: int | None) -> Iterator[None]:
    """Limit the bytes of data of this process for a while; None for no further limit."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    lowest = min((one for one in (bytes_, before[0]) if one not in (None, resource.RLIM_INFINITY)), default=before[0])
    resource.setrlimit(resource.RLIMIT_DATA, (lowest, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def memory_in_use() -> int | None:
    """Return the bytes of data of this process. None where the system does not report them (only Linux does)."""
    with suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    return None


def kill_first_without_memory(process: Process) -> None:
    """Let the kernel kill a process before this one if memory runs out (Linux), from its first instruction on."""
    with suppress(OSError):
        Path(f"/proc/{process.pid}/oom_score_adj").write_text("500")


def memory_kills() -> int:
    """Return how many processes the kernel has killed for want of memory since the machine's start; 0 if unknown."""
    with suppress(OSError):
        lines = Path("/proc/vmstat").read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))
    return 0


def kill_group(process: subprocess.Popen[bytes], patience: float) -> bool:
    """Kill a process that leads a group, and all that it has started. Return whether it ended.

    It waits `patience` seconds: a process that hangs in the kernel cannot be killed.
    """
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(patience)
        return True
    return False


def end_all(processes: Sequence[Process], patience: float) -> None:
    """Ask processes to end, wait for all, and kill those that do not within some seconds."""
    last = time.monotonic() + patience
    for process in processes:
        if process.poll() is None:
            process.terminate()
    for process in processes:
        try:
            process.wait(max(0.0, last - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def end_in_words(process: Process, patience: float, kills_before: int | None = None) -> str | None:
    """Describe the end of a process, `kills_before` being `memory_kills` at its start. None if it does not end within
    some seconds."""
    with suppress(subprocess.TimeoutExpired):
        code = process.wait(patience)
        return exit_in_words(code, kills_before is not None and memory_kills() > kills_before)
    return None


def exit_in_words(code: int, memory_ran_out: bool = False) -> str:
    """Describe the end of a process by its exit code: `was killed by SIGSEGV (Segmentation fault)`.

    `memory_ran_out` is whether the kernel has killed processes for want of memory meanwhile, which it does by SIGKILL.
    """
    if code >= 0:
        return f"ended with exit code {code}"
    if memory_ran_out and code == -signal.SIGKILL:
        return "was killed because the memory of the machine or container ran out: raise its limit, or ask for less,"
    return f"was killed by {signal.Signals(-code).name} ({signal.strsignal(-code)})"
