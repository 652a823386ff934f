"""Feeds, what came of each basin when it was last fetched, and whose the data of a product are."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from records.tables.base import Base, JsonList, JsonObject, one_of


class FeedRow(Base):
    """A feed and how its last fetch ended."""

    __tablename__ = "feeds"
    __table_args__ = (
        UniqueConstraint("name"),
        CheckConstraint("(last_error IS NULL) = (last_error_at IS NULL)", name="error"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    settings: Mapped[JsonObject]
    product: Mapped[str | None]
    origin: Mapped[str]
    # The API key that made it; null for the command line. Not a foreign key: keys are revoked, never deleted.
    made_by: Mapped[str | None]
    created_at: Mapped[datetime]
    last_fetch_at: Mapped[datetime | None]
    last_success_at: Mapped[datetime | None]
    last_error: Mapped[str | None]
    last_error_at: Mapped[datetime | None]


class FeedBasinRow(Base):
    """What came of a basin when a feed was last fetched."""

    __tablename__ = "feed_basins"
    __table_args__ = (
        one_of("status", "new", "revised", "unchanged", "failed"),
        CheckConstraint("status <> 'failed' OR reason IS NOT NULL", name="reason"),
    )

    feed_id: Mapped[str] = mapped_column(ForeignKey("feeds.id"), primary_key=True)
    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"), primary_key=True)
    status: Mapped[str]
    new_days: Mapped[int]
    revised_days: Mapped[int]
    reason: Mapped[str | None]
    tried_at: Mapped[datetime]
    # When it last did not fail, by the service's clock.
    fetched_at: Mapped[datetime | None]
    # Spans of days without a value inside the record, and what is doubtful in what came.
    holes: Mapped[JsonList] = mapped_column(server_default="[]")
    warnings: Mapped[JsonList] = mapped_column(server_default="[]")


class CreditRow(Base):
    """Whose the data of a product are. It outlives the feed that brought them."""

    __tablename__ = "product_credits"

    product: Mapped[str] = mapped_column(primary_key=True)
    origin: Mapped[str]
    credit: Mapped[str]
    licence: Mapped[str]
