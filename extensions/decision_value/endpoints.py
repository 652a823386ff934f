"""/v1/basins/{basin}/decision-value: what acting on the chance of high flow is worth."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.schemas import BasinKind, kind_of
from app.exports.answers import JsonAnswer, documented_responses
from app.http.base_schema import EXPLAINED, Missing, Model
from app.http.dependencies import OF_VERSION, BasinId, ChosenVersion, Reading
from app.http.json_numbers import column, rounded
from app.versions.verification import NotVerified, OfLead, OfSeason, verified_in
from extensions.decision_value.acting import CHANCES, COST_LOSS_RATIOS, ActingAtChance
from hydrology.base.absent import absent
from hydrology.base.reasons import Reason
from hydrology.verification.results import ALL_YEAR, Season
from records.verification.lead_scores import BasinVerification

router = APIRouter(tags=["skill"])

CostLoss = Annotated[
    float | None,
    Query(description="Only this cost of acting over the loss avoided; by default several.", ge=0.001, le=0.999),
]


class LeadValue(OfLead):
    """The value of acting on the forecasts of one lead time."""

    n: int = Field(description="Number of forecasts.")
    threshold_mm_per_day: float | None = Field(description="The threshold, as in `/verification`.")
    base_rate: float | None = Field(description="Share of the days on which it was passed.")
    hit_rate: list[float] | None = Field(description="Share of these days with action, for each of `act_at`.")
    false_alarm_rate: list[float] | None = Field(
        description="Share of the other days with action, for each of `act_at`."
    )
    value: list[list[float]] | None = Field(
        description="Relative economic value: a list for each of `act_at`, with a value for each of `cost_loss`. 1 is "
        "perfect; 0 is the better of always and never acting."
    )
    best_act_at: list[float] | None = Field(description="The chance of the highest value, for each of `cost_loss`.")
    missing: Missing = EXPLAINED


class DecisionValue(Model):
    """The worth of acting on the chance of high flow, in the cost-loss model (Richardson 2000)."""

    basin: str
    basin_kind: BasinKind
    version: str = Field(description="The model version.")
    season: Season
    act_at: list[float] = Field(description="Somebody acts where the chance of passing the threshold is as high.")
    cost_loss: list[float] = Field(description="The cost of acting over the loss that acting avoids.")
    leads: list[LeadValue] = Field(description="By origin, weather, period, lead and forecaster.")


@router.get(
    "/basins/{basin}/decision-value",
    summary="What acting on the chance of high flow is worth in a basin",
    **documented_responses(DecisionValue, *OF_VERSION, NotVerified),
)
def read_decision_value(
    session: Reading,
    basin: BasinId,
    answer: JsonAnswer,
    version: ChosenVersion = None,
    season: OfSeason = ALL_YEAR,
    cost_loss: CostLoss = None,
) -> Response:
    """The relative economic value of acting at each chance of passing the threshold, for each ratio of the cost of
    acting to the loss avoided, by lead time: which chance to act on."""
    ratios = COST_LOSS_RATIOS if cost_loss is None else (cost_loss,)
    return answer.of(decision_value_of(session, basin, version, season, ratios))


def decision_value_of(
    session: Session, basin: str, version: str | None, season: Season, ratios: tuple[float, ...]
) -> DecisionValue:
    """Return what the forecasts of a version (by default the current one) are worth in a basin."""
    asked, rows = verified_in(session, basin, version, season)
    return DecisionValue(
        basin=basin,
        basin_kind=kind_of(session, basin),
        version=asked,
        season=season,
        act_at=list(CHANCES),
        cost_loss=list(ratios),
        leads=[_of_lead(row, ratios) for row in rows],
    )


def _of_lead(row: BasinVerification, ratios: tuple[float, ...]) -> LeadValue:
    scores, tenths = row.scores, row.scores.reliability
    why = scores.missing.get("reliability", absent(Reason.ALWAYS_OR_NEVER_PASSED))
    acting = None if tenths is None else ActingAtChance.of_tenths(tenths.forecast, tenths.observed, tenths.days)
    worth: dict[str, Any] = dict.fromkeys(("base_rate", "hit_rate", "false_alarm_rate", "value", "best_act_at"), why)
    if acting is not None:
        value = acting.value(ratios)
        worth = {
            "base_rate": rounded(acting.base_rate),
            "hit_rate": column(acting.hit_rate),
            "false_alarm_rate": column(acting.false_alarm_rate),
            "value": [column(of_chance) for of_chance in value],
            "best_act_at": [CHANCES[at] for at in value.argmax(axis=0)],
        }
    threshold = why if scores.threshold_mm_per_day is None else scores.threshold_mm_per_day
    return LeadValue.from_records(row, scored=row.version_id, n=scores.n, threshold_mm_per_day=threshold, **worth)
