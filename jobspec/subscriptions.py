"""Requests to register and change a receiver of alert changes."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from hydrology.extremes.alerting import Severity
from jobspec.fields import MAX_BASINS, Basin, RequestModel


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
        pattern=r"^https?://[!-~]+$",
        description="The address to post changes to: https, and public. Redirections are not followed.",
        examples=["https://rivers.example/hooks/freshet"],
    ),
]
SomeBasins = Annotated[
    list[Basin],
    Field(min_length=1, max_length=MAX_BASINS, examples=[["USGS-13235000"]]),
]
_BASINS = "The basins whose changes are sent; null for all basins."
_MIN_SEVERITY = "Changes of alerts that stay below this severity are not sent."


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

    url: Target
    basins: SomeBasins | None = Field(None, description=_BASINS)
    least_severity: Severity = Field("advisory", description=_MIN_SEVERITY)


class SubscriptionPatch(RequestModel):
    """Changes to a subscription; an omitted field stays."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"least_severity": "warning"}]})

    url: Target | None = Field(None, description="Null: unchanged.")
    basins: SomeBasins | None = Field(None, description=_BASINS)
    least_severity: Severity | None = Field(None, description=f"{_MIN_SEVERITY} Null: unchanged.")

    def changes(self) -> dict[str, object]:
        """Return the changed fields by name."""
        named = {name: getattr(self, name) for name in self.model_fields_set}
        return {name: value for name, value in named.items() if value is not None or name == "basins"}
