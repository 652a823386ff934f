"""Names of products, the origins of series, such as `maurer_extended` or `own`."""

import re
from collections.abc import Sequence
from itertools import combinations

from hydrology.base.errors import InvalidInput

ARCHIVED = ("daymet", "era5_land", "maurer", "maurer_extended", "nldas", "synthetic")
"""Products of published archives: other data are never stored under these names."""
PATTERN = "[a-z][a-z0-9_]{0,39}"
JOINT = "+"
"""Joins the products of a version, or run, that takes several: the one of the largest weight comes first."""
MAX_PARTS = 10
"""Of the versions that one combines."""


def leading(product: str) -> str:
    """Return the first of joined products: that of the largest weight."""
    return product.split(JOINT, maxsplit=1)[0]


def subsets(products: Sequence[str]) -> list[tuple[str, ...]]:
    """Return every set of products that holds some of them, but not all, each in their order."""
    return [chosen for count in range(1, len(products)) for chosen in combinations(products, count)]


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
