"""Answers about rating tables."""

from datetime import date, datetime

from pydantic import Field

from app.http.base_schema import Missing, Model, OfBasin
from hydrology.ratings.rating import Expansion


class Stage(Model):
    """The stage of a discharge, by the basin's rating of the day."""

    ft: float | None = Field(description="Above the gauge's datum; null for the reason that `reason` gives.")
    m: float | None = Field(description="The same in metres.")
    reason: str | None = Field(description="Why it is null; null where it is not.")


class RatingTable(OfBasin):
    """A rating table of a basin's gauge."""

    source: str
    datum: str | None = Field(description="What the gauge's zero refers to.")
    valid_from: date = Field(description="The first day that it holds for.")
    site: str | None = Field(description="The gauge's number, as the file has it.")
    number: str | None = Field(description="The rating's number, as the file has it.")
    shifted: str | None = Field(description="Time of the shifts, as the file has it.")
    largest_shift_ft: float = Field(description="The largest shift that the table includes, with its sign.")
    expansion: Expansion = Field(description="How points are joined: by logarithms above an offset, or straight.")
    stage_ft: list[float] = Field(description="Stages of the points, ft: the range that is converted.")
    stage_m: list[float] = Field(description="The same in metres.")
    discharge_m3s: list[float] = Field(description="Discharges of the points, m³/s.")
    set_at: datetime = Field(description="By the service's clock.")
    missing: Missing


class NewRatingTable(RatingTable):
    """A rating table as it was stored, and its effect on the official flood categories."""

    left_out: dict[str, str] = Field(description="Official flood categories without a discharge, and why.")
    in_doubt: dict[str, str] = Field(description="Levels that seem wrong, and why: their alerts wait.")
