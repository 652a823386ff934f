"""What forecasts are good for: to which day ahead they are skilful, and which chance to act on."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.schemas import BasinKind, kind_of
from app.exports.answers import JsonAnswer, documented_responses
from app.http.base_schema import EXPLAINED, Missing, Model
from app.http.dependencies import OF_VERSION, BasinId, ChosenVersion, Reading
from app.http.json_numbers import column, rounded
from app.versions.verification import NotVerified, OfForecaster, OfLead, OfSeason, verified_in
from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from hydrology.scores.probabilistic import CHANCES, COST_LOSS_RATIOS, ActingAtChance
from hydrology.verification.results import ALL_YEAR, INDEPENDENT, MonthSkill, Season
from hydrology.verification.skilful_days import skilful_days
from records.verification.lead_scores import BasinVerification

router = APIRouter(tags=["skill"])

CostLoss = Annotated[
    float | None,
    Query(description="Only this cost of acting over the loss avoided; by default several.", ge=0.001, le=0.999),
]


class MonthHeadline(Model):
    """Until which day ahead forecasts of a month are skilful."""

    month: int = Field(description="Calendar month of the forecast day, 1 to 12.", ge=1, le=12)
    skilful_to_day: int | None = Field(
        description="The last day ahead up to which, from the first on, the whole 95 % interval of the skill against "
        "climatology is above 0; 0 where the first day has none. Null where it cannot be decided."
    )
    verified_to_day: int | None = Field(
        description="The last day ahead that was verified with enough independent forecasts, from the first on: skill "
        "may last longer if it is equal."
    )
    independent_issues: int | None = Field(description=f"At `skilful_to_day`, or at the first day. {INDEPENDENT}")


class ForecasterHeadline(OfForecaster):
    """The headline of one forecaster, `calibrated` or `raw`, and weather over a period."""

    months: list[MonthHeadline] = Field(description="January first.")
    missing: Missing


class SkilfulDays(Model):
    """Until which day ahead forecasts of a basin are better than climatology, by month."""

    basin: str
    basin_kind: BasinKind
    version: str = Field(description="The model version.")
    headlines: list[ForecasterHeadline] = Field(description="By origin, weather, period and forecaster.")


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
    "/basins/{basin}/skilful-days",
    summary="How many days ahead forecasts of a basin are skilful, by month",
    **documented_responses(SkilfulDays, *OF_VERSION, NotVerified),
)
def read_skilful_days(session: Reading, basin: BasinId, answer: JsonAnswer, version: ChosenVersion = None) -> Response:
    """The headline of the verification: the longest lead time up to which forecasts beat the flow of other years, with
    the whole interval of their CRPS skill above 0, for each calendar month."""
    return answer.of(skilful_days_of(session, basin, version))


def skilful_days_of(session: Session, basin: str, version: str | None) -> SkilfulDays:
    """Return the headlines of a version (by default the current one) in a basin."""
    asked, rows = verified_in(session, basin, version, ALL_YEAR)
    stated = sorted((row for row in rows if row.forecaster in ("calibrated", "raw")), key=_group)
    headlines = [_headline(list(of_group)) for _, of_group in groupby(stated, _group)]
    return SkilfulDays(basin=basin, basin_kind=kind_of(session, basin), version=asked, headlines=headlines)


def by_month(rows: Iterable[BasinVerification], month: int) -> Mapping[int, MonthSkill]:
    """Return the skill of a month by lead, from the verification of one forecaster."""
    return {row.lead: row.scores.months[month - 1] for row in rows if row.scores.months}


def _group(row: BasinVerification) -> tuple[str, ...]:
    return row.origin, row.weather, str(row.first_day), str(row.last_day), row.forecaster


def _headline(rows: Sequence[BasinVerification]) -> ForecasterHeadline:
    found = {month: skilful_days(by_month(rows, month)) for month in range(1, 13)}
    return ForecasterHeadline.from_records(
        rows[0],
        scored=rows[0].version_id,
        months=[
            MonthHeadline(
                month=month,
                skilful_to_day=None if isinstance(days, Absent) else days.days,
                verified_to_day=None if isinstance(days, Absent) else days.verified_days,
                independent_issues=None if isinstance(days, Absent) else days.independent_issues,
            )
            for month, days in found.items()
        ],
        missing={f"months.{month - 1}": str(days) for month, days in found.items() if isinstance(days, Absent)},
    )


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
