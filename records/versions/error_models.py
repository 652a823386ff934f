"""Error models, one per version, fitted on days that it has not learnt from; and recalibrations of its forecasts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from sqlalchemy import CheckConstraint, Column, ForeignKey, LargeBinary, Row, String, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day, Period
from hydrology.base.digests import fingerprint, sha256
from hydrology.uncertainty.error_model import BasinErrorModel, BasinErrors, Shape
from hydrology.uncertainty.recalibration import PRIOR_SPREAD
from records.database.base import Long
from records.database.checksums import Corrupt, Summed, is_whole, pack_arrays, unpack_arrays
from records.database.stored import ELSEWHERE, add_all, as_record, as_values, find, find_row, stored, table_of, upsert
from records.runs.run_weather import RunRecalibration
from records.versions import versions


@stored("basin_errors", CheckConstraint("length(sha256) = 64", name="sha256"), key=("version_id", "basin_id"))
class _BasinPart:
    """The errors in one basin, stored here or not: a shipped error model may know more basins."""

    version_id: Annotated[str, ForeignKey("error_models.version_id")]
    basin_id: str
    days: int
    content: bytes
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewErrorModel:
    """An error model to be stored.

    Attributes:
        days: number of observed days in the fit, over all basins.
        regional: of those without their own parameters.
        for_unseen: whether `regional` was fitted in basins that the weights had not learnt from, so it serves them.
    """

    version_id: Annotated[str, ForeignKey("versions.id")]
    first: Day
    last: Day
    days: Annotated[int, Long()]
    shape: Annotated[Shape, ELSEWHERE]
    regional: Annotated[Shape, ELSEWHERE]
    basins: Annotated[Mapping[str, BasinErrors], ELSEWHERE]
    for_unseen: bool = False


@stored(
    "error_models",
    Column("content", LargeBinary, nullable=False),
    Column("regional", LargeBinary, nullable=False),
    CheckConstraint("first <= last", name="order"),
    CheckConstraint("length(sha256) = 64", name="sha256"),
    key=("version_id",),
    summed=Summed(("version_id", "sha256"), ("content", "regional")),
)
class ErrorModel(NewErrorModel):
    """A stored error model, with the known errors of the requested basins.

    Another fit replaces it; runs store its fingerprint.
    """

    sha256: str
    created_at: datetime

    @property
    def period(self) -> Period:
        return Period(self.first, self.last)

    def of_basin(self, name: str) -> BasinErrorModel | None:
        errors = self.basins.get(name)
        return None if errors is None else BasinErrorModel.of(self.shape, self.regional, errors)


ERROR_MODELS, BASIN_ERRORS = table_of(ErrorModel), table_of(_BasinPart)


def replace(session: Session, new: NewErrorModel, at: datetime) -> str:
    """Store the error model of a version, replacing the last, and return its fingerprint."""
    versions.get(session, new.version_id)
    shape, regional = pack_arrays(new.shape.arrays()), pack_arrays(new.regional.arrays())
    basins = [_row(new.version_id, name, errors) for name, errors in new.basins.items()]
    hashes = {row["basin_id"]: row["sha256"] for row in basins}
    whole = fingerprint([sha256(shape), sha256(regional), hashes])
    for table in (BASIN_ERRORS, ERROR_MODELS):
        session.execute(table.delete().where(table.c.version_id == new.version_id))
    values = as_values(new, "shape", "regional", "basins")
    values |= {"content": shape, "regional": regional, "sha256": whole, "created_at": at}
    add_all(session, ERROR_MODELS, [values])
    add_all(session, BASIN_ERRORS, basins)
    return whole


def add_basins(session: Session, model: ErrorModel, basins: Mapping[str, BasinErrors]) -> None:
    """Store errors of basins that an error model lacks. Do nothing if it has been replaced meanwhile."""
    row = find_row(session, ERROR_MODELS, version_id=model.version_id)
    if row is None or row.sha256 != model.sha256:
        return
    rows = [_row(model.version_id, name, errors) for name, errors in basins.items()]
    add_all(session, BASIN_ERRORS, rows, if_new=True)


def unmet(session: Session, version_id: str, basins: Sequence[str]) -> list[str]:
    """Return the basins that a version's error model lacks. None are lacking if it serves no unseen basins."""
    key = {"version_id": version_id}
    serves = select(ERROR_MODELS.c.for_unseen).filter_by(**key)
    if not session.scalar(serves):
        return []
    met = select(BASIN_ERRORS.c.basin_id).filter_by(**key).where(BASIN_ERRORS.c.basin_id.in_(basins))
    known = set(session.scalars(met))
    return [basin for basin in basins if basin not in known]


def get(session: Session, version_id: str, basins: Sequence[str]) -> ErrorModel | None:
    row = find_row(session, ERROR_MODELS, version_id=version_id)
    if row is None:
        return None
    rows = select(BASIN_ERRORS).filter_by(version_id=version_id)
    of_basins = session.execute(rows.where(BASIN_ERRORS.c.basin_id.in_(basins)))
    try:
        if not is_whole(ERROR_MODELS, row):
            raise ValueError(row.version_id)
        shape = Shape.from_arrays(_arrays(row.content))
        regional = Shape.from_arrays(_arrays(row.regional))
        known = {part.basin_id: _errors(part) for part in of_basins}
    except (SafetensorError, KeyError, ValueError):
        raise Corrupt(
            f"The stored error model of version {version_id} is damaged: fit it again (freshet calibrate)."
        ) from None
    return as_record(ErrorModel, row, shape=shape, regional=regional, basins=known)


def _row(version: str, basin: str, errors: BasinErrors) -> dict[str, Any]:
    content = pack_arrays(errors.arrays())
    return {
        "version_id": version,
        "basin_id": basin,
        "days": errors.days,
        "content": content,
        "sha256": sha256(content),
    }


def _errors(row: Row[Any]) -> BasinErrors:
    if sha256(row.content) != row.sha256:
        raise ValueError(row.basin_id)
    return BasinErrors.from_arrays(_arrays(row.content), days=row.days)


def _arrays(content: bytes) -> dict[str, npt.NDArray[Any]]:
    arrays = unpack_arrays(content)
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise ValueError("not finite")
    return arrays


@stored(
    "recalibrations",
    Column("version_id", String, ForeignKey("versions.id"), nullable=False),
    Column("weather", String, nullable=False),
    key=("version_id", "weather"),
)
class StoredRecalibration:
    """How a version's forecasts with a weather model are recalibrated. Another fit replaces it; runs store it."""

    content: RunRecalibration
    created_at: datetime


ASSUMED = RunRecalibration(fitted_on=None, issue_days=0, reforecast_days=0, days=0, centre=[0.0], spread=[PRIOR_SPREAD])


def replace_recalibration(session: Session, version: str, weather: str, new: RunRecalibration, at: datetime) -> None:
    versions.get(session, version)
    row = {"version_id": version, "weather": weather, "content": new, "created_at": at}
    upsert(session, StoredRecalibration, [row])


def recalibration_of(session: Session, version: str, weather: str) -> RunRecalibration:
    """Return the recalibration of a version's forecasts with a weather model: fitted, or assumed."""
    found = find(session, StoredRecalibration, version_id=version, weather=weather)
    return ASSUMED if found is None else found.content
