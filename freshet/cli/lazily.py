"""What a command's module imports of the floors above the records is executed when it is first used.

A module of commands names the modules of all its commands at its head, and each command uses few of them. Python's own
`LazyLoader` executes a module also where something only looks at its `__file__`, as `inspect` does of all modules while
torch is imported.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from threading import RLock
from types import ModuleType
from typing import Any

FLOORS = ("app", "ingestion", "models", "operations", "starlette", "workers")
"""Also what the endpoints' functions take."""
_LOCK = RLock()
"""Held while a module is executed: several threads may use it first."""


class _Unexecuted(ModuleType):
    """A module whose names come when one of them is asked for."""

    def __getattr__(self, name: str) -> Any:
        with _LOCK:
            if type(self) is _Unexecuted and not name.startswith("__"):
                self.__class__ = ModuleType  # type: ignore[assignment]  # its own imports may lead back to it
                try:
                    SourceFileLoader(self.__name__, str(self.__file__)).exec_module(self)
                except BaseException:
                    self.__class__ = _Unexecuted
                    raise
        return object.__getattribute__(self, name)


class _Finder:
    """Finds modules of `FLOORS`; a package is executed at once."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, _target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path) if path and name.partition(".")[0] in FLOORS else None
        if spec is None or spec.origin is None or spec.submodule_search_locations is not None:
            return None
        spec.loader = _Loader(name, spec.origin)
        return spec


class _Loader(SourceFileLoader):
    """Leaves a module unexecuted."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Unexecuted(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing yet."""


@contextmanager
def executed_when_used() -> Iterator[None]:
    """Import modules of `FLOORS` without executing them before one of their names is used."""
    sys.meta_path.insert(0, _Finder)
    try:
        yield
    finally:
        sys.meta_path.remove(_Finder)
