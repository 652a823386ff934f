"""The release of Freshet that runs."""

from functools import cache
from importlib import metadata

DISTRIBUTION = "freshet-forecast"
"""The name in pyproject.toml; `freshet` is the name of another project's distribution."""


@cache
def code_version() -> str:
    """Return the version of Freshet that is installed."""
    return metadata.version(DISTRIBUTION)
