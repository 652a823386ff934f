"""Changes of alerts as an Atom feed: for people, and as an index of CAP messages.

Source: RFC 4287; pages by RFC 5005, section 3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import NAMESPACE_URL, uuid5
from xml.etree.ElementTree import Element

from extensions.cap import xml
from records.alerts.alert_changes import Change, headline, other_levels

MEDIA_TYPE = "application/atom+xml"
CAP_MEDIA_TYPE = "application/cap+xml"
_NAMESPACE = "http://www.w3.org/2005/Atom"
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Feed:
    """A page of a feed.

    Attributes:
        title: for a reader.
        address: its own, without the service's.
        selection: the address of its first page, which makes its id.
        following: the address of the next page; None after the last.
        base: what goes before every address: the service's own, or nothing.
        of_cap: whether an entry stands for its CAP message instead of the basin's page.
        service: what is of this service alone, for the feed's id.
        sender: the official one; None without one.
        replayed: whether the service replays the past.
    """

    title: str
    address: str
    selection: str
    following: str | None
    base: str
    of_cap: bool
    service: str
    sender: str | None
    replayed: bool


def write(feed: Feed, changes: Sequence[Change], names: Mapping[str, str]) -> bytes:
    """Write a page of changes that head messages, newest first."""
    root = xml.new("feed", _NAMESPACE)
    xml.add(root, "id", _id(f"feed {feed.service} {feed.selection}"))
    xml.add(root, "title", f"{'Exercise: ' if feed.replayed else ''}{feed.title}")
    xml.add(root, "updated", _instant(max((change.at for change in changes), default=_NEVER)))
    xml.add(xml.add(root, "author"), "name", "Freshet")
    xml.add(root, "subtitle", _subtitle(feed, changes))
    xml.add(root, "link", rel="self", type=MEDIA_TYPE, href=feed.base + feed.address)
    if feed.following is not None:
        xml.add(root, "link", rel="next", type=MEDIA_TYPE, href=feed.base + feed.following)
    for change in changes:
        _add_entry(root, feed, change, names[change.basin_id])
    return xml.written(root)


def _subtitle(feed: Feed, changes: Sequence[Change]) -> str:
    if feed.replayed:
        return "Not an official warning. The service replays the past."
    if feed.sender is None or not all(change.is_official for change in changes):
        return "Not an official warning."
    return f"Issued by {feed.sender}."


def _add_entry(root: Element, feed: Feed, change: Change, name: str) -> None:
    entry = xml.add(root, "entry")
    xml.add(entry, "id", _id(f"change {change.id}"))
    xml.add(entry, "title", headline(change, name))
    xml.add(entry, "updated", _instant(change.at))
    xml.add(entry, "published", _instant(change.at))
    cap, page = f"{feed.base}/v1/alerts/cap/{change.id}", f"{feed.base}/basins/{change.basin_id}"
    links = [(CAP_MEDIA_TYPE, cap), ("text/html", page)]
    alternate, related = links if feed.of_cap else links[::-1]
    xml.add(entry, "link", rel="alternate", type=alternate[0], href=alternate[1])
    xml.add(entry, "link", rel="related", type=related[0], href=related[1])
    xml.add(entry, "category", term=change.kind)
    if change.severity is not None:
        xml.add(entry, "category", term=change.severity)
    xml.add(entry, "summary", f"{change.why} {other_levels(change)}".rstrip())


def _id(text: str) -> str:
    return f"urn:uuid:{uuid5(NAMESPACE_URL, f'freshet {text}')}"


def _instant(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
