"""Builds the answers about rating tables."""

import numpy as np

from app.basins.ratings.schemas import RatingTable
from app.http.base_schema import why_null
from hydrology.base.calendar import as_date
from hydrology.ratings.rating import M_PER_FT
from records.ratings import ratings

_WHY = {
    "datum": "None was given.",
    "site": "The file names none.",
    "number": "The file names none.",
    "shifted": "The table has no shifts.",
}


def table_of(stored: ratings.StoredRating) -> RatingTable:
    """Return a stored rating table."""
    fields = {name: getattr(stored, name) for name in ("source", "datum", "site", "number", "shifted", "set_at")}
    stages = np.array(stored.rating.stages)
    return RatingTable(
        basin=stored.basin_id,
        valid_from=as_date(stored.valid_from),
        largest_shift_ft=round(stored.largest_shift / M_PER_FT, 6),
        expansion=stored.rating.expansion,
        stage_ft=(stages / M_PER_FT).round(6).tolist(),
        stage_m=stages.round(7).tolist(),
        discharge_m3s=np.array(stored.rating.discharges).round(7).tolist(),
        missing=why_null(fields, _WHY),
        **fields,
    )
