"""A folder of foreign modules under the names of Freshet's, and of Python's own, each of which leaves a trace."""

from pathlib import Path

NAMES = ("app", "hydrology", "jobspec", "models", "operations", "records", "workers", "socket", "pickle")
_LEAVES_A_TRACE = "from pathlib import Path\nPath({trace!r}).touch()\nprint('foreign code')\n"


def foreign_folder(folder: Path, *names: str) -> Path:
    """Make a folder with a package of each name, by default of many."""
    folder.mkdir()
    for name in names or NAMES:
        package = folder / name
        package.mkdir()
        code = _LEAVES_A_TRACE.format(trace=str(folder / f"{name} ran"))
        (package / "__init__.py").write_text(code)
        (package / "__main__.py").write_text(code)
        (package / "child.py").write_text(code)
    return folder


def ran(folder: Path) -> list[str]:
    """Return which of them ran."""
    return sorted(path.name for path in folder.glob("* ran"))
