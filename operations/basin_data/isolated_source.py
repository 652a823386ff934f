"""Reads a source in a separate process, so that a file that crashes a C library ends only that process."""

import signal
from collections.abc import Callable
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Self

from hydrology.base.errors import DataProblem, Problem
from ingestion.base import BasinData, Source, SourceError
from ingestion.reading import Files
from runtime.child_processes import end_with_parent, exit_in_words, leave_signals_to_parent, limit, spawn_context

MAX_DEATHS = 2  # per basin: the machine may be at fault the first time
PATIENCE = 600.0  # seconds per file: a library may hang on a damaged one

_MEND = "get it from its publisher again, or leave it out"


class IsolatedSource:
    """A source whose basins are read by another process, which is restarted after it dies.

    Args:
        make: creates the source in that process, with the keyword `files`; it must be picklable.
        roots: the folders that files must be in (`ingestion.reading.Files`).
        patience: seconds that the process may take for one file before it is killed.
    """

    def __init__(self, make: Callable[..., Source], roots: tuple[Path, ...] | None, patience: float = PATIENCE) -> None:
        self._make, self._roots, self._patience = make, roots, patience
        self._reader: _Reader | None = None

    def basins(self) -> list[str]:
        """Return the basins of the source; raises the errors of creating it."""
        basins: list[str] = self._ask("basins")
        return basins

    def read(self, basin: str) -> BasinData:
        """Return a basin's data; refuse a file on which the process died or hung twice."""
        data: BasinData = self._ask("read", basin)
        return data

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
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
                cause = f"the process that read it did not end within {self._patience:g} seconds, and was killed"
                raise SourceError(endless, cause, _MEND) from None
            except EOFError:
                file, how = self._reader.file, exit_in_words(self._reader.end())
                self._reader = None
        where = file or "The source"
        raise SourceError(where, f"the process that read it {how}, twice", _MEND)


class _Reader:
    """A process that holds the source; `file` is the one that it started to read last."""

    def __init__(self, make: Callable[..., Source], roots: tuple[Path, ...] | None) -> None:
        self.file: str | None = None
        spawned = spawn_context()
        self._connection, there = spawned.Pipe()
        self._process = spawned.Process(target=_serve, args=(there, make, roots), daemon=True)
        self._process.start()
        there.close()

    def ask(self, patience: float, method: str, *arguments: str) -> Any:
        """Call a method of the source, and return its result."""
        try:
            self._connection.send((method, arguments))
        except BrokenPipeError:
            raise EOFError from None
        while True:
            # Starting the process and listing an archive may take long.
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
        self._process.kill()
        self.end()

    def end(self) -> int:
        self._connection.close()
        self._process.join()
        assert self._process.exitcode is not None
        return self._process.exitcode


def _serve(connection: Connection, make: Callable[..., Source], roots: tuple[Path, ...] | None) -> None:
    end_with_parent()
    leave_signals_to_parent(signal.SIGINT)
    limit()
    files = Files(roots, lambda name: connection.send(("file", name)))
    source: Source | None = None
    with closing(connection):
        while True:
            try:
                method, arguments = connection.recv()
            except EOFError:  # the command has finished or died
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
    problem = Problem(sentence)
    problem.kind, problem.exit_code = kind, exit_code
    return problem
