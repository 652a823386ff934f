"""Whose the data of a product are: kept with the first of them, for every answer that rests on them."""

from collections.abc import Iterable

from sqlalchemy import select
from sqlalchemy.orm import Session

from hydrology.base.credit import Credit
from hydrology.base.errors import InvalidInput
from records.database.statements import insert_into
from records.weather.tables import CreditRow


class ProductConflict(InvalidInput):
    """The product holds what came from elsewhere."""

    kind = "product-conflict"
    status = 409
    remedy = "Choose another name for the product: what one source brought stays its own."


def store(session: Session, product: str, origin: str, credit: Credit) -> None:
    """Keep whose a product is. The same again writes nothing.

    Args:
        origin: what tells its data from those of other feeds.

    Raises:
        ProductConflict: it is of another origin.
    """
    row = {"product": product, "origin": origin, "credit": credit.credit, "licence": credit.licence}
    session.execute(insert_into(session, CreditRow).values(row).on_conflict_do_nothing())
    stored = origin_of(session, product)
    if stored != origin:
        raise conflict(product, f"holds what came from {stored}")


def origin_of(session: Session, product: str) -> str | None:
    """Return the origin of a product's data; None where no feed brought any."""
    return session.scalar(select(CreditRow.origin).where(CreditRow.product == product))


def by_product(session: Session, products: Iterable[str]) -> dict[str, Credit]:
    """Return whose products are, by product; those that no feed brought are left out."""
    rows = session.scalars(select(CreditRow).where(CreditRow.product.in_(list(products))).order_by(CreditRow.product))
    return {row.product: Credit(row.credit, row.licence) for row in rows}


def conflict(product: str, cause: str) -> ProductConflict:
    """Return the error of a product that is taken."""
    return ProductConflict(f"The product {product} {cause}: choose another name, so that the two stay apart.")
