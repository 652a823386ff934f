"""Builds the answers about basins."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sqlalchemy.orm import Session

from app.basins.schemas import BasinDetail, BasinSummary, Finding, Series, named_kind
from app.http.base_schema import Area
from hydrology.base import units as convert
from hydrology.base.calendar import as_date
from hydrology.base.units import M2_PER_KM2
from records.basins import basins, ownership, quality
from records.versions.basin_areas import areas_in_use

if TYPE_CHECKING:
    from records.series import series

_FIELDS = ("name", "latitude", "longitude", "huc")


def summaries(session: Session, stored: Sequence[basins.Basin]) -> list[BasinSummary]:
    """Return basins as in a list."""
    owners, areas = ownership.owners(session, [basin.id for basin in stored]), areas_in_use(session, stored)
    return [
        BasinSummary(**_area_and_place(basin, areas[basin.id], official=basin.id not in owners)) for basin in stored
    ]


def detail(session: Session, basin: str) -> BasinDetail:
    """Return a basin with its catalogue, its current version and the findings on its data.

    Raises:
        UnknownBasin: there is no such basin.
    """
    from records.series import series  # here, for a list of basins needs none of it
    from records.versions import promotions

    stored = basins.get(session, basin)
    area = areas_in_use(session, [stored])[basin]
    result = _area_and_place(stored, area, official=ownership.owner(session, basin) is None)
    current = promotions.current(session, [basin]).get(basin)
    if current is None:
        result["missing"]["current_version"] = "No model version has been promoted for this basin."
    return BasinDetail(
        **result,
        areas_km2={name: m2 / M2_PER_KM2 for name, m2 in stored.areas.items()},
        attributes=dict(stored.attributes),
        texts=dict(stored.texts),
        weather_points=[(latitude, longitude) for latitude, longitude in stored.weather_points or ()],
        assume_attributes=bool(stored.assume_attributes),
        series=[_series(entry) for entry in series.catalogue(session, basin)],
        current_version=current,
        quality={
            product: [Finding(**finding) for finding in findings]
            for product, findings in quality.by_product(session, basin).items()
        },
    )


def _area_and_place(basin: basins.Basin, area: convert.Area | None, *, official: bool) -> dict[str, Any]:
    result = asdict(basin)
    missing = {name: "No source has given a value." for name in _FIELDS if result[name] is None}
    if area is None:
        missing["area"] = "No source has given an area by which its flow could be converted."
    return {
        "id": basin.id,
        "kind": named_kind(basin.id, official=official),
        **{name: result[name] for name in _FIELDS},
        "area": None if area is None else Area.of(area),
        "missing": missing,
    }


def _series(entry: "series.Entry") -> Series:
    return Series(
        product=entry.product,
        variable=entry.variable,
        unit=entry.unit,
        first_day=as_date(entry.period.first),
        last_day=as_date(entry.period.last),
        updated_at=entry.updated_at,
    )
