"""Builds the answers about verification."""

from collections.abc import Callable
from dataclasses import asdict
from typing import TypeVar

from sqlalchemy.orm import Session

from app.basins.schemas import kind_of
from app.http.base_schema import Period
from app.versions.verification.schemas import (
    BasinVerification,
    LeadVerification,
    ModelVerification,
    PooledLead,
    PooledScore,
)
from hydrology.base.absent import texts
from hydrology.base.errors import NotFound
from hydrology.verification.results import Season
from records.basins import basins
from records.database.statements import as_values
from records.forecasts.latest import asked_version
from records.verification import lead_scores
from records.versions import versions


class NotVerified(NotFound):
    """No verification of that version or basin is stored."""

    kind = "not-verified"
    remedy = "Verify the version: `freshet verify`, or post a job of the kind `verification`."


def of_basin(session: Session, basin: str, version: str | None, season: Season) -> BasinVerification:
    """Return the verification of a version (by default the current one) in a basin.

    Raises:
        UnknownBasin, UnknownVersion: one of them is not stored.
        NoModel: no version is named, and none is current.
        NotVerified: no verification of it is stored.
    """
    basins.require(session, basin)
    asked = asked_version(session, basin, version)
    rows = _with_twin(asked, lambda of: lead_scores.of_basin(session, of, basin, season))
    if not rows:
        raise NotVerified(f"No forecast of version {asked.id} in {basin} was verified: {_mend(asked.id)}")
    return BasinVerification(
        basin=basin,
        basin_kind=kind_of(session, basin),
        version=asked.id,
        season=season,
        verification=[_of_lead(row) for row in rows],
    )


def of_model(session: Session, version: str, season: Season) -> ModelVerification:
    """Return the verification of a version over its basins.

    Raises:
        UnknownVersion: there is none of that id.
        NotVerified: no verification of it is stored.
    """
    asked = versions.get(session, version)
    rows = _with_twin(asked, lambda of: lead_scores.pooled(session, of, season))
    if not rows:
        raise NotVerified(f"No forecast of version {version} was verified: {_mend(version)}")
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


def _mend(version: str) -> str:
    return (
        f"ask for another, reforecast past days with it (freshet reforecast --version {version}), or verify its "
        "issued forecasts (freshet verify)."
    )
