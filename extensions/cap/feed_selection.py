"""Which changes of alerts a feed has."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends, Query

from app.basins.queries import InRegion
from app.forecasts.lookup import MAX_BASINS, Basins
from app.http.dependencies import Reading
from hydrology.alerts import SEVERITIES, Severity
from records.basins import basins as records

FEED = "/v1/alerts/feed"
CAP_INDEX = "/v1/alerts/cap"
_MAX_TEXT = 10_000


@dataclass(frozen=True, slots=True)
class FeedSelection:
    """The selected changes, None for all basins: of alerts that reach or had reached `minimum`, or of whole basins."""

    basins: Sequence[str] | None
    region: str | None
    minimum: Severity


def feed_address(basins: Sequence[str] | None, region: str | None, minimum: Severity, path: str = FEED) -> str | None:
    """Return the address of the feed of a selection, which is a subscription's; None for more basins than it takes."""
    named = ",".join(basins or ())
    if len(basins or ()) > MAX_BASINS or len(named) > _MAX_TEXT:
        return None
    asked = {"basins": named, "region": region, "least_severity": "" if minimum == SEVERITIES[0] else minimum}
    query = urlencode({name: text for name, text in asked.items() if text}, safe=",")
    return f"{path}?{query}" if query else path


def _selected(
    session: Reading,
    region: InRegion,
    basins: Basins = None,
    least_severity: Annotated[
        Severity, Query(description="Only changes of alerts that reach, or had reached, this severity.")
    ] = SEVERITIES[0],
) -> FeedSelection:
    names = None if basins is None else basins.split(",")
    for unknown in records.unknown(session, names or ()).values():
        raise unknown
    return FeedSelection(names, region, least_severity)


SelectedChanges = Annotated[FeedSelection, Depends(_selected)]
