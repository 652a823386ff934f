"""What a command's module imports of the floors above the records is executed when it is first used.

A module of commands names the modules of all its commands at its head, and each command uses few of them.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import LazyLoader
from types import ModuleType

FLOORS = ("app", "ingestion", "models", "operations", "starlette", "workers")
"""Also what the endpoints' functions take."""


class _Finder:
    """Finds modules of `FLOORS`; a package is executed at once."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, _target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path) if path and name.partition(".")[0] in FLOORS else None
        if spec is None or spec.origin is None or spec.submodule_search_locations is not None:
            return None
        spec.loader = LazyLoader(_Loader(name, spec.origin))
        return spec


class _Loader(SourceFileLoader):
    """Executes a module, and at once what that imports: it may be used first by several threads."""

    def exec_module(self, module: ModuleType) -> None:
        found = [*sys.meta_path]
        sys.meta_path[:] = [finder for finder in found if finder is not _Finder]
        try:
            super().exec_module(module)
        finally:
            sys.meta_path[:] = found


@contextmanager
def executed_when_used() -> Iterator[None]:
    """Import modules of `FLOORS` without executing them before one of their names is used."""
    sys.meta_path.insert(0, _Finder)
    try:
        yield
    finally:
        sys.meta_path.remove(_Finder)
