"""Text files that commands read: lists of basins, rating tables, thresholds, templates."""

from pathlib import Path

from hydrology.base.errors import InvalidInput
from hydrology.ratings.files import MAX_CHARACTERS


def listed(file: Path | None) -> list[str]:
    """Return the basins that a file lists, one on each line; none without a file.

    Raises:
        InvalidInput: it cannot be read, is too long, or lists none.
    """
    if file is None:
        return []
    names = [line.strip() for line in read_text(file).splitlines() if line.strip()]
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
