"""Requests of forecasters: to adjust an issued forecast, to publish that, and to decide held alerts."""

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from jobspec.fields import Id, Name, Note, RequestModel

MAX_SHIFT_DAYS = 5
Ruling = Literal["approve", "dismiss"]
"""What is done with held alerts: they change as the forecast asks, or stay as they are."""


class NewAdjustment(RequestModel):
    """What a forecaster changes of an issued forecast of a basin."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "run": "01a1fa31d0a6718d9e12f4",
                    "factor": 1.2,
                    "shift_days": 1,
                    "chances": {"bankfull": 0.6},
                    "words": "The reservoir upstream holds the first day back.",
                }
            ]
        }
    )

    run: Id = Field(description="The run that is adjusted.")
    factor: float = Field(1.0, gt=0, le=10, description="Multiplies the flow of every day and of every quantile.")
    shift_days: int = Field(
        0,
        ge=-MAX_SHIFT_DAYS,
        le=MAX_SHIFT_DAYS,
        description="Moves the flow to this many days later; earlier where negative. Days that no flow is moved to "
        "have none.",
    )
    chances: dict[Name, Annotated[float, Field(ge=0, le=1)]] = Field(
        default_factory=dict,
        max_length=100,
        description="By level: the chance of passing it within the alerts' window, in place of the computed one. It "
        "decides the level's alert at once, without waiting for further runs.",
    )
    words: Note = Field(description="The reason, in the forecaster's own words. Readers see it.")


class Publication(RequestModel):
    """The publication of an adjustment."""

    note: Note | None = Field(None, description="What readers should know beside the reason.")


class HeldRuling(RequestModel):
    """A decision on the held alerts of a basin."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"run": "01a1fa31d0a6718d9e12f4", "ruling": "approve", "note": "Gauge upstream agrees."}]
        }
    )

    run: Id = Field(description="The run of the held alerts: a newer one may have taken its place.")
    ruling: Ruling = Field(description="`approve`: alerts change as proposed. `dismiss`: they stay as they are.")
    note: Note | None = Field(None, description="Why. Needed to dismiss.")

    @model_validator(mode="after")
    def _reasoned(self) -> Self:
        if self.ruling == "dismiss" and self.note is None:
            raise ValueError("alerts that are dismissed need a note that states why")
        return self
