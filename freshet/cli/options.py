"""Options and arguments that several commands take."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hydrology.base.basins import basin_id


def option(metavar: str, text: str, *names: str, **limits: Any) -> Any:
    """Return the declaration of an option; `limits` are arguments of `typer.Option`."""
    return typer.Option(*names, metavar=metavar, help=text, **limits)


def flag(name: str, text: str) -> Any:
    """Return the declaration of an option without a value."""
    return typer.Option(name, metavar="", help=text)


def argument(metavar: str, text: str, **limits: Any) -> Any:
    """Return the declaration of an argument; `limits` are further arguments of `typer.Argument`."""
    return typer.Argument(metavar=metavar, help=text, **limits)


Basin = Annotated[str, argument("BASIN", "USGS number or full identifier.", parser=basin_id)]
Version = Annotated[str | None, option("VERSION", "A model version. Default: the basin's current one.")]
Run = Annotated[str | None, option("RUN", "A run. Default: the latest forecast of the basin.")]
Csv = Annotated[bool, flag("--csv", "Print the table as CSV, as the API writes it.")]
OnlyBasins = Annotated[
    list[str] | None, option("BASIN", "Only this basin; repeat it for more.", "--basin", parser=basin_id)
]
Basins = Annotated[list[str] | None, option("BASIN", "A basin; repeat it for more.", "--basin")]
BasinsFile = Annotated[Path | None, option("FILE", "A file with one basin on each line.")]
Adopt = Annotated[
    bool, flag("--adopt", "Adopt an agency's basin that an operator registered; what that operator stated is dropped.")
]
