"""Answers in the requested format, with entity tag and file name."""

import re
from collections.abc import Callable
from typing import Any, TypeVar

from fastapi import Response

from app.exports.formats import JSON, Format
from app.exports.table import Table
from app.http.base_schema import Model
from app.http.conditional import SHORTLY, entity_tag, holds, tagged

Content = TypeVar("Content", bound=Model)


def answered(
    chosen: Format,
    content: Content,
    response: Response,
    if_none_match: str | None,
    table: Callable[[], Table],
    *beside: Any,
    wanted: str = SHORTLY,
    link: str | None = None,
) -> Content | Response:
    """Return an answer in JSON or as a file, with its entity tag, or a 304.

    Args:
        table: builds the table of the answer, called only if needed.
        beside: other inputs of the table, as JSON values.
        wanted: its Cache-Control header.
        link: the `Link` header of a file.
    """
    if chosen is JSON:
        return tagged(content, response, if_none_match, wanted)
    tag = entity_tag(content.model_dump(mode="json"), *beside)
    return exported(chosen, tag, if_none_match, table, wanted=wanted, link=link)


def exported(
    chosen: Format,
    tag: str,
    if_none_match: str | None,
    table: Callable[[], Table],
    *,
    wanted: str = SHORTLY,
    link: str | None = None,
) -> Response:
    """Return a table as a file, or a 304 if the client holds it.

    The tag of the file is weak: the same table is written, but another version of a library may write other bytes.

    Args:
        chosen: any format but JSON.
        tag: entity tag of the table's content.
        table: builds it, called only if needed.
        wanted: its Cache-Control header.
        link: the `Link` header.
    """
    assert chosen.write is not None
    of_file = f'{tag[:-1]}-{chosen.name}"'
    headers = {"ETag": f"W/{of_file}", "Cache-Control": wanted} | ({} if link is None else {"Link": link})
    if holds(if_none_match, of_file):
        return Response(status_code=304, headers=headers)
    created = table()
    headers["Content-Disposition"] = f'attachment; filename="{_file_name(created.name)}.{chosen.suffix}"'
    return Response(chosen.write(created), media_type=chosen.content_type, headers=headers)


def _file_name(name: str) -> str:
    """Return a file name that is safe in file systems, shells and headers."""
    return re.sub(r"[^0-9A-Za-z_.-]+", "_", name).lstrip(".-")[:100]
