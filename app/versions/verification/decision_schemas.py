"""Answers about what forecasts are good for: to which day ahead, and which chance to act on."""

from pydantic import Field

from app.basins.schemas import BasinKind
from app.http.base_schema import Missing, Model, Period
from app.versions.scores.schemas import SCORED, USE
from app.versions.verification.schemas import INDEPENDENT
from hydrology.verification.held_out_years import PeriodUse
from hydrology.verification.results import Season
from records.verification.lead_scores import Origin


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


class ForecasterHeadline(Model):
    """The headline of one forecaster and weather over a period."""

    origin: Origin = Field(description="`reforecast` or `issued`, as in `/verification`.")
    weather: str = Field(description="After T0, as in `/verification`.")
    scored: str = Field(description=SCORED)
    period: Period
    period_use: PeriodUse = Field(description=USE)
    forecaster: str = Field(description="`calibrated` or `raw`.")
    months: list[MonthHeadline] = Field(description="January first.")
    missing: Missing


class SkilfulDays(Model):
    """Until which day ahead forecasts of a basin are better than climatology, by month."""

    basin: str
    basin_kind: BasinKind
    version: str = Field(description="The model version.")
    headlines: list[ForecasterHeadline] = Field(description="By origin, weather, period and forecaster.")


class LeadValue(Model):
    """The value of acting on the forecasts of one lead time."""

    origin: Origin = Field(description="`reforecast` or `issued`, as in `/verification`.")
    weather: str = Field(description="After T0, as in `/verification`.")
    scored: str = Field(description=SCORED)
    period: Period
    period_use: PeriodUse = Field(description=USE)
    forecaster: str
    lead: int = Field(description="Days after T0.")
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
    missing: Missing


class DecisionValue(Model):
    """The worth of acting on the chance of high flow, in the cost-loss model (Richardson 2000)."""

    basin: str
    basin_kind: BasinKind
    version: str = Field(description="The model version.")
    season: Season
    act_at: list[float] = Field(description="Somebody acts where the chance of passing the threshold is as high.")
    cost_loss: list[float] = Field(description="The cost of acting over the loss that acting avoids.")
    leads: list[LeadValue] = Field(description="By origin, weather, period, lead and forecaster.")
