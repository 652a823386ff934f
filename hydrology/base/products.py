"""Products, the origins of series, such as `maurer_extended` or `own`: their names, credits and licences."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
    """Check and return a name for weather that is not from a published archive."""
    if not re.fullmatch(PATTERN, name) or name in ARCHIVED:
        raise InvalidInput(
            f"{name[:64]!r} cannot name your product: use up to 40 small letters, digits and _, and none of "
            f"{', '.join(ARCHIVED)}."
        )
    return name


@dataclass(frozen=True, slots=True)
class Credit:
    """Credit (a sentence in the source's own wording) and licence of a data source."""

    credit: str
    licence: str


def credit_of_all(of_sources: Iterable[Credit | None]) -> Credit | None:
    """Return one credit that names every source, each once; None where none has a credit."""
    known = dict.fromkeys(credit for credit in of_sources if credit is not None)
    if not known:
        return None
    licences = dict.fromkeys(credit.licence for credit in known)
    return Credit(" ".join(dict.fromkeys(credit.credit for credit in known)), "; ".join(licences))
