"""Selects the basins of an answer about many."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Depends, Query
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError
from sqlalchemy.orm import Session

from app.basins.queries import BoundingBox, Huc, corners
from app.forecasts.batch import MAX_BASINS
from app.http.dependencies import AsKnown, OptionalInstant, Reading
from app.http.problems import refused
from jobspec.fields import BASIN, full_id
from records.basins import basins as records
from records.forecasts.latest import updated_since as updated


def _basins(text: str) -> str:
    basins = list(dict.fromkeys(full_id(part.strip()) for part in text.split(",")))
    if len(basins) > MAX_BASINS:
        detail = f"{len(basins)} basins, and one answer holds at most {MAX_BASINS}: ask for a part at a time"
        raise PydanticCustomError("basins", "{detail}", {"detail": detail})
    return ",".join(basins)


Basins = Annotated[
    str | None,
    AfterValidator(lambda text: None if text is None else _basins(text)),
    Query(
        description=f"The basins, at most {MAX_BASINS}, with commas between; by default all, or those selected by "
        "`huc` and `bbox`.",
        examples=["01013500,01022500"],
        max_length=10_000,
        json_schema_extra={"pattern": f"^{BASIN}( *, *{BASIN}){{0,{MAX_BASINS - 1}}}$"},
    ),
]
UpdatedSince = Annotated[
    OptionalInstant,
    Query(
        description="Only basins whose latest forecast became available after this instant (RFC 3339, with its "
        "offset), or comes from a model version that was promoted after it.",
        examples=["2008-04-21T06:00:00Z"],
    ),
]


def _selected(
    session: Reading,
    at: AsKnown,
    basins: Basins = None,
    huc: Huc = None,
    bbox: BoundingBox = None,
    updated_since: UpdatedSince = None,
) -> Sequence[str]:
    """Return the named basins, those in a hydrologic unit or box, or all; of them those with a new forecast.

    Raises:
        InvalidRequest: basins are both named and chosen by place, or exceed one answer's limit.
    """
    if basins is not None:
        if huc is not None or bbox is not None:
            raise refused("basins", "either name basins, or choose them by huc and bbox: leave one of the two out.")
        asked: Sequence[str] = basins.split(",")
    else:
        asked = _placed(session, huc, bbox)
    return asked if updated_since is None else updated(session, asked, updated_since, at)


def _placed(session: Session, huc: str | None, bbox: str | None) -> Sequence[str]:
    chosen = records.chosen(session, huc=huc, box=None if bbox is None else corners(bbox))
    if len(chosen) > MAX_BASINS:
        detail = f"these are {len(chosen)} basins, and one answer holds at most {MAX_BASINS}"
        raise refused("basins", f"{detail}: choose a part of them by huc or bbox, or name them.")
    return chosen


SelectedBasins = Annotated[Sequence[str], Depends(_selected)]
