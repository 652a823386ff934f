"""Snow cells of a version in a basin, with their skill: its own, or those chosen over many basins together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isnan
from typing import Annotated

from sqlalchemy import CheckConstraint, ForeignKey, select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day, Period
from hydrology.base.reasons import Reason
from hydrology.snow.snow import RegionalSnow
from records.basins import basins as basin_records
from records.database.base import JsonObject
from records.database.stored import as_record, as_values, find, narrowed, read, stored, table_of, upsert
from records.forecasts.volumes_and_recessions import SNOW_SHARE
from records.runs.run_summary import KnownSkill, MappingKind, RegionalBecause
from records.series import series
from records.versions import versions
from records.versions.versions import Version

REFERENCES = ("uaz", "synthetic_snow", "snodas")
"""Products of reference snow: the first that a basin has is its reference."""


@stored(
    "snow_cells",
    CheckConstraint(
        "reason IS NOT NULL OR (training_r IS NOT NULL AND test_r IS NOT NULL AND bias_pct IS NOT NULL)", name="reason"
    ),
    key=("version_id", "basin_id", "product"),
)
class SnowCells:
    """The snow cells of a basin, chosen on the training period.

    Attributes:
        cells: by member label.
        training_r, test_r: Pearson's r on the days of the choice, and on other days.
        bias_pct: of the test days, %.
        bare_mm: what reads as snow in the mean of the test days on which the reference has none; None where there are
            no such days.
    """

    version_id: Annotated[str, ForeignKey("versions.id")]
    basin_id: Annotated[str, ForeignKey("basins.id")]
    product: str
    cells: JsonObject
    training_first: Day
    training_last: Day
    training_r: float | None
    test_first: Day
    test_last: Day
    test_r: float | None
    bias_pct: float | None
    bare_mm: float | None = None
    reason: Absent | None = None
    evaluated_at: datetime


@stored("regional_snow", key=("version_id",))
class StoredRegionalSnow:
    """The snow cells of a version for basins without a reference, chosen over many basins together."""

    version_id: Annotated[str, ForeignKey("versions.id")]
    content: RegionalSnow
    evaluated_at: datetime


SNOW_CELLS = table_of(SnowCells)


@dataclass(frozen=True, slots=True)
class SnowMapping:
    """The cells of each member, by its label, that read as snow in a basin.

    Attributes:
        kind: `basin`, chosen against its own reference; `regional`, chosen over other basins together; `store`, snow by
            construction.
        because: why it is regional; None elsewhere.
    """

    kind: MappingKind
    cells: Mapping[str, Sequence[int]]
    skill: KnownSkill | Absent
    because: RegionalBecause | None = None


def replace(session: Session, rows: Sequence[SnowCells]) -> None:
    """Store snow cells, replacing those of the same version, basin and product."""
    upsert(session, SnowCells, map(as_values, rows))


def replace_regional(session: Session, version: str, mapping: RegionalSnow, at: datetime) -> None:
    upsert(session, StoredRegionalSnow, [{"version_id": version, "content": mapping, "evaluated_at": at}])


def own_cells(session: Session, version: str, basins: Sequence[str] | None = None) -> list[SnowCells]:
    query = select(SNOW_CELLS).filter_by(version_id=version)
    query = narrowed(query, (SNOW_CELLS.c.basin_id.in_, basins))
    return read(session, SnowCells, query.order_by(SNOW_CELLS.c.basin_id, SNOW_CELLS.c.product))


def regional_cells(session: Session, version: str) -> RegionalSnow | None:
    found = find(session, StoredRegionalSnow, version_id=version)
    return None if found is None else found.content


def mappings(session: Session, version: str, basins: Sequence[str]) -> dict[str, SnowMapping | Absent]:
    """Return the snow cells for each basin, or the reason why there are none.

    A basin that was evaluated against reference snow has cells of its own, or none; the regional mapping serves the
    others. Snow stores serve every basin, with the skill of either.
    """
    asked = versions.get(session, version)
    chosen = _chosen(session, asked, basins)
    store = asked.properties.snow_cells
    if not store:
        return chosen
    cells = {str(member): [*store] for member in asked.members}
    not_scored = absent(Reason.SNOW_CELLS_NOT_SCORED)
    skills = {basin: not_scored if isinstance(of, Absent) else of.skill for basin, of in chosen.items()}
    return {basin: SnowMapping("store", cells, skill) for basin, skill in skills.items()}


def _chosen(session: Session, asked: Version, basins: Sequence[str]) -> dict[str, SnowMapping | Absent]:
    twin = None if asked.twin_id is None else versions.get(session, asked.twin_id)
    own, of_twin = (
        {} if judged is None else {one.basin_id: one for one in own_cells(session, judged.id, basins)}
        for judged in (asked, twin)
    )
    others = [basin for basin in basins if basin not in own]
    regional = _regional(session, asked, twin, others)
    return {basin: _own(own[basin], of_twin.get(basin)) if basin in own else regional[basin] for basin in basins}


def mapping(session: Session, version: str, basin: str) -> SnowMapping | Absent:
    return mappings(session, version, [basin])[basin]


def _own(chosen: SnowCells, of_twin: SnowCells | None) -> SnowMapping | Absent:
    if not all(chosen.cells.values()):
        return _reason(chosen, Reason.NO_CELL_FOLLOWS_SNOW)
    judged = chosen if chosen.test_r is not None or of_twin is None else of_twin
    if judged.test_r is None or judged.bias_pct is None:
        return SnowMapping("basin", chosen.cells, _reason(judged, Reason.SNOW_CELLS_NOT_SCORED))
    known = KnownSkill(
        version=judged.version_id,
        products=(judged.product,),
        period=str(Period(judged.test_first, judged.test_last)),
        basins=None,
        r=judged.test_r,
        bias_pct=judged.bias_pct,
        bare_mm=judged.bare_mm,
    )
    return SnowMapping("basin", chosen.cells, known)


def _reason(cells: SnowCells, otherwise: Reason) -> Absent:
    return cells.reason or absent(otherwise)


def _regional(
    session: Session, version: Version, twin: Version | None, basins: Sequence[str]
) -> dict[str, SnowMapping | Absent]:
    chosen = regional_cells(session, version.id) if basins else None
    with_reference = {basin for product in REFERENCES for basin in series.spans(session, basins, product, "swe")}
    if chosen is None:
        not_chosen, no_reference = absent(Reason.SNOW_CELLS_NOT_CHOSEN), absent(Reason.NO_SNOW_REFERENCE)
        return {basin: not_chosen if basin in with_reference else no_reference for basin in basins}
    judged, by = chosen, version
    if twin is not None and not chosen.bands:
        judged, by = regional_cells(session, twin.id) or chosen, twin
    shares = basin_records.attributes_of(session, basins, [SNOW_SHARE])[:, 0].tolist()
    return {
        basin: SnowMapping(
            "regional",
            chosen.cells,
            _of_band(judged, by, share),
            "not-chosen" if basin in with_reference else "no-reference",
        )
        for basin, share in zip(basins, shares, strict=True)
    }


def _of_band(judged: RegionalSnow, by: Version, share: float) -> KnownSkill | Absent:
    if isnan(share):
        return absent(Reason.SNOW_SHARE_UNKNOWN, attribute=SNOW_SHARE)
    band = judged.band(share)
    if band is None or judged.test is None:
        return absent(Reason.TOO_LITTLE_SNOW_TO_SCORE)
    return as_record(KnownSkill, band, version=by.id, products=judged.products, period=judged.test)
