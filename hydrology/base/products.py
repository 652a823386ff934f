"""Products, the origins of series (`maurer_extended`, `own`), and the daily quantities of user data and feeds."""

import re
from collections.abc import Iterable, Mapping, Sequence
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


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity of a series: its name, stored unit and possible range.

    The ranges are wide: they only prevent that a sentinel (-999) or another unit (kelvin) is taken for weather.
    """

    variable: str
    unit: str
    lowest: float
    highest: float

    @property
    def column(self) -> str:
        """The name of its column in a table: variable and unit, e.g. `precipitation_mm_per_day`."""
        return f"{self.variable}_{self.unit.replace('/', '_per_')}"


DISCHARGE = "discharge"

WEATHER: Mapping[str, Quantity] = {
    quantity.variable: quantity
    for quantity in (
        Quantity("precipitation", "mm/day", 0, 2_000),
        Quantity("tmax", "degC", -100, 70),
        Quantity("tmin", "degC", -100, 70),
        Quantity("tmean", "degC", -100, 70),
        Quantity("srad", "W/m2", 0, 1_500),
        Quantity("vp", "Pa", 0, 10_000),
        Quantity("daylength", "s", 0, 86_400),
        Quantity("pet", "mm/day", -100, 1_000),
    )
}
"""Quantities of weather forecasts, by variable."""
IN_DEGREES = tuple(name for name, quantity in WEATHER.items() if quantity.unit == "degC")

OBSERVED = (
    *WEATHER.values(),
    Quantity("swe", "mm", 0, 20_000),
    Quantity(DISCHARGE, "m3/s", 0, 1e6),
    Quantity(DISCHARGE, "cfs", 0, 4e7),
    Quantity(DISCHARGE, "mm/day", 0, 10_000),
)
"""Observable quantities, with discharge in any of its units."""
