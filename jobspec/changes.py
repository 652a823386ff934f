"""What a what-if run changes of a forecast: the weather after T0, and the water in the basin at T0."""

from collections.abc import Iterator
from typing import Any, Literal, TypeVar

from pydantic import Field, field_validator

from jobspec.fields import RequestModel

Where = Literal["snow", "other", "all"]


class Storm(RequestModel):
    """Precipitation on one day beside what falls on it."""

    mm: float = Field(ge=0, le=1_000, description="How much, over the whole basin.")
    lead: int = Field(1, ge=1, description="On which day: so many days after T0.")


class Increment(RequestModel):
    """Water that is added to the basin at T0, or taken from it."""

    mm: float = Field(
        ge=-2_000,
        le=2_000,
        description="How much, over the whole basin; a negative amount is taken away, and never more than is there.",
    )
    where: Where = Field(
        "all",
        description="Into which cells, in proportion to what they hold: those that read as snow, the other ones, or "
        "both. The cell whose outflow is lost is none of them.",
    )


Water = TypeVar("Water", Storm, Increment)


class Changes(RequestModel):
    """Each that is left out changes nothing."""

    degrees: float = Field(
        0.0,
        ge=-20,
        le=20,
        description="Added to the temperatures of every day after T0, °C. The relative humidity of the air stays: its "
        "vapour pressure changes with that of saturated air. Radiation and the length of the days stay.",
    )
    precipitation_percent: float = Field(
        0.0, ge=-100, le=300, description="So much more precipitation on every day after T0, in % of it; -100: none."
    )
    storm: Storm | None = Field(None, description="After that percentage, so that it falls whole.")
    increment: Increment | None = None
    assimilate: bool = Field(
        False,
        description="Whether the water in the basin at T0 becomes what the discharge observed on the last ten days "
        "asks for: the smallest change that explains it. An increment comes after it.",
    )

    @field_validator("storm", "increment")
    @classmethod
    def _none_where_it_is_nothing(cls, water: Water | None) -> Water | None:
        return None if water is None or water.mm == 0 else water

    def as_json(self) -> dict[str, Any]:
        """Return what is changed as JSON, without what is not."""
        return self.model_dump(mode="json", exclude_defaults=True)

    @property
    def nothing(self) -> bool:
        """Whether nothing is changed."""
        return not self.as_json()

    @property
    def in_words(self) -> str:
        """What is changed, without a full stop."""
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
            yield "as much more or less water in the basin at T0 as observed discharge asks for"
        if increment is not None:
            place = {"snow": "as snow", "other": "besides the snow", "all": "in the basin"}[increment.where]
            yield f"{abs(increment.mm):g} mm {_more(increment.mm)} water {place} at T0"


def _more(amount: float) -> str:
    return "more" if amount > 0 else "less"


UNCHANGED = Changes()
