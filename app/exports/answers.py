"""Finishes answers: format, entity tag, Cache-Control and 304. An endpoint passes on its content and its table."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Query, Request, Response
from sqlalchemy.orm import Session
from starlette.datastructures import MutableHeaders
from starlette.types import Message, Scope

from app.exports.formats import COVERAGEJSON, JSON, PLACES, SERIES, TABLES, Format
from app.exports.table import Table
from app.http.base_schema import Model, OfBasin
from app.http.conditional import NOT_MODIFIED, SHORTLY, IfNoneMatch
from app.http.dependencies import Reading
from app.http.entity_tags import entity_tag, holds
from app.http.middleware import Middleware
from app.http.problems import NotAcceptable, documented
from hydrology.base.errors import Problem
from records.basins.basins import Site, sites


def one_of(*formats: Format) -> Callable[..., Awaitable[Format]]:
    """Return a dependency that chooses the format: JSON or one of those named."""
    offered = [JSON, *formats]
    by_name = {one.name: one for one in offered}

    async def choose(
        request: Request,
        named: Annotated[
            str | None,
            Query(
                alias="format",
                description="The format of the answer; by default the one preferred by the `Accept` header, and JSON "
                "without that.",
                json_schema_extra={"enum": [*by_name]},
            ),
        ] = None,
    ) -> Format:
        request.state.varies = True
        accepts = ",".join(request.headers.getlist("accept"))
        chosen = _preferred(accepts, offered) if named is None else by_name.get(named)
        if chosen is None:
            choices = ", ".join(f"{one.name} ({one.media_type})" for one in offered)
            raise NotAcceptable(f"This address answers in {choices}: name one of them with format= or in Accept.")
        return chosen

    return choose


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


class VaryByRequest(Middleware):
    """Middleware that adds `Vary`: by `Accept` of several formats, by `Authorization` where a key counts."""

    def change(self, scope: Scope, start: Message) -> None:
        state, headers = scope.get("state", {}), MutableHeaders(raw=start["headers"])
        if state.get("varies"):
            headers.add_vary_header("Accept")
        if state.get("varies_by_key") and "Authorization" not in headers.get("vary", ""):
            headers.add_vary_header("Authorization")
        if state.get("sees_all") and "cache-control" in headers:
            headers["cache-control"] = headers["cache-control"].replace("public", "private")


Places = Mapping[str, Site]
Content = TypeVar("Content", bound=Model)


BasinContent = TypeVar("BasinContent", bound=OfBasin)


@dataclass(frozen=True, slots=True)
class Responder:
    """Finishes an answer: in its format, with its entity tag, or as a 304. Names of `headers` are lower-case."""

    session: Session
    chosen: Format
    if_none_match: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def of(
        self,
        content: Content,
        table: Callable[[Content], Table] | None = None,
        *,
        cache_control: str = SHORTLY,
        body: Callable[[Model], bytes] | None = None,
    ) -> Response:
        """Answer with content, tagged by itself; `table` is None for JSON alone."""
        written = (body or body_of)(content)
        return self.tagged(
            entity_tag(written.decode()),
            lambda: written,
            table and (lambda: table(content)),
            cache_control=cache_control,
        )

    def of_basin(
        self,
        content: BasinContent,
        table: Callable[[BasinContent, Places], Table],
        *,
        cache_control: str = SHORTLY,
    ) -> Response:
        """Answer with content about a basin, whose place is a part of its table."""
        body, places = body_of(content), self.places([content.basin])
        return self.tagged(
            entity_tag(body.decode()),
            lambda: body,
            lambda: table(content, places),
            places=places,
            cache_control=cache_control,
        )

    def places(self, basins: Sequence[str]) -> Places:
        """Return the places of basins for the table of a file; none where it is not needed."""
        return {} if self.chosen is JSON else sites(self.session, basins)

    def tagged(
        self,
        tag: str,
        body: Callable[[], bytes],
        table: Callable[[], Table] | None,
        *,
        places: Places | None = None,
        cache_control: str = SHORTLY,
    ) -> Response:
        """Answer by a known tag; content is built only if needed."""
        if self.chosen is not JSON:
            assert table is not None
            tag = tag if places is None else entity_tag(tag, places)
            return self.file(tag, table, cache_control=cache_control)
        headers = {**self.headers, "etag": tag, "cache-control": cache_control}
        if holds(self.if_none_match, tag):
            return Response(status_code=304, headers=headers)
        return Response(body(), media_type=JSON.media_type, headers=headers)

    def file(self, tag: str, table: Callable[[], Table], *, cache_control: str = SHORTLY) -> Response:
        """Answer with a table as a file. Its tag is weak: another version of a library may write other bytes."""
        write = self.chosen.write
        assert write is not None

        def content() -> tuple[str, bytes]:
            created = table()
            return created.name, write(created)

        return self._file(tag, content, cache_control)

    def written(self, content: Content, name: str, write: Callable[[Content], bytes]) -> Response:
        """Answer with content as a file that is not a table."""
        return self._file(entity_tag(body_of(content).decode()), lambda: (name, write(content)), SHORTLY)

    def _file(self, tag: str, named: Callable[[], tuple[str, bytes]], cache_control: str) -> Response:
        """Answer with a file; its name and content are created only if needed."""
        of_file = f'{tag[:-1]}-{self.chosen.name}"'
        headers = {**self.headers, "etag": f"W/{of_file}", "cache-control": cache_control}
        if holds(self.if_none_match, of_file):
            return Response(status_code=304, headers=headers)
        name, content = named()
        name = re.sub(r"[^0-9A-Za-z_.-]+", "_", name).lstrip(".-")[:100]
        headers["Content-Disposition"] = f'attachment; filename="{name}.{self.chosen.suffix}"'
        return Response(content, media_type=self.chosen.content_type, headers=headers)


def body_of(content: Model) -> bytes:
    """Return content in JSON. Fields that only some answers have are left out of the others."""
    return content.model_dump_json(exclude_unset=True).encode()


def documented_responses(model: Any, *problems: type[Problem], formats: Sequence[Format] = ()) -> dict[str, Any]:
    """Return the options of an operation that ends in an `Responder`: its schema, and its statuses."""
    responses = NOT_MODIFIED | documented(*problems)
    if formats:
        content = {one.media_type: {"schema": one.schema} for one in formats}
        responses |= {200: {"content": content}, 406: documented(NotAcceptable)[406]}
    return {"response_model": model, "responses": responses}


def in_format(choose: Callable[..., Awaitable[Format]]) -> Callable[..., Awaitable[Responder]]:
    """Return a dependency for answers in the format that another dependency chooses."""

    async def answer(
        session: Reading,
        response: Response,
        chosen: Annotated[Format, Depends(choose)],
        if_none_match: IfNoneMatch = None,
    ) -> Responder:
        return Responder(session, chosen, if_none_match, response.headers)

    return answer


async def _in_json(session: Reading, if_none_match: IfNoneMatch = None) -> Responder:
    return Responder(session, JSON, if_none_match)


async def _in_coveragejson(session: Reading, if_none_match: IfNoneMatch = None) -> Responder:
    return Responder(session, COVERAGEJSON, if_none_match)


choose_place_format = one_of(*PLACES)
PlaceFormat = Annotated[Format, Depends(choose_place_format)]
JsonAnswer = Annotated[Responder, Depends(_in_json)]
CoverageAnswer = Annotated[Responder, Depends(_in_coveragejson)]
SeriesAnswer = Annotated[Responder, Depends(in_format(one_of(*SERIES)))]
TableAnswer = Annotated[Responder, Depends(in_format(one_of(*TABLES)))]
PlaceAnswer = Annotated[Responder, Depends(in_format(choose_place_format))]
