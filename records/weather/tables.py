"""Weather forecasts, feeds, and bridges between products."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from hydrology.base.calendar import Day
from hydrology.weather.bridge import Corrections, Skill
from records.database.base import Base, Document, FreeText, JsonList, JsonObject, Long, one_of


class BridgeRow(Base):
    """A fit of a bridge. Another fit with the same name is another row."""

    __tablename__ = "bridges"
    __table_args__ = (
        CheckConstraint("first <= last", name="order"),
        CheckConstraint("from_product <> to_product", name="products"),
        Index(None, "name", "id"),
        Index(None, "model"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    from_product: Mapped[str]
    to_product: Mapped[str]
    model: Mapped[str | None]
    first: Mapped[Day | None]
    last: Mapped[Day | None]
    refused: Mapped[JsonObject]
    code_version: Mapped[str]
    created_at: Mapped[datetime]


class BridgeBasinRow(Base):
    """A fit's result for a basin: its own, or the median of similar basins."""

    __tablename__ = "bridge_basins"
    __table_args__ = (
        CheckConstraint("(skill IS NULL) = (pooled_reason IS NOT NULL)", name="pooled"),
        CheckConstraint("length(sha256) = 64", name="sha256"),
        Index(None, "basin_id"),
    )

    bridge_id: Mapped[str] = mapped_column(ForeignKey("bridges.id"), primary_key=True)
    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"), primary_key=True)
    corrections: Mapped[Corrections] = mapped_column(Document(Corrections))
    skill: Mapped[Skill | None] = mapped_column(Document(Skill))
    pooled_from: Mapped[JsonList]
    pooled_reason: Mapped[str | None]
    sha256: Mapped[str]
    applied_at: Mapped[datetime | None]
    applied_stamp: Mapped[int | None] = mapped_column(Long)


class FeedRow(Base):
    """A feed, and how its last fetch ended."""

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
    # The API key that created it; null for the command line. Not a foreign key: keys are revoked, never deleted.
    created_by: Mapped[FreeText | None]
    created_at: Mapped[datetime]
    last_fetch_at: Mapped[datetime | None]
    last_success_at: Mapped[datetime | None]
    last_error: Mapped[str | None]
    last_error_at: Mapped[datetime | None]


class FeedBasinRow(Base):
    """The result of a feed's last fetch for a basin."""

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
    holes: Mapped[JsonList]
    warnings: Mapped[JsonList]
    # The first day that was asked for, YYYY-MM-DD, of a record whose source states its begin.
    record_since: Mapped[str | None]


class CreditRow(Base):
    """The credit of a product. It outlives the feed that brought the data."""

    __tablename__ = "product_credits"

    product: Mapped[str] = mapped_column(primary_key=True)
    origin: Mapped[str]
    credit: Mapped[str]
    licence: Mapped[str]


class WeatherIssueRow(Base):
    """A weather forecast that a source issued, for any basins."""

    __tablename__ = "weather_issues"
    __table_args__ = (UniqueConstraint("source", "model", "reference_time", "operational"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    source: Mapped[str]
    model: Mapped[str]
    reference_time: Mapped[datetime]
    operational: Mapped[bool]
    licence: Mapped[str | None]
    credit: Mapped[str | None]
    created_at: Mapped[datetime]


class WeatherBasinRow(Base):
    """A weather forecast's traces for one basin: float32, little-endian, row-major over variables, traces and days."""

    __tablename__ = "weather_basins"
    __table_args__ = (CheckConstraint("last >= first", name="days"), Index(None, "basin_id", "first"))

    issue_id: Mapped[str] = mapped_column(ForeignKey("weather_issues.id"), primary_key=True)
    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"), primary_key=True)
    available_time: Mapped[datetime]
    first: Mapped[Day]
    last: Mapped[Day]
    traces: Mapped[JsonList]
    variables: Mapped[JsonList]
    content: Mapped[bytes]
    sha256: Mapped[str]
