"""Bodies of requests to gateways of text messages and chat: a text with placeholders from a fixed set, and no code."""

import json
import re
from collections.abc import Callable, Mapping
from string import Template
from typing import Annotated, Literal, Self
from urllib.parse import quote_plus

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from jobspec.fields import PrintableLines, RequestModel

PLACEHOLDERS = (
    *("headline", "why", "basin", "name", "level", "kind", "severity"),
    *("chance", "discharge", "at", "event", "link"),
)
ContentType = Literal["application/json", "application/x-www-form-urlencoded", "text/plain"]
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_SAMPLE = 'a "quoted" \\ text, with an é & a = sign'


def one_line(text: str) -> str:
    """Return a text without line breaks and control characters."""
    return _CONTROL.sub(" ", text).strip()


def _in_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


_ESCAPES: Mapping[ContentType, Callable[[str], str]] = {
    "application/json": _in_json,
    "application/x-www-form-urlencoded": quote_plus,
    "text/plain": str,
}


class MessageTemplate(RequestModel):
    """The body of a request to a gateway. A value is escaped as its content type needs, so that it stays a value."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"content_type": "application/json", "body": '{"text": "$headline $link"}'}]}
    )

    content_type: ContentType = Field("application/json", description="The `Content-Type` of the request.")
    body: Annotated[str, PrintableLines] = Field(
        min_length=1,
        max_length=4000,
        description=f"Placeholders are {', '.join(f'`${name}`' for name in PLACEHOLDERS)}; `$$` is a dollar sign. In "
        "JSON they stand within quotes.",
        examples=['{"text": "$headline $link"}'],
    )

    @model_validator(mode="after")
    def _usable(self) -> Self:
        template = Template(self.body)
        unknown = sorted(set(template.get_identifiers()) - set(PLACEHOLDERS)) if template.is_valid() else None
        if unknown is None:
            raise PydanticCustomError("template", "a $ stands alone: write $$ for a dollar sign")
        if unknown:
            known = ", ".join(PLACEHOLDERS)
            text = "unknown placeholders: {unknown}; known are {known}"
            raise PydanticCustomError("template", text, {"unknown": ", ".join(unknown), "known": known})
        if self.content_type == "application/json" and not _is_json(self.filled(dict.fromkeys(PLACEHOLDERS, _SAMPLE))):
            raise PydanticCustomError("template", "not JSON once filled: put placeholders within quotes")
        return self

    def filled(self, values: Mapping[str, str]) -> bytes:
        """Return the body with the values of all placeholders, each on one line and escaped."""
        escape = _ESCAPES[self.content_type]
        return Template(self.body).substitute({name: escape(one_line(text)) for name, text in values.items()}).encode()


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True
