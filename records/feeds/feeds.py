"""Feeds: the service that each one asks, its basins, the results, and the credits of products."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import field
from datetime import datetime
from typing import Annotated, Literal, TypedDict, get_args

from sqlalchemy import CheckConstraint, Column, ForeignKey, String, Table, UniqueConstraint, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from hydrology.base.basins import has_source
from hydrology.base.doc import Doc
from hydrology.base.errors import InvalidInput, NotFound
from hydrology.base.products import Credit
from jobspec.feed_kinds import NewFeed, kind_of, read_settings
from jobspec.feeds import FeedSettings, FilesSettings
from records.access import keys
from records.basins import basins
from records.database.base import Base, FreeText, JsonList, JsonObject
from records.database.checksums import new_id
from records.database.stored import (
    add_all,
    as_record,
    as_values,
    find_or_raise,
    insert_into,
    narrowed,
    read,
    stored,
    table_of,
    upsert,
)
from records.series import series

_CREDITS = Table(
    "product_credits",
    Base.metadata,
    Column("product", String, primary_key=True),
    *(Column(name, String, nullable=False) for name in ("origin", "credit", "licence")),
)
"""They outlive the feed that brought the data."""


class ProductConflict(InvalidInput):
    """The product holds data from elsewhere."""

    status = 409
    remedy = "Choose another name for the product: data of different sources stay separate."


def store_credit(session: Session, product: str, origin: str, credit: Credit) -> None:
    """Store the credit of a product, unless it has another origin. Repeating it writes nothing."""
    stored = origin_of(session, product)
    if stored is None:
        row = {"product": product, "origin": origin, "credit": credit.credit, "licence": credit.licence}
        add_all(session, _CREDITS, [row], if_new=True)
        stored = origin_of(session, product)  # another may have been faster
    if stored != origin:
        raise product_conflict(product, f"holds data from {stored}")


def origin_of(session: Session, product: str) -> str | None:
    return session.scalar(select(_CREDITS.c.origin).where(_CREDITS.c.product == product))


def credits_of(session: Session, products: Iterable[str]) -> dict[str, Credit]:
    of_products = select(_CREDITS).where(_CREDITS.c.product.in_(list(products)))
    rows = session.execute(of_products.order_by(_CREDITS.c.product))
    return {row.product: Credit(row.credit, row.licence) for row in rows}


def product_conflict(product: str, cause: str) -> ProductConflict:
    return ProductConflict(f"The product {product} {cause}: choose another name, so that the two stay separate.")


BasinStatus = Literal["new", "revised", "unchanged", "failed"]


class Hole(TypedDict):
    """Days inside a basin's record that have no value of some variables: the first and the last, as YYYY-MM-DD."""

    first: str
    last: str
    variables: list[str]


class UnknownFeed(NotFound):
    """No feed with this name is stored."""


class FeedConflict(InvalidInput):
    """Another feed has the name."""

    status = 409
    remedy = "Choose another name, or remove the feed that has it."


@stored(
    "feeds", UniqueConstraint("name"), CheckConstraint("(last_error IS NULL) = (last_error_at IS NULL)", name="error")
)
class Feed:
    """A stored feed, and how its last fetch ended.

    Attributes:
        settings: the given fields, without defaults.
        product: the product of its weather; None for discharge, which is stored under its gauge's product, and for
            forecasts.
        origin: identifies the source of its data.
        created_by: the key that created it; None for the command line.
        last_success_at: its last fetch without a failed basin, by the service's clock.
        last_error: why it last failed, entirely or for some basin.
    """

    id: str
    name: str
    settings: JsonObject
    product: str | None
    origin: str
    # Not a foreign key: keys are revoked, never deleted.
    created_by: FreeText | None
    created_at: datetime
    last_fetch_at: datetime | None
    last_success_at: datetime | None
    last_error: str | None
    last_error_at: datetime | None

    @property
    def adapter(self) -> str:
        return str(self.settings["adapter"])

    def read(self) -> FeedSettings:
        """Return its settings, with defaults.

        InvalidRequest: a newer Freshet wrote them. MissingFeedKind: the extension of its kind is not loaded.
        """
        kind_of(self.adapter)
        return read_settings(self.settings)


@stored(
    "feed_basins",
    Column("feed_id", String, ForeignKey("feeds.id"), nullable=False),
    CheckConstraint("status <> 'failed' OR reason IS NOT NULL", name="reason"),
    key=("feed_id", "basin_id"),
)
class FetchedBasin:
    """The result of a feed's last fetch for a basin.

    Attributes:
        holes: the newest spans of days inside its record without a value.
        record_since: the first day (YYYY-MM-DD) that was ever asked for of the record that its source states to have;
            None where it states none.
    """

    basin_id: Annotated[str, ForeignKey("basins.id")]
    status: BasinStatus
    new_days: Annotated[int, Doc("Number of new days of any variable; for a weather forecast, its days.")] = 0
    revised_days: Annotated[
        int, Doc("Number of days whose value or flag was replaced. A log retains the old ones.")
    ] = 0
    reason: Annotated[str | None, Doc("Why it failed, or why there were no data; null otherwise.")] = None
    tried_at: Annotated[datetime, Doc("Time of the last fetch, by the service's clock.")]
    fetched_at: Annotated[
        datetime | None,
        Doc(
            "Time of the last successful fetch of the usual days, or else of the first of other days; null if there "
            "was none."
        ),
    ]
    holes: JsonList = field(default_factory=list)
    warnings: JsonList = field(default_factory=list)
    record_since: str | None = None


FEEDS, _BASINS = table_of(Feed), table_of(FetchedBasin)


def create(session: Session, new: NewFeed, created_by: str | None, at: datetime) -> Feed:
    """Store a new feed. Its name and product must be free, and its basins the key's."""
    settings = new.settings
    product = getattr(settings, "product", None)
    if product is not None:
        _require_own(session, product, settings)
    row = {
        "id": new_id(at),
        "name": new.name,
        "settings": settings.model_dump(mode="json", by_alias=True, exclude_unset=True),
        "product": product,
        "origin": settings.origin,
        "created_by": created_by,
        "created_at": at,
    }
    insert = insert_into(session, Feed).on_conflict_do_nothing(index_elements=["name"])
    inserted = session.execute(insert.values(row).returning(*FEEDS.c)).one_or_none()
    if inserted is None:
        raise FeedConflict(f"A feed named {new.name} exists already: choose another name, or remove that feed.")
    feed = as_record(Feed, inserted)
    targets(session, feed)
    return feed


def get(session: Session, name: str) -> Feed:
    unknown = UnknownFeed(f"No feed {name[:64]!r} is stored here: list the feeds to see their names.")
    return find_or_raise(session, Feed, unknown, name=name)


def list_feeds(session: Session) -> list[Feed]:
    return read(session, Feed, select(FEEDS).order_by(FEEDS.c.name))


def remove(session: Session, feed: Feed) -> None:
    """Delete a feed. Its data stay, with their credit."""
    session.execute(_BASINS.delete().where(_BASINS.c.feed_id == feed.id))
    session.execute(FEEDS.delete().where(FEEDS.c.id == feed.id))


def basins_of(session: Session, feed: Feed, names: Collection[str] | None = None) -> list[FetchedBasin]:
    """Return the outcomes of a feed's last fetch for all basins, or for some."""
    query = select(_BASINS).where(_BASINS.c.feed_id == feed.id).order_by(_BASINS.c.basin_id)
    return read(session, FetchedBasin, narrowed(query, (_BASINS.c.basin_id.in_, names)))


def holes_of_basin(session: Session, basin: str) -> dict[str, list[Hole]]:
    """Return the holes in a basin's record by the name of the feed that can be asked for them."""
    joined = FEEDS.join(_BASINS, _BASINS.c.feed_id == FEEDS.c.id)
    found = select(FEEDS.c.name, _BASINS.c.holes).select_from(joined).where(_BASINS.c.basin_id == basin)
    return {name: holes for name, holes in session.execute(found.order_by(FEEDS.c.name)) if holes}


def last_fetched(session: Session) -> dict[str, datetime]:
    """Return when each feed was last fetched for any basin, by its id; those never fetched are left out."""
    newest = select(_BASINS.c.feed_id, func.max(_BASINS.c.fetched_at)).where(_BASINS.c.fetched_at.is_not(None))
    return dict(session.execute(newest.group_by(_BASINS.c.feed_id)).all())


def failed_forecasts(
    session: Session, names: Collection[str], source: str, model: str, since: datetime
) -> dict[str, str]:
    """Return why some basins lack newer forecasts of a weather model; fetches count from an instant on."""
    found: dict[str, str] = {}
    for feed in list_feeds(session):
        if feed.product is None and feed.adapter.startswith(source) and feed.settings.get("model") == model:
            rows = _BASINS.c
            query = select(rows.basin_id, rows.reason).where(rows.feed_id == feed.id, rows.basin_id.in_(names))
            found |= dict(session.execute(query.where(rows.status == "failed", rows.tried_at >= since)).all())
    return found


def targets(session: Session, feed: Feed) -> list[str]:
    """Return the basins of a feed: those it names, or all that it may write and its service may know.

    The feed of an operator's key writes the basins that the key registered. That of an admin's key writes every basin,
    but files write no gauge with a published source. The command line writes everything. Others that it names are
    refused.
    """
    shown = feed.read()
    saved = basins.chosen(session)
    if feed.created_by is not None:
        if not keys.is_official(session, feed.created_by):
            saved = basins.registered_with(session, feed.created_by)
        if isinstance(shown, FilesSettings):
            saved = [basin for basin in saved if not has_source(basin)]
    if others := sorted(set(shown.basins) - set(saved)):
        raise InvalidInput(
            f"{', '.join(others[:10])}: not stored here, or not writable by the feed {feed.name}: ingest or register "
            "them first with the feed's key, or leave them out."
        )
    if shown.namespace is not None:
        saved = [basin for basin in saved if basin.startswith(f"{shown.namespace}-")]
    return shown.basins or saved


def note_basins(session: Session, feed: Feed, fetched: Iterable[FetchedBasin]) -> None:
    """Store basins' fetch results, in the transaction that stores their data. UnknownFeed: the feed was removed
    meanwhile; let the transaction roll back."""
    try:
        upsert(session, FetchedBasin, [as_values(one) | {"feed_id": feed.id} for one in fetched])
    except IntegrityError:
        raise UnknownFeed(f"The feed {feed.name} was removed during its fetch: nothing more is stored of it.") from None


def note_fetch(session: Session, feed: Feed, at: datetime, error: str | None) -> None:
    """Store the end of a fetch, with why it failed, if it did, also for some basin."""
    ended = {"last_success_at": at} if error is None else {"last_error": error, "last_error_at": at}
    session.execute(FEEDS.update().where(FEEDS.c.id == feed.id).values(last_fetch_at=at, **ended))


def of_product(session: Session, product: str) -> Feed | None:
    return next((feed for feed in list_feeds(session) if feed.product == product), None)


def require_free_product(session: Session, product: str) -> None:
    """Refuse a product that a feed of the service fills, for an operator's data."""
    for feed in list_feeds(session):
        if (feed.product or feed.origin) == product and keys.is_official(session, feed.created_by):
            raise product_conflict(product, f"is filled by the feed {feed.name}, and takes no uploads")


def fetch_command(feed: str, basin: str, first: object, last: object) -> str:
    return f"freshet feeds fetch {feed} --basin {basin} --period {first}..{last}"


def _require_own(session: Session, product: str, settings: FeedSettings) -> None:
    saved = origin_of(session, product)
    others = {feed.origin: feed.name for feed in list_feeds(session) if feed.product == product}
    if saved is not None and saved != settings.origin:
        raise product_conflict(product, f"holds data from {saved}")
    if filled := {name for origin, name in others.items() if origin != settings.origin}:
        raise product_conflict(product, f"is filled by the feed {min(filled)}")
    if saved is None and not others and settings.adapter != "files" and product in series.products(session):
        raise product_conflict(product, "holds ingested or uploaded data")


def statuses(fetched: Sequence[FetchedBasin]) -> dict[str, int]:
    counts = Counter(one.status for one in fetched)
    return {status: counts[status] for status in get_args(BasinStatus) if counts[status]}
