"""Figures: curves and bands over days, drawn by `static/figures.js`."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, Literal, Self

from pydantic import Field

from app.basins.normals import Normals
from app.http.base_schema import Model
from app.outlooks.schemas import OutlookPeak
from hydrology.base.absent import Absent
from hydrology.base.unit_systems import UnitSystem

Values = Sequence[float | None]
Style = Literal["line", "thin", "dashed", "dots", "bars"]
Colour = Literal[
    "observed", "median", "before", "members", "level", "rain", "snow", "storage", "normal", "range", "warm", "cold",
    "band-50", "band-90", "part-stored", "part-snow", "older", "djf", "mam", "jja", "son",
    "warning-1", "warning-2", "warning-3",
]  # fmt: skip
"""Colours of the style sheet."""


class Curve(Model):
    """Values, one for each day of the figure, None where there is none."""

    label: str
    values: list[float | None]
    colour: Colour
    style: Style = "line"
    listed: bool = True
    right: bool = Field(False, description="Whether its axis is the one on the right.")


class Band(Model):
    """The area between two curves, by their indices.

    With a label, the band is one entry of the legend, with both its ends.
    """

    low: int
    high: int
    colour: Colour
    label: str = ""


class Level(Model):
    """A level across the figure: a line with its name, and of an official category the ground up to the next."""

    label: str
    value: float
    ground: Colour | None = None


class Ticks(Model):
    """The axis on the right by ticks alone: the values of the left axis at which they stand, and their labels."""

    unit: str
    values: list[float]
    labels: list[str]


class Figure(Model):
    """A plot."""

    name: str = Field(description="Name of the saved file.")
    title: str
    unit: str
    right_unit: str = ""
    described: str = Field("", description="The figure in words, for screen readers.")
    note: str = ""
    call: str = Field(description="The API call behind it.")
    reason: str | None = Field(None, description="Why nothing can be drawn; None where it can.")
    time: list[date] = Field([])
    curves: list[Curve] = Field([])
    bands: list[Band] = Field([])
    t0: date | None = None
    now: datetime | None = None
    levels: list[Level] = Field([])
    stages: Ticks | None = None
    peak: OutlookPeak | None = Field(None, description="The peak of the flow ahead, with its 90 % range.")
    peak_label: str = ""
    downloads: bool = Field(True, description="Whether everybody may download the data.")
    log: bool = Field(False, description="Whether the values may be shown on a logarithmic axis.")

    def but(self, **changes: Any) -> Self:
        return self.model_copy(update=changes)

    def shown_in(self, units: UnitSystem, unit: str | None = None) -> Self:
        """Return the figure in the chosen units; `unit` by default is that of its metric values."""
        unit, right = unit or self.unit, self.right_unit
        shown = [
            [one if one is None else units.value(one, right if curve.right else unit) for one in curve.values]
            for curve in self.curves
        ]
        curves = [one.model_copy(update={"values": values}) for one, values in zip(self.curves, shown, strict=True)]
        names = {"unit": units.name(unit), "right_unit": right and units.name(right)}
        return self.but(**names, curves=curves, note=units.sentence(self.note))

    @property
    def csv(self) -> str:
        """The call for the same data as CSV."""
        return f"{self.call}{'&' if '?' in self.call else '?'}format=csv"

    @property
    def drawing(self) -> dict[str, Any]:
        """Input of the drawing script, as JSON values."""
        words = {"title", "described", "note", "call", "reason", "downloads"}
        return self.model_dump(mode="json", exclude=words)


def on_days(time: Sequence[date], days: Sequence[date], values: Values) -> list[float | None]:
    """Return values of some days over the days of a figure."""
    by_day = dict(zip(days, values, strict=True))
    return [by_day.get(day) for day in time]


def edge(label: str, values: Values, colour: Colour) -> Curve:
    """Return the edge of a band."""
    return Curve(label=label, values=list(values), colour=colour, style="thin")


def with_usual(figure: Figure, normals: Normals | Absent, variable: str, time: Sequence[date]) -> Figure:
    """Add the usual range (80 % of other years) to a figure; if it is not known, add a note with the reason."""
    if figure.reason is not None:
        return figure
    usual = None if isinstance(normals, Absent) else normals.variables.get(variable)
    if isinstance(normals, Absent) or usual is None:
        reason = str(normals) if isinstance(normals, Absent) else normals.missing.get(f"variables.{variable}", "")
        return figure.but(note=f"{figure.note} Usual range: {reason}".strip())
    days = normals.time
    curves = [
        edge("", on_days(time, days, usual.p10), "range"),
        edge("usual range", on_days(time, days, usual.p90), "range"),
        Curve(label="normal", values=on_days(time, days, usual.mean), colour="normal", style="dashed"),
    ]
    shifted = [b.model_copy(update={"low": b.low + len(curves), "high": b.high + len(curves)}) for b in figure.bands]
    bands = [Band(low=0, high=1, colour="range", label="usual range"), *shifted]
    return figure.but(curves=[*curves, *figure.curves], bands=bands)
