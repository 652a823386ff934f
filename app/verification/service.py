"""Verification from the records to its answers."""

from dataclasses import asdict

from sqlalchemy.orm import Session

from app.basins.schemas import kind_of
from app.schema import Period
from app.skill.service import asked_version
from app.verification.schemas import BasinVerification, LeadVerification, ModelVerification, PooledLead, PooledScore
from hydrology.errors import NotFound
from hydrology.verified import Season
from records import basins, verification, versions


class NotVerified(NotFound):
    """No verification of that version or basin is kept."""

    kind = "not-verified"


def of_basin(session: Session, basin: str, version: str | None, season: Season) -> BasinVerification:
    """Return how true the forecasts of a version in a basin were; of the one that is current for it where none is
    named.

    Raises:
        UnknownBasin, UnknownVersion: one of them is not kept.
        NoModel: no version is named, and none is current.
        NotVerified: nothing is kept of it.
    """
    basins.require(session, basin)
    asked = asked_version(session, basin, version)
    scored, rows = asked.id, verification.of_basin(session, asked.id, basin, season)
    if not rows and asked.twin_id is not None:
        scored, rows = asked.twin_id, verification.of_basin(session, asked.twin_id, basin, season)
    if not rows:
        raise NotVerified(f"No forecast of version {asked.id} in {basin} was verified: {_mend(asked.id)}")
    return BasinVerification(
        basin=basin,
        basin_kind=kind_of(basin),
        version=asked.id,
        scored=scored,
        season=season,
        verification=[_of_lead(row) for row in rows],
    )


def of_model(session: Session, version: str, season: Season) -> ModelVerification:
    """Return how true the forecasts of a version were over its basins.

    Raises:
        UnknownVersion: there is none of that id.
        NotVerified: nothing is kept of it.
    """
    asked = versions.get(session, version)
    scored, rows = version, verification.pooled(session, version, season)
    if not rows and asked.twin_id is not None:
        scored, rows = asked.twin_id, verification.pooled(session, asked.twin_id, season)
    if not rows:
        raise NotVerified(f"No forecast of version {version} was verified: {_mend(version)}")
    return ModelVerification(
        version=version,
        scored=scored,
        season=season,
        periods=[Period.between(period.first, period.last) for period in dict.fromkeys(row.period for row in rows)],
        verification=[_pooled(row) for row in rows],
    )


def _of_lead(row: verification.BasinVerification) -> LeadVerification:
    return LeadVerification(
        period=Period.between(row.first_day, row.last_day),
        lead=row.lead,
        forecaster=row.forecaster,
        every_days=row.every_days,
        error_model=row.error_model,
        attributes_assumed=row.attributes_assumed,
        verified_at=row.verified_at,
        **asdict(row.scores),
    )


def _pooled(row: verification.PooledVerification) -> PooledLead:
    return PooledLead(
        period=Period.between(row.period.first, row.period.last),
        lead=row.lead,
        forecaster=row.forecaster,
        basins=row.basins,
        **{name: PooledScore(**asdict(cuts)) for name, cuts in row.scores.items()},
    )


def _mend(version: str) -> str:
    return f"ask for another, or reforecast past days with it (freshet reforecast --version {version})."
