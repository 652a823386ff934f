"""Answers about skill."""

from datetime import datetime

from pydantic import Field

from app.basins.schemas import BasinKind
from app.http.base_schema import Missing, Model, Period, ReasonText
from hydrology.verification.held_out_years import PeriodUse

NOT_TRAINED = "not trained on snow"
SCORED = (
    "The version whose scores these are: the same, or its twin, the same recipe trained on fewer years, where it has "
    "none of its own because it has learnt from every year."
)
USE = (
    "How the training of the scored version used the days of the period: `held out` not at all, or it has not learnt "
    "from this basin; `validation` to choose its weights; `training` to fit them; `mixed` some of the days, or by some "
    "of the versions that it combines, or in some of the basins; `unknown` where the version does not state its "
    "days. Only a score on days that are held out is its skill: others flatter it."
)


class ScoreKey(Model):
    """The member, metric, lead time, period and reference of a score."""

    member: str = Field(
        description="A member's number, or `mean` for the members' mean. Of a version that combines others also the "
        "names of some of its weather products, joined by `+`: the mean with these alone."
    )
    metric: str = Field(description="`nse`, `kge`, `fhv` and so on; biases are in %.")
    period: Period
    period_use: PeriodUse = Field(description=USE)
    lead: str = Field(description="Days after T0; `all` for the score of a simulation.")
    season: str
    threshold: str
    forcing_kind: str = Field(description="The weather that drove the simulation.")
    reference: str = Field(description="The reference data.")


class Score(ScoreKey):
    """One score of a model version in a basin."""

    n: int = Field(description="Number of days with both values.")
    value: float | None
    reason: ReasonText | None = Field(description="Why there is no value; null where there is one.")
    low: float | None = Field(description="The lower end of its interval; null where none was computed.")
    high: float | None = Field(description="The upper end of its interval; null where none was computed.")
    attributes_assumed: list[str] = Field(
        description="The attributes of the basin that were assumed in the simulation, for they were not known."
    )
    shipped: bool = Field(
        description="Whether it came with the shipped ensemble, computed elsewhere; an evaluation here takes its place."
    )
    evaluated_at: datetime


class Agreement(Model):
    """Agreement of the snow cells with the reference over a period."""

    period: Period
    r: float | None = Field(description="Pearson's correlation; null for the reason that `reason` gives.")


class SnowSkill(Model):
    """The snow cells, chosen on the training period against reference snow, with their skill.

    The model was not trained on snow: the cells that follow it were found afterwards."""

    label: str = Field(description=f"Always `{NOT_TRAINED}`.")
    product: str = Field(description="The reference snow.")
    cells: dict[str, list[int]] = Field(description="The chosen cells of each member.")
    training: Agreement = Field(description="On the days used to choose the cells.")
    test: Agreement = Field(description="On other days.")
    bias_pct: float | None = Field(description="Bias on the test days, %.")
    where_none_mm: float | None = Field(
        description="Mean snow read on test days on which the reference has none, mm. Null where "
        "there are no such days, or if it was scored before this field existed."
    )
    reason: str | None = Field(description="Why a number is missing; null where none is.")
    evaluated_at: datetime


class BasinSkill(Model):
    """The scores of a model version in a basin."""

    basin: str
    basin_kind: BasinKind
    version: str = Field(description="The model version.")
    scored: str = Field(description=SCORED)
    seen_in_training: bool = Field(description="Whether the version learnt from this basin.")
    trained_on: str = Field(description="The weather product that the version learnt from.")
    product: str = Field(description="The weather product that it uses and was scored with.")
    scores: list[Score]
    snow: list[SnowSkill] = Field(description="Skill of its snow, by reference; empty where none was scored.")
    missing: Missing


class Quartiles(ScoreKey):
    """Quartiles of a score over the basins in which the days had the same use."""

    n: int = Field(description="Number of basins with a value.")
    lacking: int = Field(description="Number of basins without a value, with a reason.")
    shipped: int = Field(description="Number of values that came with the shipped ensemble, computed elsewhere.")
    p25: float | None
    median: float | None
    p75: float | None


class ModelSkill(Model):
    """The scores of a model version over its basins."""

    version: str
    scored: str = Field(description=SCORED)
    scores: list[Quartiles] = Field(description="Quartiles over the basins; null where no basin has a value.")
