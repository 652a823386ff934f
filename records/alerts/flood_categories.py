"""Official flood categories as levels of a basin, by flow, or by stage and the basin's rating."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.basins import source_code
from hydrology.base.calendar import day
from hydrology.base.reasons import Reason
from hydrology.ratings.rating import Rating
from jobspec.flood_categories import CATEGORIES, Category, InvalidCategories, NewCategories, read_categories
from records.alerts.tables import ThresholdRow
from records.basins import basins
from records.ratings import ratings


@dataclass(frozen=True, slots=True)
class Imported:
    """The effect of an import.

    Attributes:
        changed: whether it changed anything.
        left_out: categories without a discharge, and why.
    """

    changed: bool
    left_out: Mapping[str, Absent]


def put(session: Session, basin: str, new: NewCategories, at: datetime) -> Imported:
    """Set the official categories of a basin in place of earlier ones: levels of the names of the categories.

    Raises:
        UnknownBasin: there is no such basin.
        InvalidCategories: the document cannot be used, or is of another gauge.
    """
    basins.lock(session, basin)
    site, categories = read_categories(new.document)
    if site is not None and basin.startswith("USGS-") and site != source_code(basin):
        raise InvalidCategories(f"The document is of gauge {site}, not of {basin}: import the basin's own.")
    stored = ratings.newest(session, basin)
    rating = None if stored is None else stored.rating
    flows = {category.name: (category, _discharge(category, rating)) for category in categories}
    rows = {
        name: {
            "discharge": flow,
            "direction": "rising",
            "category": name,
            "source": new.source,
            "source_day": new.day or day(at.date()),
            "official_stage": category.stage,
            "impact": category.impact,
        }
        for name, (category, flow) in flows.items()
        if not isinstance(flow, Absent)
    }
    left_out: dict[str, Absent] = {name: flow for name, (_, flow) in flows.items() if isinstance(flow, Absent)}
    before = {row.name: row for row in _rows(session, basin)}
    if before.keys() == rows.keys() and all(
        getattr(before[name], field) == value for name, of in rows.items() for field, value in of.items()
    ):
        return Imported(False, left_out)
    # A level of this name that an operator set becomes the official one.
    session.execute(delete(ThresholdRow).where(ThresholdRow.basin_id == basin, ThresholdRow.name.in_(CATEGORIES)))
    session.add_all(ThresholdRow(basin_id=basin, name=name, set_at=at, **of) for name, of in rows.items())
    session.flush()
    return Imported(True, left_out)


def convert_again(session: Session, basin: str, rating: Rating, at: datetime) -> None:
    """Convert the categories that have a stage by a new rating; one outside it stays as it was."""
    for row in _rows(session, basin):
        if row.official_stage is not None:
            flow = float(rating.discharge(row.official_stage))
            if not np.isnan(flow) and flow > 0 and flow != row.discharge:
                row.discharge, row.set_at = flow, at
    session.flush()


def _rows(session: Session, basin: str) -> list[ThresholdRow]:
    query = select(ThresholdRow).where(ThresholdRow.basin_id == basin, ThresholdRow.category.is_not(None))
    return list(session.scalars(query))


def _discharge(category: Category, rating: Rating | None) -> float | Absent:
    """Return the discharge of a category, m3/s: by its stage and the rating, otherwise by its flow."""
    why = absent(Reason.NO_RATING)
    if category.stage is not None and rating is not None:
        flow = float(rating.discharge(category.stage))
        if not np.isnan(flow) and flow > 0:
            return flow
        why = rating.why_no_discharge(category.stage)
    return why if category.flow is None else category.flow
