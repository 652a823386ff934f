"""Figures: curves and bands over days, drawn by `static/figures.js`."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Literal, Self

from app.http.base_schema import Model

Values = Sequence[float | None]
Style = Literal["line", "thin", "dashed", "dots", "bars"]
Colour = Literal[
    "observed", "median", "members", "level", "rain", "snow", "storage", "normal", "range", "warm", "cold", "band-50",
    "band-90", "part-stored", "part-snow", "older", "djf", "mam", "jja", "son",
]  # fmt: skip
"""Colours of the style sheet."""


class Curve(Model):
    """Values, one for each day of the figure, None where there is none."""

    label: str
    values: list[float | None]
    colour: Colour
    style: Style = "line"
    listed: bool = True


class Band(Model):
    """The area between two curves, by their indices."""

    low: int
    high: int
    colour: Colour


class Drawing(Model):
    """Input of the drawing script."""

    name: str
    unit: str
    time: list[date]
    curves: list[Curve]
    bands: list[Band]
    t0: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A plot.

    Attributes:
        name: name of the saved file.
        described: the figure in words, for screen readers.
        call: the API call behind it.
        csv: the call for the same data as CSV.
        reason: why nothing can be drawn; None where it can.
    """

    name: str
    title: str
    unit: str
    described: str = ""
    note: str = ""
    call: str
    csv: str | None = None
    reason: str | None = None
    time: list[date] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    bands: list[Band] = field(default_factory=list)
    t0: date | None = None

    def without(self, reason: str) -> Self:
        """Return the figure with a reason in place of its plot."""
        return replace(self, reason=reason)

    @property
    def drawing(self) -> dict[str, Any]:
        """Input of the drawing script, as JSON values."""
        drawing = Drawing(
            name=self.name, unit=self.unit, time=self.time, curves=self.curves, bands=self.bands, t0=self.t0
        )
        return drawing.model_dump(mode="json")


def as_csv(call: str) -> str:
    """Return the call for the same data as CSV."""
    return f"{call}{'&' if '?' in call else '?'}format=csv"


def on_days(time: Sequence[date], days: Sequence[date], values: Values) -> list[float | None]:
    """Return values of some days over the days of a figure."""
    by_day = dict(zip(days, values, strict=True))
    return [by_day.get(day) for day in time]
