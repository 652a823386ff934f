"""Requests to register and change a receiver of alert changes: a webhook, a gateway, or an address for e-mail."""

import json
import re
from collections.abc import Callable, Mapping
from string import Template
from typing import Annotated, Literal, Self
from urllib.parse import quote_plus, urlsplit

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from hydrology.alerts import Severity
from jobspec.addresses import mail_address
from jobspec.fields import MAX_BASINS, Basin, Name, PrintableLines, RequestModel, TimeZone, examples, form

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

    model_config = examples({"content_type": "application/json", "body": '{"text": "$headline $link"}'})

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


def _target(url: str) -> str:
    """Check that a URL is http or https, with a host and nothing secret."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise PydanticCustomError("target", "not a URL: give https://… with a host")
    if "@" in parts.netloc or parts.fragment:
        raise PydanticCustomError("target", "give a URL without a user, a password and a fragment")
    return url


Target = Annotated[
    str,
    AfterValidator(_target),
    Field(
        max_length=2000,
        pattern=form(r"^https?://[!-~]+$", "a URL that starts with https://, such as https://ops.example.org/hook"),
        description="The address to post changes to: https, and public. Redirections are not followed.",
        examples=["https://rivers.example/hooks/freshet"],
    ),
]


Email = Annotated[
    str,
    AfterValidator(mail_address),
    Field(
        max_length=254,
        description="The address to send changes to by e-mail. It gets one message that asks for its consent, and "
        "nothing else before that is given.",
        examples=["duty@rivers.example"],
    ),
]


class Digest(RequestModel):
    """When a message with the changes of a day is sent."""

    at: str = Field(
        pattern=form(r"^([01][0-9]|2[0-3]):[0-5][0-9]$", "a time from 00:00 to 23:59, such as 07:00"),
        description="The time of the day.",
        examples=["07:00"],
    )
    timezone: TimeZone = Field(
        "UTC", max_length=64, description="A name of the tz database, whose clock it is.", examples=["America/Boise"]
    )

    @property
    def cron(self) -> str:
        """The cron line that fires at its time."""
        hour, _, minute = self.at.partition(":")
        return f"{int(minute)} {int(hour)} * * *"


About = Literal["alerts", "issues"]
SomeBasins = Annotated[list[Basin], Field(min_length=1, max_length=MAX_BASINS, examples=[["USGS-13235000"]])]
_BASINS = "The basins whose changes are sent; null for all basins."
_REGION = "The region whose basins' changes are sent, also of those that it gets later; null for all. Without `basins`."
_MIN_SEVERITY = "Changes of alerts that stay below this severity are not sent."
_NULLABLE = ("basins", "region", "template", "digest")
_TEMPLATE = "The body of each request, for a gateway of text messages or chat; null: the change as JSON."
_DIGEST = "One message a day, with its changes, instead of one for each change; for e-mail only."


class NewSubscription(RequestModel):
    """A receiver of alert changes, or of messages about the issues of days."""

    model_config = examples(
        {"url": "https://rivers.example/hooks/freshet", "basins": ["USGS-13235000"], "least_severity": "watch"}
    )

    url: Target | None = None
    email: Email | None = None
    basins: SomeBasins | None = Field(None, description=_BASINS)
    region: Name | None = Field(None, description=_REGION, examples=["columbia"])
    least_severity: Severity = Field("advisory", description=_MIN_SEVERITY)
    template: MessageTemplate | None = Field(None, description=_TEMPLATE)
    digest: Digest | None = Field(None, description=_DIGEST)
    about: About = Field(
        "alerts",
        description="`alerts`: changes of alerts. `issues`: that the forecasts of a day are not complete at the stated "
        "time (FRESHET_ISSUES_COMPLETE_BY), one message for each cause, and that they have become so; and alarms of "
        "the service (a silent feed, a disk that fills, a version worse than persistence), one message when each "
        "begins and one when it ends. Without `basins`, `region` and `digest`.",
    )

    @model_validator(mode="after")
    def _one_receiver(self) -> Self:
        if (self.url is None) == (self.email is None):
            raise PydanticCustomError("receiver", "give either a url or an email")
        if fault := unsuitable(self.email is not None, self.about, dict(self)):
            raise PydanticCustomError("receiver", "{fault}", {"fault": fault})
        return self


def unsuitable(by_mail: bool, about: About, fields: Mapping[str, object]) -> str | None:
    """Return why a subscription cannot have a template, a digest or basins; None if it can."""
    if by_mail and fields.get("template") is not None:
        return "a template is for a url, not for an email"
    given = {name for name, value in fields.items() if value is not None}
    if about == "issues" and given & {"basins", "region", "digest"}:
        return "messages about issues are of all basins, and are sent at once: leave out basins, region and digest"
    if given >= {"basins", "region"}:
        return "either basins or a region: leave one of the two out"
    return None if by_mail or fields.get("digest") is None else "a digest is for an email, not for a url"


class SubscriptionPatch(RequestModel):
    """Changes to a subscription; an omitted field stays."""

    model_config = examples({"least_severity": "warning"})

    url: Target | None = Field(None, description="Null: unchanged.")
    basins: SomeBasins | None = Field(None, description=_BASINS)
    region: Name | None = Field(None, description=_REGION)
    least_severity: Severity | None = Field(None, description=f"{_MIN_SEVERITY} Null: unchanged.")
    template: MessageTemplate | None = Field(None, description=_TEMPLATE)
    digest: Digest | None = Field(None, description=_DIGEST)

    def changes(self) -> dict[str, object]:
        named = self.model_dump(exclude_unset=True)
        return {name: value for name, value in named.items() if value is not None or name in _NULLABLE}
