"""Products of weather that are the mean of others. Their parts never change."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from sqlalchemy import select
from sqlalchemy.orm import Session

from hydrology.base.doc import Doc
from records.database.stored import add_all, as_values, find, read, stored, table_of
from records.feeds import feeds
from records.series import series


@stored("fused_products", key=("product",))
class FusedProduct:
    """A product of weather that is the mean of others, day by day."""

    product: Annotated[str, Doc("Its name.")]
    parts: Annotated[tuple[str, ...], Doc("The products that it is the mean of; the first gives the area.")]
    created_at: Annotated[datetime, Doc("When it was defined.")]


_FUSED = table_of(FusedProduct)


def define(session: Session, product: str, parts: Sequence[str], at: datetime) -> FusedProduct:
    """Store the parts of a product, once; a name that holds other data, or has other parts, is refused."""
    known = find(session, FusedProduct, product=product)
    if known is not None and known.parts == tuple(parts):
        return known
    if known is not None:
        raise feeds.product_conflict(product, f"is the mean of {' and '.join(known.parts)}")
    if product in series.products(session):
        raise feeds.product_conflict(product, "holds data of another origin")
    if nested := next((part for part in parts if find(session, FusedProduct, product=part)), None):
        raise feeds.product_conflict(nested, "is itself a mean of others: name its parts")
    new = FusedProduct(product=product, parts=tuple(parts), created_at=at)
    add_all(session, FusedProduct, [as_values(new)])
    return new


def list_fused(session: Session) -> list[FusedProduct]:
    return read(session, FusedProduct, select(_FUSED).order_by(_FUSED.c.product))
