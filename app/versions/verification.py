"""/v1/basins/{basin}/verification and /v1/models/{version}/verification."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, TypeVar

from fastapi import APIRouter, Query, Response
from sqlalchemy.orm import Session

from app.basins.schemas import kind_of
from app.exports.answers import JsonAnswer, documented_responses
from app.http.base_schema import Period
from app.http.dependencies import BasinId, ChosenVersion, Reading, VersionId
from app.versions.verification_schemas import (
    BasinVerification,
    LeadVerification,
    ModelVerification,
    PooledLead,
    PooledScore,
)
from hydrology.base.absent import texts
from hydrology.base.errors import NotFound
from hydrology.verification.results import ALL_YEAR, Season
from records.basins import basins
from records.basins.basins import UnknownBasin
from records.database.stored import as_values
from records.forecasts.latest import NoModel, asked_version
from records.verification import lead_scores
from records.versions import versions
from records.versions.versions import UnknownVersion

router = APIRouter(tags=["skill"])

OfSeason = Annotated[
    Season, Query(description="Season of the forecast days: `all`, or three months by their initials.")
]


class NotVerified(NotFound):
    """No verification of that version or basin is stored."""

    kind = "not-verified"
    remedy = "Verify the version: `freshet verify`, or post a job of the kind `verification`."


def basin_verification(session: Session, basin: str, version: str | None, season: Season) -> BasinVerification:
    """Return the verification of a version (by default the current one) in a basin."""
    basins.require(session, basin)
    asked = asked_version(session, basin, version)
    rows = _with_twin(asked, lambda of: lead_scores.of_basin(session, of, basin, season))
    if not rows:
        raise _not_verified(f"{asked.id} in {basin}", asked.id)
    return BasinVerification(
        basin=basin,
        basin_kind=kind_of(session, basin),
        version=asked.id,
        season=season,
        verification=[_of_lead(row) for row in rows],
    )


def model_verification(session: Session, version: str, season: Season) -> ModelVerification:
    """Return the verification of a version over its basins."""
    asked = versions.get(session, version)
    rows = _with_twin(asked, lambda of: lead_scores.pooled(session, of, season))
    if not rows:
        raise _not_verified(version, version)
    return ModelVerification(
        version=version,
        season=season,
        periods=[Period.between(period.first, period.last) for period in dict.fromkeys(row.period for row in rows)],
        verification=[_pooled(row) for row in rows],
    )


Row = TypeVar("Row", lead_scores.BasinVerification, lead_scores.PooledVerification)


def _with_twin(asked: versions.Version, rows_of: Callable[[str], list[Row]]) -> list[Row]:
    """Return a version's stored rows, with its twin's reforecasts if it has none itself."""
    rows = rows_of(asked.id)
    of_twin = [] if any(row.origin == "reforecast" for row in rows) else rows_of(asked.scored_as)
    return rows + [row for row in of_twin if row.origin == "reforecast"]


def _of_lead(row: lead_scores.BasinVerification) -> LeadVerification:
    return LeadVerification(
        scored=row.version_id,
        period=Period.between(row.first_day, row.last_day),
        **as_values(row, "version_id", "basin_id", "first_day", "last_day", "season", "scores"),
        **asdict(row.scores) | {"missing": texts(row.scores.missing)},
    )


def _pooled(row: lead_scores.PooledVerification) -> PooledLead:
    fields = as_values(row, "version_id", "period", "season", "scores", "missing")
    fields |= {name: PooledScore(**asdict(cuts)) for name, cuts in row.scores.items()}
    period = Period.between(row.period.first, row.period.last)
    return PooledLead(scored=row.version_id, period=period, missing=texts(row.missing), **fields)


def _not_verified(what: str, version: str) -> NotVerified:
    return NotVerified(
        f"No forecast of version {what} was verified: ask for another, reforecast past days with it (freshet "
        f"reforecast --version {version}), or verify its issued forecasts (freshet verify)."
    )


@router.get(
    "/basins/{basin}/verification",
    summary="Verification of the forecasts in a basin, by lead time",
    **documented_responses(BasinVerification, UnknownBasin, UnknownVersion, NoModel, NotVerified),
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
    **documented_responses(ModelVerification, UnknownVersion, NotVerified),
)
def read_model_verification(
    session: Reading, version: VersionId, answer: JsonAnswer, season: OfSeason = ALL_YEAR
) -> Response:
    """The median and the quartiles of each score over the basins, by origin, weather, period, lead and forecaster."""
    return answer.of(model_verification(session, version, season))
