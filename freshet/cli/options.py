"""Options and arguments that several commands take."""

from pathlib import Path
from typing import Annotated

import typer

from hydrology.base.basins import basin_id
from hydrology.base.errors import InvalidInput

Basin = Annotated[str, typer.Argument(metavar="BASIN", parser=basin_id, help="USGS number or full identifier.")]
OnlyBasins = Annotated[
    list[str] | None,
    typer.Option("--basin", metavar="BASIN", parser=basin_id, help="Only this basin; repeat it for more."),
]
Basins = Annotated[list[str] | None, typer.Option("--basin", metavar="BASIN", help="A basin; repeat it for more.")]
BasinsFile = Annotated[Path | None, typer.Option(metavar="FILE", help="A file with one basin on each line.")]


def listed(file: Path | None) -> list[str]:
    """Return the basins that a file lists, one on each line; none without a file.

    Raises:
        InvalidInput: it cannot be read, or lists none.
    """
    if file is None:
        return []
    try:
        names = [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidInput(f"The list of basins {file} cannot be read ({reason}): give a text file.") from error
    if not names:
        raise InvalidInput(f"The list of basins {file} names none: write one basin on each line, or leave it out.")
    return names
