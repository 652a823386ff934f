"""Requests to set levels of a basin: thresholds of flow, flood categories of NOAA's water service, a rating table."""

from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from hydrology.alerts import IMPACT, INSTRUCTION
from hydrology.base.errors import InvalidInput, is_shown
from hydrology.base.products import OBSERVED
from hydrology.base.units import M3_PER_FT3, M_PER_FT
from hydrology.ratings import MAX_CHARACTERS
from hydrology.uncertainty.exceedance import Direction
from jobspec.fields import DayField, Line, Name, Note, RequestModel, examples

HIGHEST = next(one.highest for one in OBSERVED if (one.variable, one.unit) == ("discharge", "m3/s"))
"""Highest discharge of a level, m3/s."""


LevelUnit = Literal["m3/s", "cfs", "ft", "m"]
STAGE_SIZES = {"ft": M_PER_FT, "m": 1.0}
"""m."""
FLOW_SIZES = {"cfs": M3_PER_FT3, "kcfs": 1000 * M3_PER_FT3, "m3/s": 1.0, "cms": 1.0}
"""m3/s."""


class FixedLevel(RequestModel):
    """A threshold that an operator sets."""

    model_config = examples({"discharge": 420.0, "direction": "rising"})

    discharge: float = Field(gt=0, le=HIGHEST / M3_PER_FT3, description="In `unit`.")
    unit: LevelUnit = Field(
        "m3/s", description="Of the discharge, or `ft` or `m` of stage, which the basin's rating turns into discharge."
    )
    direction: Direction = Field(
        "rising", description="The direction in which flow passes it: `rising` for a flood, `falling` for a low flow."
    )
    impact: Note | None = Field(None, description=IMPACT, examples=["Water covers the mill road."])
    instruction: Note | None = Field(None, description=INSTRUCTION, examples=["Move cars from the river bank."])


class FloodFrequencySettings(RequestModel):
    """How the floods of a basin's record are analysed."""

    model_config = examples({"regional_skew": -0.17, "regional_skew_error": 0.12, "trend_adjusted": False})

    regional_skew: float | None = Field(
        None,
        ge=-3,
        le=3,
        description="Skew of the logarithms of floods in the region, from a published study; null to use the record's.",
    )
    regional_skew_error: float | None = Field(
        None, gt=0, le=10, description="Mean square error of the regional skew; with it, and only with it."
    )
    trend_adjusted: bool = Field(
        False,
        description="Whether floods are moved to the conditions of the record's last year where the test finds a "
        "trend (Mann-Kendall, 5 %), by its slope (Sen).",
    )

    @model_validator(mode="after")
    def _together(self) -> Self:
        if (self.regional_skew is None) != (self.regional_skew_error is None):
            raise ValueError("a regional skew needs its mean square error, and the error the skew: give both or none")
        return self


class NewThreshold(FixedLevel):
    """A threshold and its name."""

    name: Name


CategoryName = Literal["action", "minor", "moderate", "major"]
CATEGORIES: tuple[CategoryName, ...] = get_args(CategoryName)
"""Ordered from the least severe."""
MAX_IMPACT = 2000
"""Longest text of a level, in characters; what is beyond is cut off with an ellipsis."""
_NONE = -999.0


class InvalidCategories(InvalidInput):
    """The file of flood categories cannot be used."""


class NoCategories(InvalidCategories):
    """None of the categories has a stage or a flow."""


@dataclass(frozen=True, slots=True)
class Category:
    """An official flood category.

    Attributes:
        stage: m above the gauge's datum; None where the file gives none.
        flow: m3/s; None likewise.
        impact: what happens from this stage on, below that of the next category; None where the file has nothing.
    """

    name: CategoryName
    stage: float | None
    flow: float | None
    impact: str | None


class NewCategories(RequestModel):
    """Official flood categories of a basin's gauge."""

    document: dict[str, Any] = Field(
        description="The JSON of a gauge of NOAA's National Water Prediction Service, with `flood.categories`.",
        examples=[
            {
                "flood": {
                    "stageUnits": "ft",
                    "flowUnits": "cfs",
                    "categories": {"action": {"stage": 9, "flow": -9999}, "minor": {"stage": 11, "flow": -9999}},
                    "impacts": [{"stage": 11, "statement": "Water covers the mill road."}],
                }
            }
        ],
    )
    source: Line = Field(description="Who declared them.", examples=["NOAA/NWS"])
    day: DayField | None = Field(None, description="The day that they are from; by default today.")
    instructions: dict[CategoryName, Note] = Field(
        {},
        description="What to do from a category on, in the words of the agency that is responsible; by category.",
        examples=[{"minor": "Move cars from the river bank."}],
    )


class _Loose(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False)


class _Category(_Loose):
    stage: float | None = None
    flow: float | None = None


class _Impact(_Loose):
    stage: float
    statement: str = Field(max_length=20_000)


class _Flood(_Loose):
    stage_units: str = Field("ft", alias="stageUnits")
    flow_units: str = Field("cfs", alias="flowUnits")
    categories: dict[str, _Category]
    impacts: list[_Impact] = Field([], max_length=500)


class _Gauge(_Loose):
    flood: _Flood
    usgs: str | None = Field(None, alias="usgsId", max_length=40)


def read_categories(document: Any) -> tuple[str | None, list[Category]]:
    """Return the USGS number that a gauge's document names, if any, and its categories.

    Raises:
        InvalidCategories: it has another shape, none of the categories, or categories out of order.
    """
    try:
        gauge = _Gauge.model_validate(document)
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(str(part) for part in fault["loc"])[:80] or "the document"
        raise InvalidCategories(
            f"In {place}: {fault['msg']}. Give the JSON of a gauge of api.water.noaa.gov (flood.categories)."
        ) from None
    flood = gauge.flood
    if flood.stage_units not in STAGE_SIZES or flood.flow_units not in FLOW_SIZES:
        raise InvalidCategories(
            f"The units are {flood.stage_units[:16]!r} and {flood.flow_units[:16]!r}: known are "
            f"{', '.join(STAGE_SIZES)} and {', '.join(FLOW_SIZES)}."
        )
    found = [(name, flood.categories[name]) for name in CATEGORIES if name in flood.categories]
    stages = {name: of.stage for name, of in found if of.stage is not None and of.stage > _NONE}
    flows = {name: of.flow * FLOW_SIZES[flood.flow_units] for name, of in found if of.flow is not None and of.flow > 0}
    known = [
        Category(
            name,
            stages[name] * STAGE_SIZES[flood.stage_units] if name in stages else None,
            flows.get(name),
            _impact(name, stages, flood.impacts),
        )
        for name, _ in found
        if name in stages or name in flows
    ]
    if not known:
        raise NoCategories("None of the categories action, minor, moderate, major has a stage or a flow.")
    for noun, values in (("stages", [*stages.values()]), ("flows", [*flows.values()])):
        if values != sorted(values):
            raise InvalidCategories(f"The {noun} of the categories do not rise from action to major: correct the file.")
    if max(flows.values(), default=0) > HIGHEST:
        raise InvalidCategories(f"A flow of the categories is above {HIGHEST:g} m³/s: correct the file, or its units.")
    return gauge.usgs or None, known


def _impact(name: CategoryName, stages: dict[CategoryName, float], impacts: list[_Impact]) -> str | None:
    if name not in stages:
        return None
    following = min((stage for stage in stages.values() if stage > stages[name]), default=float("inf"))
    of = sorted((one for one in impacts if stages[name] <= one.stage < following), key=lambda one: one.stage)
    text = " ".join(" ".join(one.statement.split()) for one in of)
    text = "".join(filter(is_shown, text))
    return (text if len(text) <= MAX_IMPACT else text[: MAX_IMPACT - 1] + "…") or None


_EXAMPLE = "stage_ft,discharge_cfs\n2.0,12\n4.0,160\n9.0,1500\n"


class NewRating(RequestModel):
    """A rating table of a basin's gauge."""

    model_config = examples({"table": _EXAMPLE, "source": "river office, rating 12", "datum": "NAVD88, 231.40 ft"})

    table: str = Field(
        min_length=1,
        max_length=MAX_CHARACTERS,
        description="The file as it is: RDB of the USGS (type `exsa` or `base`), or CSV with the columns `stage_ft` or "
        "`stage_m`, and `discharge_cfs` or `discharge_m3_per_s`.",
    )
    source: Line = Field(description="Where the table is from.", examples=["waterdata.usgs.gov"])
    datum: Line | None = Field(None, description="What the gauge's zero refers to.")
    valid_from: DayField | None = Field(None, description="The first day that it holds for; by default today.")
