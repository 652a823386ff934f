"""/v1/verification/worst: errors of verified forecasts, split by cause."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.schemas import BasinKind, kind_of
from app.exports.answers import JsonAnswer, documented_responses
from app.forecasts.words import number, signed
from app.http.base_schema import EXPLAINED, Missing, Model, OfBasin, Period, maybe
from app.http.dependencies import OptionalBasin, OptionalVersion, Reading
from app.http.problems import refused
from app.http.shown import As
from app.versions.verification import OfSeason
from hydrology.attribution import CAUSES, ErrorSplit, Measure
from hydrology.base import calendar
from hydrology.base.absent import absent
from hydrology.base.errors import counted
from hydrology.base.reasons import Reason
from hydrology.verification.results import ALL_YEAR, Season
from jobspec.fields import DayField
from records.basins import basins
from records.verification import error_splits
from records.versions import versions

ErrorParts = Annotated[ErrorSplit, As("ErrorParts", exact=True)]


class ForecastError(OfBasin):
    """The error of a run's forecast of a basin over its days ahead."""

    basin_kind: BasinKind
    run: str
    version: str = Field(description="The model version.")
    t0: date
    days: Period = Field(description="The days ahead.")
    weather: str = Field(
        description="After T0: `observed`, `climatology`, or a weather forecast, by its source and model."
    )
    volume: ErrorParts = Field(description="The volume of all days, mm over the basin.")
    peak: ErrorParts = Field(description="The highest day of the mean of members and traces, mm/day.")
    in_words: str = Field(description="The same in a sentence, of the measure asked for.")
    verified_at: datetime


MeanSizes = Annotated[error_splits.MeanError, As("MeanSizes", exact=True)]


class MeanErrors(Model):
    """Mean sizes by measure."""

    volume: MeanSizes = Field(description="mm.")
    peak: MeanSizes = Field(description="mm/day.")


class WorstErrors(Model):
    """The forecasts with the largest errors, and the mean size of all."""

    of: Measure
    season: Season
    forecasts: int = Field(description="Number of verified forecasts, of which these are the worst.")
    means: MeanErrors | None = Field(description="The mean size of their errors and parts.")
    cases: list[ForecastError] = Field(
        description="The largest error first. Of forecasts of a basin whose days overlap only the worst is listed."
    )
    missing: Missing = EXPLAINED


_UNITS: Mapping[Measure, str] = {"volume": "mm", "peak": "mm/day"}


def worst_errors(session: Session, of: Measure, chosen: error_splits.ErrorFilter, limit: int) -> WorstErrors:
    """Return the forecasts with the largest errors of a measure, and the mean sizes of all."""
    means = error_splits.means(session, chosen)
    return WorstErrors(
        of=of,
        season=chosen.season,
        forecasts=error_splits.count(session, chosen),
        means=maybe(
            means or absent(Reason.NO_ERROR_SPLIT),
            lambda known: MeanErrors(**{str(measure): mean for measure, mean in known.items()}),
        ),
        cases=[_case(session, one, of) for one in error_splits.worst(session, of, chosen, limit)],
    )


def _case(session: Session, error: error_splits.ForecastError, of: Measure) -> ForecastError:
    first, last = (error.t0 + np.timedelta64(days, "D") for days in (1, error.horizon_days))
    return ForecastError.from_records(
        error,
        basin_kind=kind_of(session, error.basin_id),
        days=Period.between(first, last),
        in_words=_in_words(getattr(error, of), of, error.horizon_days),
    )


def _in_words(split: ErrorSplit, of: Measure, days: int) -> str:
    what = f"{'volume' if of == 'volume' else 'highest'} of {counted(days, 'day')}"
    parts = ", ".join(f"{signed(getattr(split, cause))} by the {cause.replace('_', ' ')}" for cause in CAUSES)
    forecast, observed = number(split.observed + split.error), number(split.observed)
    return f"The {what} was forecast as {forecast} {_UNITS[of]}, and {observed} came: {signed(split.error)}, {parts}."


router = APIRouter(prefix="/verification", tags=["skill"])

MAX_CASES = 100
_FIRST, _LAST = calendar.day("0001-01-01"), calendar.day("9999-12-31")

Of = Annotated[Measure, Query(description="The measure of the error: the volume of the days ahead, or their peak.")]
Start = Annotated[DayField | None, Query(description="Only forecasts with this T0 or a later one.")]
End = Annotated[DayField | None, Query(description="Only forecasts with this T0 or an earlier one.")]
Limit = Annotated[int, Query(description="Number of forecasts.", ge=1, le=MAX_CASES)]


@router.get(
    "/worst",
    summary="The worst forecasts, and what went wrong",
    **documented_responses(WorstErrors, basins.UnknownBasin, versions.UnknownVersion),
)
def read_worst_errors(
    session: Reading,
    answer: JsonAnswer,
    of: Of = "volume",
    version: OptionalVersion = None,
    basin: OptionalBasin = None,
    season: OfSeason = ALL_YEAR,
    start: Start = None,
    end: End = None,
    limit: Limit = 10,
) -> Response:
    """The verified operational forecasts with the largest errors of volume or peak, for instance of a season. Each
    error is split exactly into those of the weather after T0, of the initial state and of the network, by reruns with
    the weather that came; the mean size of each over all verified forecasts is given beside. A forecast is verified
    once the flow of all its days is 30 days old."""
    if version is not None:
        versions.get(session, version)
    if basin is not None:
        basins.require(session, basin)
    if start is not None and end is not None and start > end:
        raise refused("start", "it is later than `end`: exchange them.")
    t0 = None  # a day that NumPy takes for false, 1970-01-01, is one
    if start is not None or end is not None:
        t0 = calendar.Period(_FIRST if start is None else start, _LAST if end is None else end)
    chosen = error_splits.ErrorFilter(version=version, basin=basin, season=season, t0=t0)
    return answer.of(worst_errors(session, of, chosen, limit))
