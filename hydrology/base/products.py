"""Names of products: where series come from, as `maurer_extended` or `own`."""

import re

from hydrology.base.errors import InvalidInput

ARCHIVED = ("daymet", "era5_land", "maurer", "maurer_extended", "nldas", "synthetic")
"""Those of published archives: what comes otherwise is never kept under their names."""
PATTERN = "[a-z][a-z0-9_]{0,39}"


def own_product(name: str) -> str:
    """Return a name under which weather may be kept that is not of a published archive.

    Raises:
        InvalidInput: it is no such name.
    """
    if not re.fullmatch(PATTERN, name) or name in ARCHIVED:
        raise InvalidInput(
            f"{name[:64]!r} cannot name your product: use up to 40 small letters, digits and _, and none of "
            f"{', '.join(ARCHIVED)}."
        )
    return name
