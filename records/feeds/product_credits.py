"""Credits of products: stored with the first data, for every answer that uses them."""

from collections.abc import Iterable

from sqlalchemy import Column, String, Table, select
from sqlalchemy.orm import Session

from hydrology.base.errors import InvalidInput
from hydrology.base.products import Credit
from records.database.base import Base
from records.database.statements import insert_into

_CREDITS = Table(
    "product_credits",
    Base.metadata,
    Column("product", String, primary_key=True),
    *(Column(name, String, nullable=False) for name in ("origin", "credit", "licence")),
)
"""They outlive the feed that brought the data."""


class ProductConflict(InvalidInput):
    """The product holds data from elsewhere."""

    kind = "product-conflict"
    status = 409
    remedy = "Choose another name for the product: data of different sources stay separate."


def store(session: Session, product: str, origin: str, credit: Credit) -> None:
    """Store the credit of a product, unless it has another origin. Repeating it writes nothing."""
    stored = origin_of(session, product)
    if stored is None:
        row = {"product": product, "origin": origin, "credit": credit.credit, "licence": credit.licence}
        session.execute(insert_into(session, _CREDITS).values(row).on_conflict_do_nothing())
        stored = origin_of(session, product)  # another may have been faster
    if stored != origin:
        raise conflict(product, f"holds data from {stored}")


def origin_of(session: Session, product: str) -> str | None:
    """Return the origin of a product's data. None if they are not from a feed."""
    return session.scalar(select(_CREDITS.c.origin).where(_CREDITS.c.product == product))


def by_product(session: Session, products: Iterable[str]) -> dict[str, Credit]:
    """Return the credits of products that are from feeds."""
    of_products = select(_CREDITS).where(_CREDITS.c.product.in_(list(products)))
    rows = session.execute(of_products.order_by(_CREDITS.c.product))
    return {row.product: Credit(row.credit, row.licence) for row in rows}


def conflict(product: str, cause: str) -> ProductConflict:
    return ProductConflict(f"The product {product} {cause}: choose another name, so that the two stay separate.")
