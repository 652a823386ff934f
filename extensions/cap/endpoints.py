"""/v1/alerts/feed and /v1/alerts/cap: changes for feed readers and alert hubs."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request, Response
from sqlalchemy.orm import Session

from app.http.conditional import NOT_MODIFIED, SHORTLY, IfNoneMatch
from app.http.dependencies import NumberCursor, Page, Reading, ServiceClock, ServiceSettings, paged
from app.http.entity_tags import entity_tag, holds
from app.http.problems import documented
from extensions.cap import atom, messages
from extensions.cap.feed_selection import CAP_INDEX, FEED, FeedSelection, SelectedChanges, feed_address
from hydrology.base.errors import Problem
from jobspec.fields import ID
from records.alerts import alert_changes
from records.alerts.alert_changes import UnknownChange
from records.basins import basins
from records.basins.basins import UnknownBasin
from records.basins.regions import UnknownRegion
from runtime.clock import Clock
from runtime.settings import Settings

router = APIRouter(prefix="/alerts", tags=["alerts"])

ChangeId = Annotated[str, Path(description="The change's `event`.", pattern=ID, examples=["01a1fa31d0a6718d9e12f4"])]


def _xml(media_type: str, *problems: type[Problem]) -> dict[str, Any]:
    content: dict[int | str, dict[str, Any]] = {200: {"content": {media_type: {"schema": {"type": "string"}}}}}
    return {"response_class": Response, "responses": content | NOT_MODIFIED | documented(*problems)}


@dataclass(frozen=True, slots=True)
class FeedAnswer:
    """Answers with a page of the selected changes as an Atom feed."""

    request: Request
    session: Session
    settings: Settings
    clock: Clock
    selection: FeedSelection
    page: Page
    if_none_match: str | None

    def of(self, title: str, path: str, *, of_cap: bool) -> Response:
        """Answer with a feed; its arguments are those of `atom.Feed`."""
        chosen, url = self.selection, self.request.url
        found = alert_changes.page(
            self.session,
            basins=chosen.basins,
            region=chosen.region,
            minimum=chosen.minimum,
            before=self.page.after,
            limit=self.page.sought,
            in_feeds=True,
        )
        changes, following = self.page.cut(found, lambda change: change.seq)
        feed = atom.Feed(
            title=title,
            address=f"{path}?{url.query}" if url.query else path,
            selection=feed_address(chosen.basins, chosen.region, chosen.minimum, path) or path,
            following=following,
            base=self.settings.own_address or self.request.scope.get("root_path", ""),
            of_cap=of_cap,
            service=alert_changes.first(self.session) or self.settings.own_address,
            sender=self.settings.cap_sender,
            replayed=self.clock.replays,
        )
        names = basins.titles(self.session, [change.basin_id for change in changes])
        return _answer(atom.write(feed, changes, names), atom.MEDIA_TYPE, self.if_none_match)


def _feed(
    request: Request,
    session: Reading,
    settings: ServiceSettings,
    clock: ServiceClock,
    selection: SelectedChanges,
    page: Annotated[Page, paged(NumberCursor)],
    if_none_match: IfNoneMatch = None,
) -> FeedAnswer:
    return FeedAnswer(
        request=request,
        session=session,
        settings=settings,
        clock=clock,
        selection=selection,
        page=page,
        if_none_match=if_none_match,
    )


AtomAnswer = Annotated[FeedAnswer, Depends(_feed)]


@router.get("/feed", summary="Changes of alerts as an Atom feed", **_xml(atom.MEDIA_TYPE, UnknownBasin, UnknownRegion))
def read_alert_feed(answer: AtomAnswer) -> Response:
    """For a feed reader: the newest changes of the selected basins, one entry for what a run changed at a river, with
    the numbers and the rule in words. A subscription's `feed` is the address of the changes that it gets. Older ones
    are behind the link `next`. Changes of unofficial basins are in no feed."""
    return answer.of("Changes of alerts", FEED, of_cap=False)


@router.get(
    "/cap", summary="Index of CAP messages as an Atom feed", **_xml(atom.MEDIA_TYPE, UnknownBasin, UnknownRegion)
)
def read_cap_index(answer: AtomAnswer) -> Response:
    """For an alert hub: the newest changes, each with a link to its message of the Common Alerting Protocol."""
    return answer.of("CAP messages", CAP_INDEX, of_cap=True)


@router.get(
    "/cap/{change}", summary="A change of an alert as a CAP 1.2 message", **_xml(atom.CAP_MEDIA_TYPE, UnknownChange)
)
def read_cap_message(
    session: Reading,
    settings: ServiceSettings,
    change: ChangeId,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """The message of a change, by the Common Alerting Protocol: one for all that a run changed at a river. Its severity
    is that of the river's alert. Its status is `Exercise` where it was decided in a replay, or while the service had no
    official sender, and `Test` where the basin was unofficial. Updates and cancellations refer to the earlier messages
    of the same river's alert."""
    return _answer(message(session, settings, change), atom.CAP_MEDIA_TYPE, if_none_match)


def message(session: Session, settings: Settings, change: str) -> bytes:
    """Return the CAP message that has a change."""
    head = alert_changes.head_of(session, change)
    earlier = alert_changes.earlier_of_alert(session, head)
    return messages.write(head, earlier, basins.get(session, head.basin_id), settings.own_address)


def _answer(content: bytes, media_type: str, if_none_match: str | None) -> Response:
    tag = entity_tag(content.decode())
    headers = {"etag": tag, "cache-control": SHORTLY}
    if holds(if_none_match, tag):
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=media_type, headers=headers)
