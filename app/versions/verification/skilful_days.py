"""/v1/basins/{basin}/skilful-days"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from fastapi import APIRouter, Response
from sqlalchemy.orm import Session

from app.exports.answers import JsonAnswer, documented_responses
from app.http.base_schema import Absences
from app.http.dependencies import BasinId, ChosenVersion, Reading
from app.versions.verification import service
from app.versions.verification.decision_schemas import ForecasterHeadline, MonthHeadline, SkilfulDays
from app.versions.verification.schemas import LeadVerification, MonthSkill
from app.versions.verification.service import NotVerified
from hydrology.verification.results import ALL_YEAR
from hydrology.verification.skilful_days import skilful_days
from records.basins.basins import UnknownBasin
from records.forecasts.latest import NoModel
from records.versions.versions import UnknownVersion

router = APIRouter(tags=["skill"])


@router.get(
    "/basins/{basin}/skilful-days",
    summary="How many days ahead forecasts of a basin are skilful, by month",
    **documented_responses(SkilfulDays, UnknownBasin, UnknownVersion, NoModel, NotVerified),
)
def read_skilful_days(session: Reading, basin: BasinId, answer: JsonAnswer, version: ChosenVersion = None) -> Response:
    """The headline of the verification: the longest lead time up to which forecasts beat the flow of other years, with
    the whole interval of their CRPS skill above 0, for each calendar month."""
    return answer.of(of_basin(session, basin, version))


def of_basin(session: Session, basin: str, version: str | None) -> SkilfulDays:
    """Return the headlines of a version (by default the current one) in a basin.

    Raises:
        UnknownBasin, UnknownVersion, NoModel, NotVerified: as `service.of_basin`.
    """
    verified = service.of_basin(session, basin, version, ALL_YEAR)
    rows = [row for row in verified.verification if row.forecaster in ("calibrated", "raw")]
    groups = groupby(sorted(rows, key=_group), _group)
    return SkilfulDays(
        basin=basin,
        basin_kind=verified.basin_kind,
        version=verified.version,
        headlines=[_headline(list(of_group)) for _, of_group in groups],
    )


def by_month(rows: Iterable[LeadVerification], month: int) -> Mapping[int, MonthSkill]:
    """Return the skill of a month by lead, from the verification of one forecaster."""
    return {row.lead: row.months[month - 1] for row in rows if row.months}


def _group(row: LeadVerification) -> tuple[str, ...]:
    return row.origin, row.weather, row.period.first_day.isoformat(), row.period.last_day.isoformat(), row.forecaster


def _headline(rows: Sequence[LeadVerification]) -> ForecasterHeadline:
    missing = Absences()
    months = []
    for month in range(1, 13):
        found = missing.present(f"months.{month - 1}", skilful_days(by_month(rows, month)))
        months.append(
            MonthHeadline(
                month=month,
                skilful_to_day=None if found is None else found.days,
                verified_to_day=None if found is None else found.verified_days,
                independent_issues=None if found is None else found.independent_issues,
            )
        )
    row = rows[0]
    return ForecasterHeadline(
        origin=row.origin,
        weather=row.weather,
        scored=row.scored,
        period=row.period,
        period_use=row.period_use,
        forecaster=row.forecaster,
        months=months,
        missing=missing.texts,
    )
