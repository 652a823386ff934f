"""Stores and removes regions."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from sqlalchemy import select
from sqlalchemy.orm import Session

from hydrology.base.errors import InvalidInput, counted
from jobspec.fields import RequestModel, examples, form
from jobspec.subscriptions import SomeBasins
from records.access import keys
from records.access.keys import KEYS
from records.alerts.subscriptions import SUBSCRIPTIONS
from records.basins import regions
from records.basins.regions import REGIONS, Region
from records.database.stored import as_values, upsert

_RULES = ("huc", "agency", "basins")
Limit = Annotated[int | None, Field(ge=0, le=1_000_000)]


class RegionInUse(InvalidInput):
    """Keys or subscriptions are of the region."""

    status = 409
    remedy = "Revoke the keys (`freshet keys revoke`), and remove the subscriptions or change their region."


class NewRegion(RequestModel):
    """A region to be stored: its rule, which is one of `huc`, `agency` and `basins`, and its limits."""

    model_config = examples({"huc": "17", "unfinished_jobs": 200}, {"agency": "CAWR"}, {"basins": ["USGS-13235000"]})

    huc: str | None = Field(
        None,
        pattern=form("^[0-9]{1,12}$", "1 to 12 digits, such as 0101"),
        description="What the hydrologic unit codes of its basins begin with.",
    )
    agency: str | None = Field(
        None,
        pattern=form("^[A-Z][A-Z0-9]{1,15}$", "what identifiers have before the hyphen, such as USGS"),
        description="What its basins' identifiers have before the hyphen.",
    )
    basins: SomeBasins | None = Field(None, description="Its basins. They need not be stored yet.")
    unfinished_jobs: Limit = Field(None, description="Limit of unfinished jobs of its keys together; null: none.")
    subscriptions: Limit = Field(None, description="Limit of subscriptions of its keys together; null: none.")

    @model_validator(mode="after")
    def _by_one_rule(self) -> Self:
        if sum(getattr(self, rule) is not None for rule in _RULES) != 1:
            raise PydanticCustomError("rule", "a region has its basins by one rule: give huc, agency or basins")
        return self


def put(session: Session, name: str, new: NewRegion) -> Region:
    """Store a region, in the place of the one that has its name."""
    region = Region(id=name, **new.model_dump())
    upsert(session, Region, [as_values(region)])
    return region


def remove(session: Session, name: str, at: datetime) -> None:
    """Remove a region. RegionInUse: a key that is valid at an instant, or a subscription, is of it."""
    regions.get(session, name)
    holders: Sequence[str] = session.scalars(select(KEYS.c.name).where(KEYS.c.region == name, keys.valid(at))).all()
    receivers = session.scalars(select(SUBSCRIPTIONS.c.id).where(SUBSCRIPTIONS.c.region == name)).all()
    if holders or receivers:
        of_keys = f" ({', '.join(sorted(holders)[:5])}{' and others' if holders[5:] else ''})" if holders else ""
        subscribed = counted(len(receivers), "subscription")
        raise RegionInUse(
            f"The region {name} has {counted(len(holders), 'key')}{of_keys} and {subscribed}: revoke the keys, and "
            "remove the subscriptions or change their region, first."
        )
    session.execute(REGIONS.delete().where(REGIONS.c.id == name))
