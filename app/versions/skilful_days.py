"""/v1/basins/{basin}/skilful-days: to which day ahead forecasts are skilful, by month."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from fastapi import APIRouter, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.schemas import BasinKind, kind_of
from app.exports.answers import JsonAnswer, documented_responses
from app.http.base_schema import Missing, Model
from app.http.dependencies import OF_VERSION, BasinId, ChosenVersion, Reading
from app.versions.verification import NotVerified, OfForecaster, verified_in
from hydrology.base.absent import Absent
from hydrology.verification.results import ALL_YEAR, INDEPENDENT, MonthSkill
from hydrology.verification.skilful_days import skilful_days
from records.verification.lead_scores import BasinVerification

router = APIRouter(tags=["skill"])


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
