"""The cost of a request in Open-Meteo's count of calls, computed beforehand.

A place counts as one call, or as more where it asks for more than 10 variables or 14 days. Source: the limits that
open-meteo.com/en/pricing states, and how its server counts.
"""

from collections.abc import Sequence
from typing import TypeVar

from ingestion.feeds.base import FeedProblem

Place = TypeVar("Place")

PER_MINUTE, PER_HOUR, PER_DAY = 600, 5_000, 10_000  # without a key
MAX_PLACES = 1_000  # in one request
MAX_WEIGHT = 5_000.0  # of one request
_FREE_VARIABLES, _FREE_DAYS = 10, 14


def weight_of_place(variables: int, days: int) -> float:
    """Return the cost of one place.

    Args:
        variables: number of variables, times the models and members of each.
        days: number of days requested.
    """
    share = variables / _FREE_VARIABLES
    return max(1.0, share, share * days / _FREE_DAYS)


def in_requests(places: Sequence[Place], weight: float, keyless: bool) -> list[Sequence[Place]]:
    """Split places into groups for one request each.

    Args:
        weight: cost of one place.
        keyless: whether the limits without a key apply. The service checks before it counts, so a heavy request would
            pass and block those after it.

    Raises:
        FeedProblem: they cost more than the service allows in an hour without a key.
    """
    total = weight * len(places)
    if keyless and total > PER_HOUR:
        raise FeedProblem(
            f"The fetch weighs {total:.0f} calls by Open-Meteo's count, and without a key it gives {PER_HOUR} an hour "
            f"({PER_DAY} a day): name at most {int(PER_HOUR // weight)} basins, ask for fewer days, or set "
            "FRESHET_OPEN_METEO_KEY."
        )
    size = max(1, min(MAX_PLACES, int((PER_MINUTE if keyless else MAX_WEIGHT) // weight)))
    return [places[start : start + size] for start in range(0, len(places), size)]
