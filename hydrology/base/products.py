"""Names of products, the origins of series, such as `maurer_extended` or `own`."""

import re

from hydrology.base.errors import InvalidInput

ARCHIVED = ("daymet", "era5_land", "maurer", "maurer_extended", "nldas", "synthetic")
"""Products of published archives: other data are never stored under these names."""
PATTERN = "[a-z][a-z0-9_]{0,39}"


def own_product(name: str) -> str:
    """Check and return a name for weather that is not from a published archive.

    Raises:
        InvalidInput: the name cannot be used.
    """
    if not re.fullmatch(PATTERN, name) or name in ARCHIVED:
        raise InvalidInput(
            f"{name[:64]!r} cannot name your product: use up to 40 small letters, digits and _, and none of "
            f"{', '.join(ARCHIVED)}."
        )
    return name
