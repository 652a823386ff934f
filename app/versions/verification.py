"""/v1/basins/{basin}/verification and /v1/models/{version}/verification."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, TypeVar

from fastapi import APIRouter, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.schemas import BasinKind, kind_of
from app.exports.answers import JsonAnswer, documented_responses
from app.http.base_schema import Missing, Model, Period
from app.http.dependencies import OF_VERSION, BasinId, ChosenVersion, Reading, VersionId
from app.http.shown import As, extended, model_of, shown_fields
from app.versions.scores import SCORED, USE
from hydrology.base.absent import texts
from hydrology.base.errors import NotFound
from hydrology.scores.comparisons import Quartiles
from hydrology.verification.held_out_years import PeriodUse
from hydrology.verification.results import ALL_YEAR, Season, Verification
from records.forecasts.latest import asked_version
from records.verification import lead_scores
from records.versions import versions

router = APIRouter(tags=["skill"])

OfSeason = Annotated[
    Season, Query(description="Season of the forecast days: `all`, or three months by their initials.")
]


class OfForecaster(Model):
    """The forecaster, weather and period."""

    origin: lead_scores.Origin = Field(
        description="`reforecast`: computed afterwards for past days. `issued`: as issued by the service day by day, "
        "verified with later observations."
    )
    weather: str = Field(
        description="After T0. `observed`: observed weather. `climatology`: that of other years. Else a weather "
        "forecast, by its source and model."
    )
    scored: str = Field(description=SCORED)
    period: Period = Field(description="T0 and the forecast days lie in it.")
    period_use: PeriodUse = Field(description=f"Of the verified days: those of the training are left out. {USE}")
    forecaster: str = Field(
        description="`calibrated`: the quantiles of the version's error model. `raw`: the uncalibrated members. "
        "`climatology`: the flow of other water years within a week of the day of the year. `persistence`: the last "
        "observed flow; `damped-persistence`: that on its way to the mean flow, by the correlation of flow at the "
        "lead. `rival NAME`: a rival's forecasts; `beside NAME`: the own ones of the same days. `adjusted`: the "
        "forecasts that a forecaster adjusted and published; `as-issued`: the same ones before that."
    )


class OfLead(OfForecaster):
    """The forecaster, weather, period and lead time."""

    lead: int = Field(description="Days after T0.")


_ALL_DIGITS = As(exact=True)
_OF_SCORES = shown_fields(Verification, _ALL_DIGITS)
POOLED_SCORE = As("PooledScore", "A score over the basins; null where no basin has a value.", exact=True)


class _ByBasin(OfLead):
    every_days: int | None = Field(description="Days between successive T0; null for issued forecasts.")
    error_model: str | None = Field(
        description="Hash of the error model, the newest where there were several; null where none was used."
    )
    attributes_assumed: list[str] = Field(description="The attributes of the basin that were assumed.")


class LeadVerification(extended(_ByBasin, **_OF_SCORES)):  # type: ignore[misc]
    """The scores of one forecaster at one lead."""

    verified_at: datetime


class BasinVerification(Model):
    """Verification of a model version's forecasts in a basin."""

    basin: str
    basin_kind: BasinKind
    version: str = Field(description="The model version.")
    season: Season
    verification: list[LeadVerification] = Field(description="By origin, weather, period, lead and forecaster.")


class _OverBasins(OfLead):
    basins: int = Field(description="Number of basins.")


_OF_BASINS = {name: (model_of(Quartiles, POOLED_SCORE), _OF_SCORES[name][1]) for name in lead_scores.POOLED}


class PooledLead(extended(_OverBasins, **_OF_BASINS)):  # type: ignore[misc]
    """The quartiles over the basins of each score of one forecaster at one lead."""

    missing: Missing


class ModelVerification(Model):
    """Verification of a model version's forecasts over its basins."""

    version: str
    season: Season
    periods: list[Period] = Field(description="The stored periods.")
    verification: list[PooledLead] = Field(description="By origin, weather, period, lead and forecaster.")


class NotVerified(NotFound):
    """No verification of that version or basin is stored."""

    remedy = "Verify the version: `freshet verify`, or post a job of the kind `verification`."


def verified_in(
    session: Session, basin: str, version: str | None, season: Season
) -> tuple[str, list[lead_scores.BasinVerification]]:
    """Return a version (by default the current one) and its stored verification in a basin."""
    asked = asked_version(session, basin, version)
    rows = _with_twin(asked, lambda of: lead_scores.of_basin(session, of, basin, season))
    if not rows:
        raise _not_verified(f"{asked.id} in {basin}", asked.id)
    return asked.id, rows


def basin_verification(session: Session, basin: str, version: str | None, season: Season) -> BasinVerification:
    """Return the verification of a version (by default the current one) in a basin."""
    asked, rows = verified_in(session, basin, version, season)
    return BasinVerification(
        basin=basin,
        basin_kind=kind_of(session, basin),
        version=asked,
        season=season,
        verification=[
            LeadVerification.from_records(row, scored=row.version_id, **_ALL_DIGITS.values(row.scores)) for row in rows
        ],
    )


def model_verification(session: Session, version: str, season: Season) -> ModelVerification:
    asked = versions.get(session, version)
    rows = _with_twin(asked, lambda of: lead_scores.pooled(session, of, season))
    if not rows:
        raise _not_verified(version, version)
    periods = dict.fromkeys(row.period for row in rows)
    return ModelVerification(
        version=version,
        season=season,
        periods=[Period.between(period.first, period.last) for period in periods],
        verification=[_pooled(row) for row in rows],
    )


def _pooled(row: lead_scores.PooledVerification) -> PooledLead:
    scores = {name: POOLED_SCORE.model(quartiles) for name, quartiles in row.scores.items()}
    shown: PooledLead = PooledLead.from_records(row, scored=row.version_id, missing=texts(row.missing), **scores)
    return shown


Row = TypeVar("Row", lead_scores.BasinVerification, lead_scores.PooledVerification)


def _with_twin(asked: versions.Version, rows_of: Callable[[str], list[Row]]) -> list[Row]:
    """Return a version's stored rows, with its twin's reforecasts if it has none itself."""
    rows = rows_of(asked.id)
    of_twin = [] if any(row.origin == "reforecast" for row in rows) else rows_of(asked.scored_as)
    return rows + [row for row in of_twin if row.origin == "reforecast"]


def _not_verified(what: str, version: str) -> NotVerified:
    return NotVerified(
        f"No forecast of version {what} was verified: ask for another, reforecast past days with it (freshet "
        f"reforecast --version {version}), or verify its issued forecasts (freshet verify)."
    )


@router.get(
    "/basins/{basin}/verification",
    summary="Verification of the forecasts in a basin, by lead time",
    **documented_responses(BasinVerification, *OF_VERSION, NotVerified),
)
def read_basin_verification(
    session: Reading, basin: BasinId, answer: JsonAnswer, version: ChosenVersion = None, season: OfSeason = ALL_YEAR
) -> Response:
    """Forecasts of a model version verified against observations, with climatology and persistence, by lead time:
    reforecasts of past days with observed weather, and issued forecasts by their weather."""
    return answer.of(basin_verification(session, basin, version, season))


@router.get(
    "/models/{version}/verification",
    summary="Verification of a model version over its basins, by lead time",
    **documented_responses(ModelVerification, versions.UnknownVersion, NotVerified),
)
def read_model_verification(
    session: Reading, version: VersionId, answer: JsonAnswer, season: OfSeason = ALL_YEAR
) -> Response:
    """The median and the quartiles of each score over the basins, by origin, weather, period, lead and forecaster."""
    return answer.of(model_verification(session, version, season))
