"""Error models: one per version and weather, fitted on days that the version has not learnt from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day, Period
from hydrology.base.digests import fingerprint, sha256
from hydrology.uncertainty.error_model import BasinErrorModel, BasinErrors, Shape
from records.database.checksums import is_whole
from records.database.ids import Corrupt
from records.database.named_arrays import pack, unpack
from records.database.statements import add_all, as_record, as_values, insert_into
from records.versions import versions
from records.versions.tables import BasinErrorsRow, ErrorModelRow

OBSERVED = "observed"
"""The weather of an error model of simulations."""


def of_weather(source: str, model: str) -> str:
    """Return the weather of an error model for forecasts with a weather forecast."""
    return f"{source}/{model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewErrorModel:
    """An error model to be stored.

    Attributes:
        version_id: the version whose flow it was fitted to.
        weather: the weather that drove the flow: `OBSERVED`, or a weather forecast's source and model (`of_weather`).
        first, last: the days within which it was fitted.
        days: number of observed days in the fit, over all basins.
        issue_days: number of T0 in the fit; 0 for a model of simulations.
        reforecast_days: those of them of reforecasts alone.
        shape: of the basins with their own parameters.
        regional: of those without their own parameters.
        for_unseen: whether `regional` was fitted in basins that the weights had not learnt from, so it serves them.
    """

    version_id: str
    weather: str = OBSERVED
    first: Day
    last: Day
    days: int
    issue_days: int = 0
    reforecast_days: int = 0
    shape: Shape
    regional: Shape
    basins: Mapping[str, BasinErrors]
    for_unseen: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorModel(NewErrorModel):
    """A stored error model, with the known errors of the requested basins.

    Attributes:
        sha256: checksum of all its numbers.
    """

    sha256: str
    created_at: datetime

    @property
    def period(self) -> Period:
        """The days within which it was fitted."""
        return Period(self.first, self.last)

    def of_basin(self, name: str) -> BasinErrorModel | None:
        """Return the error model of a requested basin, or None."""
        errors = self.basins.get(name)
        return None if errors is None else BasinErrorModel.of(self.shape, self.regional, errors)


def replace(session: Session, new: NewErrorModel, at: datetime) -> str:
    """Store the error model of a version, replacing the last, and return its fingerprint.

    Raises:
        UnknownVersion: there is no such version.
    """
    versions.get(session, new.version_id)
    shape, regional = pack(new.shape.arrays()), pack(new.regional.arrays())
    key = {"version_id": new.version_id, "weather": new.weather}
    basins = [_row(key, name, errors) for name, errors in new.basins.items()]
    hashes = {row["basin_id"]: row["sha256"] for row in basins}
    whole = fingerprint([sha256(shape), sha256(regional), hashes])
    for table in (BasinErrorsRow, ErrorModelRow):
        session.execute(delete(table).filter_by(**key))
    values = as_values(new, "shape", "regional", "basins")
    values |= {"content": shape, "regional": regional, "sha256": whole, "created_at": at}
    add_all(session, ErrorModelRow, [values])
    add_all(session, BasinErrorsRow, basins)
    return whole


def add_basins(session: Session, model: ErrorModel, basins: Mapping[str, BasinErrors]) -> None:
    """Store errors of basins that an error model lacks. Do nothing if it has been replaced meanwhile."""
    row = session.get(ErrorModelRow, (model.version_id, model.weather), populate_existing=True)
    if row is None or row.sha256 != model.sha256:
        return
    key = {"version_id": model.version_id, "weather": model.weather}
    rows = [_row(key, name, errors) for name, errors in basins.items()]
    if rows:
        session.execute(insert_into(session, BasinErrorsRow).values(rows).on_conflict_do_nothing())


def unmet(session: Session, version_id: str, basins: Sequence[str]) -> list[str]:
    """Return the basins that a version's error model lacks. None are lacking if it serves no unseen basins."""
    key = {"version_id": version_id, "weather": OBSERVED}
    serves = select(ErrorModelRow.for_unseen).filter_by(**key)
    if not session.scalar(serves):
        return []
    met = select(BasinErrorsRow.basin_id).filter_by(**key).where(BasinErrorsRow.basin_id.in_(basins))
    known = set(session.scalars(met))
    return [basin for basin in basins if basin not in known]


def get(session: Session, version_id: str, basins: Sequence[str], weather: str = OBSERVED) -> ErrorModel | None:
    """Return a version's error model for a weather and some basins, or None.

    Raises:
        Corrupt: it is damaged.
    """
    row = session.get(ErrorModelRow, (version_id, weather), populate_existing=True)
    if row is None:
        return None
    rows = select(BasinErrorsRow).filter_by(version_id=version_id, weather=weather)
    of_basins = session.scalars(rows.where(BasinErrorsRow.basin_id.in_(basins)))
    try:
        if not is_whole(ErrorModelRow, row):
            raise ValueError(row.version_id)
        shape = Shape.from_arrays(_arrays(row.content))
        regional = Shape.from_arrays(_arrays(row.regional))
        known = {part.basin_id: _errors(part) for part in of_basins}
    except (SafetensorError, KeyError, ValueError):
        raise Corrupt(
            f"The stored error model of version {version_id} is damaged: fit it again (freshet calibrate)."
        ) from None
    return as_record(ErrorModel, row, shape=shape, regional=regional, basins=known)


def _row(key: Mapping[str, str], basin: str, errors: BasinErrors) -> dict[str, Any]:
    content = pack(errors.arrays())
    return {**key, "basin_id": basin, "days": errors.days, "content": content, "sha256": sha256(content)}


def _errors(row: BasinErrorsRow) -> BasinErrors:
    if sha256(row.content) != row.sha256:
        raise ValueError(row.basin_id)
    return BasinErrors.from_arrays(_arrays(row.content), days=row.days)


def _arrays(content: bytes) -> dict[str, npt.NDArray[Any]]:
    arrays = unpack(content)
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise ValueError("not finite")
    return arrays
