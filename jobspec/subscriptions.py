"""What can be said of a receiver of alert changes."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from hydrology.extremes.alerting import Severity
from jobspec.fields import MAX_BASINS, Basin, RequestModel


def _target(url: str) -> str:
    """See that a URL names a host by http or https, and nothing that would be shown to others or never be sent."""
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
        description="Where changes are posted to: https, at a public address. Redirections are not followed.",
        examples=["https://rivers.example/hooks/freshet"],
    ),
]
SomeBasins = Annotated[
    list[Basin],
    Field(min_length=1, max_length=MAX_BASINS, examples=[["USGS-13235000"]]),
]
_BASINS = "Whose changes are told; null for all basins."
_LEAST_SEVERITY = "Changes of alerts that were and are less severe are not told."


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
    least_severity: Severity = Field("advisory", description=_LEAST_SEVERITY)


class SubscriptionPatch(RequestModel):
    """What is to change of a subscription; what is left out stays."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"least_severity": "warning"}]})

    url: Target | None = Field(None, description="Null: it stays.")
    basins: SomeBasins | None = Field(None, description=_BASINS)
    least_severity: Severity | None = Field(None, description=f"{_LEAST_SEVERITY} Null: it stays.")

    def changes(self) -> dict[str, object]:
        """Return what is to change, by the field's name."""
        named = {name: getattr(self, name) for name in self.model_fields_set}
        return {name: value for name, value in named.items() if value is not None or name == "basins"}
