"""Content negotiation: the format by `format=`, or else by the `Accept` header [RFC 9110, section 12.5.1]."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

from fastapi import Query, Request
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.exports.formats import JSON, Format
from app.http.middleware import on_start
from app.http.problems import NotAcceptable, documented


def one_of(*formats: Format) -> Callable[..., Awaitable[Format]]:
    """Return a dependency that chooses the format: JSON or one of those named."""
    offered = [JSON, *formats]
    names = [one.name for one in offered]

    async def choose(
        request: Request,
        named: Annotated[
            str | None,
            Query(
                alias="format",
                description="The format of the answer; by default the one preferred by the `Accept` header, and JSON "
                "without that.",
                json_schema_extra={"enum": names},
            ),
        ] = None,
    ) -> Format:
        request.state.varies = True
        accepts = ",".join(request.headers.getlist("accept"))
        chosen = _preferred(accepts, offered) if named is None else _named(named, offered)
        if chosen is None:
            choices = ", ".join(f"{one.name} ({one.media_type})" for one in offered)
            raise NotAcceptable(f"This address answers in {choices}: name one of them with format= or in Accept.")
        return chosen

    return choose


def documented_formats(*formats: Format) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses of an operation that answers in these formats besides JSON."""
    return {
        200: {"content": {one.media_type: {"schema": one.schema} for one in formats}},
        406: documented(NotAcceptable)[406],
    }


def _named(name: str, offered: Sequence[Format]) -> Format | None:
    return next((one for one in offered if one.name == name), None)


def _preferred(accepts: str, offered: Sequence[Format]) -> Format | None:
    """Return the format that a header prefers; on a tie, the first."""
    if not accepts.strip():
        return offered[0]
    ranges = [taken for part in accepts.split(",") if (taken := _range(part)) is not None]
    qualities = [_quality(one.media_type, ranges) for one in offered]
    best = max(qualities)
    return offered[qualities.index(best)] if best > 0 else None


_Range = tuple[str, float]


def _range(part: str) -> _Range | None:
    media_type, *parameters = (piece.strip().lower() for piece in part.split(";"))
    weight = next((parameter[2:] for parameter in parameters if parameter.startswith("q=")), "1")
    try:
        quality = float(weight)
    except ValueError:
        return None
    return (media_type, quality) if 0 <= quality <= 1 else None  # NaN is outside, too


def _quality(media_type: str, ranges: Sequence[_Range]) -> float:
    """Return the quality of a media type, from the most specific range that includes it."""
    above = f"{media_type.partition('/')[0]}/*"
    for specific in (media_type, above, "*/*"):
        qualities = [quality for range_, quality in ranges if range_ == specific]
        if qualities:
            return max(qualities)
    return 0.0


class VaryByRequest:
    """Middleware that adds `Vary`: by `Accept` of several formats, by `Authorization` where a key counts."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        def vary(start: Message) -> None:
            state, headers = scope.get("state", {}), MutableHeaders(raw=start["headers"])
            if state.get("varies"):
                headers.add_vary_header("Accept")
            if state.get("varies_by_key") and "Authorization" not in headers.get("vary", ""):
                headers.add_vary_header("Authorization")

        await self._app(scope, receive, on_start(send, vary))
