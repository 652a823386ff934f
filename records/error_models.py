"""Error models: one a version, fitted on days that the version has not learnt from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from hydrology.calendar import Day, Period
from hydrology.error_model import BasinErrors, Shape
from records import versions
from records.ids import Corrupt, fingerprint, sha256
from records.statements import add_all
from records.states import pack, unpack
from records.tables.error_models import BasinErrorsRow, ErrorModelRow

OBSERVED = "observed"
"""The weather of an error model of simulations."""


def of_weather(source: str, model: str) -> str:
    """Return the weather of an error model of forecasts that a weather forecast drove."""
    return f"{source}/{model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewErrorModel:
    """An error model to be kept.

    Attributes:
        version_id: whose flow it was fitted to.
        weather: what drove that: `OBSERVED`, or a weather forecast's source and model (`of_weather`).
        first, last: the days that it was fitted on at most.
        days: how many observed days it rests on, of all basins.
    """

    version_id: str
    weather: str = OBSERVED
    first: Day
    last: Day
    days: int
    shape: Shape
    basins: Mapping[str, BasinErrors]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorModel:
    """A kept error model, with the errors of the basins that were asked for, as far as it knows them.

    Attributes:
        sha256: of all its numbers.
    """

    version_id: str
    weather: str
    first: Day
    last: Day
    days: int
    shape: Shape
    basins: Mapping[str, BasinErrors]
    sha256: str
    created_at: datetime

    @property
    def period(self) -> Period:
        """The days that it was fitted on at most."""
        return Period(self.first, self.last)


def replace(session: Session, new: NewErrorModel, at: datetime) -> str:
    """Keep the error model of a version in place of the one before, and return its fingerprint.

    Raises:
        UnknownVersion: there is no such version.
    """
    versions.get(session, new.version_id)
    shape = pack(new.shape.arrays())
    basins = {name: pack(errors.arrays()) for name, errors in new.basins.items()}
    hashes = {name: sha256(content) for name, content in basins.items()}
    whole = fingerprint([sha256(shape), hashes])
    for table in (BasinErrorsRow, ErrorModelRow):
        session.execute(delete(table).filter_by(version_id=new.version_id, weather=new.weather))
    key = {"version_id": new.version_id, "weather": new.weather}
    values = {**key, "first": new.first, "last": new.last, "days": new.days}
    add_all(session, ErrorModelRow, [{**values, "content": shape, "sha256": whole, "created_at": at}])
    add_all(
        session,
        BasinErrorsRow,
        [
            {
                **key,
                "basin_id": name,
                "days": new.basins[name].days,
                "content": content,
                "sha256": hashes[name],
            }
            for name, content in basins.items()
        ],
    )
    return whole


def get(session: Session, version_id: str, basins: Sequence[str], weather: str = OBSERVED) -> ErrorModel | None:
    """Return the error model of a version for a weather with the errors of some basins, or None.

    Raises:
        Corrupt: it is damaged.
    """
    row = session.get(ErrorModelRow, (version_id, weather), populate_existing=True)
    if row is None:
        return None
    of_basins = session.scalars(
        select(BasinErrorsRow)
        .filter_by(version_id=version_id, weather=weather)
        .where(BasinErrorsRow.basin_id.in_(basins))
    )
    try:
        shape = Shape.from_arrays(_arrays(row.content))
        known = {part.basin_id: _errors(part) for part in of_basins}
    except (SafetensorError, KeyError, ValueError):
        raise Corrupt(
            f"The stored error model of version {version_id} is damaged: fit it again (freshet calibrate)."
        ) from None
    return ErrorModel(
        version_id=version_id,
        weather=weather,
        first=row.first,
        last=row.last,
        days=row.days,
        shape=shape,
        basins=known,
        sha256=row.sha256,
        created_at=row.created_at,
    )


def _errors(row: BasinErrorsRow) -> BasinErrors:
    if sha256(row.content) != row.sha256:
        raise ValueError(row.basin_id)
    return BasinErrors.from_arrays(_arrays(row.content), row.days)


def _arrays(content: bytes) -> dict[str, npt.NDArray[Any]]:
    arrays = unpack(content)
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise ValueError("not finite")
    return arrays
