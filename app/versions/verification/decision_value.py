"""/v1/basins/{basin}/decision-value"""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from sqlalchemy.orm import Session

from app.exports.answers import JsonAnswer, documented_responses
from app.http.dependencies import BasinId, ChosenVersion, Reading
from app.http.json_numbers import column, rounded
from app.versions.verification import service
from app.versions.verification.decision_schemas import DecisionValue, LeadValue
from app.versions.verification.endpoints import OfSeason
from app.versions.verification.schemas import LeadVerification
from app.versions.verification.service import NotVerified
from hydrology.base.absent import absent
from hydrology.base.reasons import Reason
from hydrology.scores.decision_value import CHANCES, COST_LOSS_RATIOS, ActingAtChance
from hydrology.verification.results import ALL_YEAR, Season
from records.basins.basins import UnknownBasin
from records.forecasts.latest import NoModel
from records.versions.versions import UnknownVersion

router = APIRouter(tags=["skill"])

CostLoss = Annotated[
    float | None,
    Query(description="Only this cost of acting over the loss avoided; by default several.", ge=0.001, le=0.999),
]


@router.get(
    "/basins/{basin}/decision-value",
    summary="What acting on the chance of high flow is worth in a basin",
    **documented_responses(DecisionValue, UnknownBasin, UnknownVersion, NoModel, NotVerified),
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
    return answer.of(of_basin(session, basin, version, season, COST_LOSS_RATIOS if cost_loss is None else (cost_loss,)))


def of_basin(
    session: Session, basin: str, version: str | None, season: Season, ratios: tuple[float, ...]
) -> DecisionValue:
    """Return what the forecasts of a version (by default the current one) are worth in a basin.

    Raises:
        UnknownBasin, UnknownVersion, NoModel, NotVerified: as `service.of_basin`.
    """
    verified = service.of_basin(session, basin, version, season)
    return DecisionValue(
        basin=basin,
        basin_kind=verified.basin_kind,
        version=verified.version,
        season=season,
        act_at=list(CHANCES),
        cost_loss=list(ratios),
        leads=[_of_lead(row, ratios) for row in verified.verification],
    )


def _of_lead(row: LeadVerification, ratios: tuple[float, ...]) -> LeadValue:
    fields = row.model_dump(
        include={
            "origin",
            "weather",
            "scored",
            "period",
            "period_use",
            "forecaster",
            "lead",
            "n",
            "threshold_mm_per_day",
        }
    )
    tenths = row.reliability
    acting = None if tenths is None else ActingAtChance.of_tenths(tenths.forecast, tenths.observed, tenths.days)
    if acting is None:
        reason = row.missing.get("reliability", str(absent(Reason.ALWAYS_OR_NEVER_PASSED)))
        names = ("base_rate", "hit_rate", "false_alarm_rate", "value", "best_act_at")
        unknown: dict[str, Any] = dict.fromkeys(names)
        lacking = [name for name, field in (fields | unknown).items() if field is None]
        return LeadValue(**fields, **unknown, missing=dict.fromkeys(lacking, reason))
    value = acting.value(ratios)
    return LeadValue(
        **fields,
        base_rate=rounded(acting.base_rate),
        hit_rate=column(acting.hit_rate),
        false_alarm_rate=column(acting.false_alarm_rate),
        value=[column(of_chance) for of_chance in value],
        best_act_at=[CHANCES[at] for at in value.argmax(axis=0)],
        missing={},
    )
