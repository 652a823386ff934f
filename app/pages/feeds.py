"""/feeds: sources of discharge and weather, and the outcome of their fetches."""

import json
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from app.feeds import FeedDetail, feed_detail
from app.http.api_keys import AnyKey
from app.http.dependencies import Reading
from app.pages.errors import PageRoute
from app.pages.render import render
from jobspec.feeds import ADAPTERS
from records.feeds import feeds

router = APIRouter(route_class=PageRoute)

SETTINGS = {"adapter": "usgs", "basins": ["USGS-01013500", "USGS-13235000"]}
"""Settings that the form of a new feed begins with."""


@dataclass(frozen=True, slots=True)
class Feeds:
    """Contents of the page; `example`: settings of a new feed, as JSON."""

    feeds: list[FeedDetail]
    adapters: list[str]
    example: str


@router.get("/feeds", response_class=HTMLResponse)
def read_feeds(request: Request, session: Reading, key: AnyKey) -> HTMLResponse:
    """Show the feeds."""
    listed = [feed_detail(session, feed, key) for feed in feeds.list_feeds(session)]
    return render(request, "work/feeds.html", Feeds(listed, list(ADAPTERS), json.dumps(SETTINGS)))
