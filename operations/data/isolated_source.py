"""A source that is read in a process of its own: a file that crashes a library in C ends that process and no other."""

import resource
import signal
from collections.abc import Callable
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from hydrology.base.errors import DataProblem, Problem
from ingestion.base import BasinData, Source, SourceError
from ingestion.reading import Files
from runtime.parent_process import ended_in_words
from runtime.python_processes import spawn_context

MAX_DEATHS = 2  # at one basin: the first may be the machine's fault
PATIENCE = 600.0  # seconds for one file: there are some at which a library never ends

_MEND = "get it from its publisher again, or leave it out"


class IsolatedSource:
    """A source whose basins are read by another process, which is started again when it has died.

    Args:
        make: makes the source, there, with the keyword `files`. It is sent there, and so must be picklable.
        roots: the folders that files must be in (`ingestion.reading.Files`).
        patience: seconds that the process may read one file; then it is killed.
    """

    def __init__(self, make: Callable[..., Source], roots: tuple[Path, ...] | None, patience: float = PATIENCE) -> None:
        self._make, self._roots, self._patience = make, roots, patience
        self._reader: _Reader | None = None

    def basins(self) -> list[str]:
        """Return the basins of the source; raises what making it raises."""
        basins: list[str] = self._ask("basins")
        return basins

    def read(self, basin: str) -> BasinData:
        """Return all that the source holds of a basin.

        Raises:
            SourceError: a file of the basin cannot be used, or the process died of it, twice, or came to no end.
        """
        data: BasinData = self._ask("read", basin)
        return data

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._reader is not None:
            self._reader.end()

    def _ask(self, method: str, *arguments: str) -> Any:
        for _ in range(MAX_DEATHS):
            self._reader = self._reader or _Reader(self._make, self._roots)
            try:
                return self._reader.ask(self._patience, method, *arguments)
            except TimeoutError:
                endless = self._reader.file or "The source"
                self._reader.kill()
                self._reader = None
                cause = f"the process that read it came to no end in {self._patience:g} seconds, and was killed"
                raise SourceError(endless, cause, _MEND) from None
            except EOFError:
                file, how = self._reader.file, ended_in_words(self._reader.end())
                self._reader = None
        where = file or "The source"
        raise SourceError(where, f"the process that read it {how}, twice", _MEND)


class _Reader:
    """A process with the source.

    Attributes:
        file: the last that it began to read.
    """

    def __init__(self, make: Callable[..., Source], roots: tuple[Path, ...] | None) -> None:
        self.file: str | None = None
        spawned = spawn_context()
        self._connection, there = spawned.Pipe()
        self._process = spawned.Process(target=_serve, args=(there, make, roots), daemon=True)
        self._process.start()
        there.close()

    def ask(self, patience: float, method: str, *arguments: str) -> Any:
        """Return what a method of the source returns.

        Args:
            patience: seconds that the process may read one file.

        Raises:
            EOFError: the process died.
            TimeoutError: it has read one for longer.
            Problem: what the method raised.
        """
        try:
            self._connection.send((method, arguments))
        except BrokenPipeError:
            raise EOFError from None
        while True:
            # To start and to list an archive may take long.
            if not self._connection.poll(None if self.file is None else patience):
                raise TimeoutError
            what, content = self._connection.recv()
            match what:
                case "file":
                    self.file = content
                case "problem":
                    raise _problem(*content)
                case _:
                    return content

    def kill(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self.end()

    def end(self) -> int:
        """End the process, and return its exit code."""
        self._connection.close()
        self._process.join()
        assert self._process.exitcode is not None
        return self._process.exitcode


def _serve(connection: Connection, make: Callable[..., Source], roots: tuple[Path, ...] | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the command's to tell
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    files = Files(roots, lambda name: connection.send(("file", name)))
    source: Source | None = None
    with closing(connection):
        while True:
            try:
                method, arguments = connection.recv()
            except EOFError:  # the command has all that it wants, or is gone
                return
            try:
                source = source or make(files=files)
                connection.send(("done", getattr(source, method)(*arguments)))
            except Problem as problem:
                connection.send(("problem", (problem.kind, problem.exit_code, str(problem))))
            except OSError as error:
                sentence = f"{error.filename or 'A file'} cannot be used: {error.strerror or error}."
                connection.send(("problem", (DataProblem.kind, DataProblem.exit_code, sentence)))


def _problem(kind: str, exit_code: int, sentence: str) -> Problem:
    """Return a problem that another process met."""
    problem = Problem(sentence)
    problem.kind, problem.exit_code = kind, exit_code
    return problem
