"""Options and arguments that several commands take."""

from pathlib import Path
from typing import Annotated, Any

import typer

from hydrology.base.basins import basin_id
from hydrology.base.errors import InvalidInput
from hydrology.ratings.files import MAX_CHARACTERS


def option(metavar: str, text: str, *names: str, **limits: Any) -> Any:
    """Return the declaration of an option.

    Args:
        text: its help.
        names: on the command line; by default that of the parameter.
        limits: further arguments of `typer.Option`.
    """
    return typer.Option(*names, metavar=metavar, help=text, **limits)


def flag(name: str, text: str) -> Any:
    """Return the declaration of an option without a value."""
    return typer.Option(name, metavar="", help=text)


def argument(metavar: str, text: str, **limits: Any) -> Any:
    """Return the declaration of an argument; `limits` are further arguments of `typer.Argument`."""
    return typer.Argument(metavar=metavar, help=text, **limits)


Basin = Annotated[str, argument("BASIN", "USGS number or full identifier.", parser=basin_id)]
OnlyBasins = Annotated[
    list[str] | None, option("BASIN", "Only this basin; repeat it for more.", "--basin", parser=basin_id)
]
Basins = Annotated[list[str] | None, option("BASIN", "A basin; repeat it for more.", "--basin")]
BasinsFile = Annotated[Path | None, option("FILE", "A file with one basin on each line.")]


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


def read_text(file: Path) -> str:
    """Return the text of a file of limited size.

    Raises:
        InvalidInput: it cannot be read, or is too long.
    """
    try:
        with file.open(encoding="utf-8") as opened_file:
            text = opened_file.read(MAX_CHARACTERS + 1)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidInput(f"The file {file} cannot be read ({reason}): give a text file.") from error
    if len(text) > MAX_CHARACTERS:
        raise InvalidInput(f"The file {file} has more than {MAX_CHARACTERS} characters: give a shorter one.")
    return text
