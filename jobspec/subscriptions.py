"""Requests to register and change a receiver of alert changes: a webhook, a gateway, or an address for e-mail."""

from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from hydrology.base.calendar import zone
from hydrology.extremes.alerting import Severity
from jobspec.addresses import mail_address
from jobspec.fields import MAX_BASINS, Basin, RequestModel, refusing
from jobspec.forms import form
from jobspec.message_templates import MessageTemplate


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


def _time_zone(name: str) -> str:
    with refusing("zone"):
        zone(name)
    return name


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
    timezone: Annotated[str, AfterValidator(_time_zone)] = Field(
        "UTC", max_length=64, description="A name of the tz database, whose clock it is.", examples=["America/Boise"]
    )

    @property
    def cron(self) -> str:
        """The cron line that fires at its time."""
        hour, _, minute = self.at.partition(":")
        return f"{int(minute)} {int(hour)} * * *"


SomeBasins = Annotated[
    list[Basin],
    Field(min_length=1, max_length=MAX_BASINS, examples=[["USGS-13235000"]]),
]
_BASINS = "The basins whose changes are sent; null for all basins."
_MIN_SEVERITY = "Changes of alerts that stay below this severity are not sent."
_NULLABLE = ("basins", "template", "digest")
_TEMPLATE = "The body of each request, for a gateway of text messages or chat; null: the change as JSON."
_DIGEST = "One message a day, with its changes, instead of one for each change; for e-mail only."


class NewSubscription(RequestModel):
    """A receiver of alert changes."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "url": "https://rivers.example/hooks/freshet",
                    "basins": ["USGS-13235000"],
                    "least_severity": "watch",
                }
            ]
        }
    )

    url: Target | None = None
    email: Email | None = None
    basins: SomeBasins | None = Field(None, description=_BASINS)
    least_severity: Severity = Field("advisory", description=_MIN_SEVERITY)
    template: MessageTemplate | None = Field(None, description=_TEMPLATE)
    digest: Digest | None = Field(None, description=_DIGEST)

    @model_validator(mode="after")
    def _one_receiver(self) -> Self:
        if (self.url is None) == (self.email is None):
            raise PydanticCustomError("receiver", "give either a url or an email")
        if fault := unsuitable(self.email is not None, self.template, self.digest):
            raise PydanticCustomError("receiver", "{fault}", {"fault": fault})
        return self


def unsuitable(by_mail: bool, template: Any, digest: Any) -> str | None:
    """Return why a subscription cannot have a template or a digest; None if it can."""
    if by_mail and template is not None:
        return "a template is for a url, not for an email"
    return None if by_mail or digest is None else "a digest is for an email, not for a url"


class SubscriptionPatch(RequestModel):
    """Changes to a subscription; an omitted field stays."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"least_severity": "warning"}]})

    url: Target | None = Field(None, description="Null: unchanged.")
    basins: SomeBasins | None = Field(None, description=_BASINS)
    least_severity: Severity | None = Field(None, description=f"{_MIN_SEVERITY} Null: unchanged.")
    template: MessageTemplate | None = Field(None, description=_TEMPLATE)
    digest: Digest | None = Field(None, description=_DIGEST)

    def changes(self) -> dict[str, object]:
        """Return the changed fields by name."""
        named = self.model_dump(exclude_unset=True)
        return {name: value for name, value in named.items() if value is not None or name in _NULLABLE}
