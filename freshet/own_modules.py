"""Checks that Python finds Freshet's own packages by their names, before any of them is imported.

The names are common ones. A folder or file of such a name in the working folder, on PYTHONPATH or beside a script may
come first; then foreign code would run in place of Freshet's. This module imports nothing but the standard library.
"""

import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

PACKAGES = (
    "app",
    "extensions",
    "freshet",
    "hydrology",
    "ingestion",
    "jobspec",
    "migrations",
    "models",
    "operations",
    "records",
    "runtime",
    "workers",
)
"""The packages that the wheel installs at the top level under common names."""
_CLIENT = "freshet_client"
_ROOT = Path(__file__).resolve().parents[1]
REMEDY = (
    "start Freshet from another folder, take that one out of PYTHONPATH, and install Freshet in an environment of its "
    "own (python -m venv)"
)


class ForeignModuleError(ImportError):
    """Python finds another module under the name of one of Freshet's packages."""


def require_own() -> None:
    """Raise `ForeignModuleError` unless Python finds Freshet's packages by their names."""
    for name in PACKAGES:
        expected, found = _ROOT / name / "__init__.py", _found(find_spec(name))
        if found is None or found.resolve() != expected:
            where = "nothing" if found is None else str(found)
            raise ForeignModuleError(f"Python finds {where} as `{name}`, where Freshet's is {expected}: {REMEDY}.")


def require_own_or_exit() -> None:
    """Exit with an error unless Python finds each of Freshet's packages."""
    try:
        require_own()
    except ForeignModuleError as error:
        sys.exit(f"Error: {error}")


def claimed_by_others(distributions: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a sentence for each package that another distribution of this environment installs too."""
    from runtime.release import DISTRIBUTION

    others = {name: sorted(set(distributions.get(name, ())) - {DISTRIBUTION}) for name in (*PACKAGES, _CLIENT)}
    return [
        f"{', '.join(names)} installs a package `{name}` over Freshet's: install Freshet in an environment of its own"
        for name, names in others.items()
        if names
    ]


def _found(spec: ModuleSpec | None) -> Path | None:
    if spec is None:
        return None
    if spec.has_location and spec.origin is not None:
        return Path(spec.origin)
    return next(map(Path, spec.submodule_search_locations or ()), None)  # a folder without __init__.py
