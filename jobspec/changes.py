"""Changes of a forecast: those of a what-if run, and those of forecasters, who also publish them and decide alerts."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AwareDatetime, BeforeValidator, Field, field_validator, model_validator

from jobspec.fields import Id, Name, Note, RequestModel, examples

Where = Literal["snow", "other", "all"]


class Storm(RequestModel):
    """Additional precipitation on one day."""

    mm: float = Field(ge=0, le=1_000, description="Depth over the whole basin, mm.")
    lead: int = Field(1, ge=1, description="Number of days after T0 on which it falls.")


class Increment(RequestModel):
    """Water added to the basin at T0, or removed from it."""

    mm: float = Field(
        ge=-2_000,
        le=2_000,
        description="Depth over the whole basin, mm; a negative depth is removed, at most the water that is there.",
    )
    where: Where = Field(
        "all",
        description="The cells to change, in proportion to their water: those that read as snow, the others, or both. "
        "Never the cell whose outflow is lost.",
    )


Water = TypeVar("Water", Storm, Increment)


class Changes(RequestModel):
    """Changes of a what-if run; an omitted field changes nothing."""

    degrees: float = Field(
        0.0,
        ge=-20,
        le=20,
        description="Added to the temperatures of every day after T0, °C. The relative humidity stays: the "
        "vapour pressure changes with that of saturated air. Radiation and day length stay.",
    )
    precipitation_percent: float = Field(
        0.0, ge=-100, le=300, description="Change in daily precipitation after T0, in percent; -100: none."
    )
    storm: Storm | None = Field(None, description="Added after that change, which does not scale it.")
    increment: Increment | None = None
    assimilate: bool = Field(
        False,
        description="Whether to change the water in the basin at T0 by the smallest amount that explains the discharge "
        "observed on the last ten days. An increment is added afterwards.",
    )

    @field_validator("storm", "increment")
    @classmethod
    def _none_where_it_is_nothing(cls, water: Water | None) -> Water | None:
        return None if water is None or water.mm == 0 else water

    def as_json(self) -> dict[str, Any]:
        """Return the changes as JSON, without fields that change nothing."""
        return self.model_dump(mode="json", exclude_defaults=True)

    @property
    def nothing(self) -> bool:
        return not self.as_json()

    @property
    def in_words(self) -> str:
        """The changes in words, without a full stop."""
        return "; ".join(self._in_words()) or "nothing is changed"

    def _in_words(self) -> Iterator[str]:
        storm, increment = self.storm, self.increment
        if self.degrees:
            warmer = "warmer" if self.degrees > 0 else "colder"
            yield f"{abs(self.degrees):g} °C {warmer}, with the same relative humidity and sun"
        if self.precipitation_percent:
            yield f"{abs(self.precipitation_percent):g} % {_more(self.precipitation_percent)} precipitation"
        if storm is not None:
            yield f"a storm of {storm.mm:g} mm {storm.lead} {'day' if storm.lead == 1 else 'days'} after T0"
        if self.assimilate:
            yield "the water in the basin at T0 adjusted to the observed discharge"
        if increment is not None:
            place = {"snow": "as snow", "other": "besides the snow", "all": "in the basin"}[increment.where]
            yield f"{abs(increment.mm):g} mm {_more(increment.mm)} water {place} at T0"


def _more(amount: float) -> str:
    return "more" if amount > 0 else "less"


UNCHANGED = Changes()

MAX_SHIFT_DAYS = 5
Ruling = Literal["approve", "dismiss"]
"""What is done with held alerts: they change as the forecast asks, or stay as they are."""


class NewAdjustment(RequestModel):
    """What a forecaster changes of an issued forecast of a basin."""

    model_config = examples(
        {
            "run": "01a1fa31d0a6718d9e12f4",
            "factor": 1.2,
            "shift_days": 1,
            "chances": {"bankfull": 0.6},
            "words": "The reservoir upstream holds the first day back.",
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


def _parsed(instant: Any) -> object:
    try:
        return datetime.fromisoformat(instant)
    except (TypeError, ValueError):
        return instant


class NewFlow(RequestModel):
    """A flow that was measured within the day."""

    model_config = examples({"at": "2008-09-30T14:15:00Z", "discharge": 85.0})

    at: Annotated[AwareDatetime, BeforeValidator(_parsed)] = Field(
        description="When it was measured (RFC 3339, with its offset): within the last 24 hours."
    )
    discharge: float = Field(ge=0, le=1e6, description="m³/s.")


class Publication(RequestModel):
    """The publication of an adjustment."""

    note: Note | None = Field(None, description="What readers should know beside the reason.")


class _Decision(RequestModel):
    ruling: Ruling = Field(description="`approve`: it changes as proposed. `dismiss`: it stays as it is.")
    note: Note | None = Field(None, description="Why. Needed to dismiss.")

    @model_validator(mode="after")
    def _reasoned(self) -> Self:
        if self.ruling == "dismiss" and self.note is None:
            raise ValueError("what is dismissed needs a note that states why")
        return self


class HeldRuling(_Decision):
    """A decision on the held alerts of a basin."""

    model_config = examples({"run": "01a1fa31d0a6718d9e12f4", "ruling": "approve", "note": "Gauge upstream agrees."})

    run: Id = Field(description="The run of the held alerts: a newer one may have taken its place.")


class RatingRuling(_Decision):
    """A decision on the held rating of a basin's gauge."""

    model_config = examples({"version": 12, "ruling": "approve", "note": "The flood moved the bar below the gauge."})

    version: int = Field(ge=1, description="The version of the held rating: a newer one may have taken its place.")
