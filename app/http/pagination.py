"""Pagination: the address of the next page."""

from collections.abc import Mapping
from datetime import datetime
from urllib.parse import urlencode

from fastapi import Request, Response

from hydrology.base.calendar import Day

Asked = str | int | Day | datetime | None


def next_page(request: Request, response: Response, asked: Mapping[str, Asked], last: str | None) -> str | None:
    """Return the next page's address, also set as `Link` header; None after the last.

    Args:
        request, response: of this page.
        asked: the query of this page; what is None is left out.
        last: the identifier that the next page starts after; None where this page is the last.
    """
    if last is None:
        return None
    given = {name: _text(value) for name, value in asked.items() if value is not None}
    address = f"{request.scope['path']}?{urlencode(given | {'after': last})}"
    response.headers["Link"] = f'<{address}>; rel="next"'
    return address


def _text(value: Asked) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
