"""The outlook of a run's forecast of a basin, as it is stored."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import ForeignKeyConstraint, Index, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from hydrology.base.absent import Absent
from hydrology.outlook import FlowBasis, FlowOutlook, Peak
from records.database.base import Base, PackedDocument
from records.database.json_columns import CLOSED
from records.database.statements import insert_into, table_of, where_keys
from records.runs.run_types import RunBasinKey


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlookBefore:
    """The issue before, as its readers saw it.

    Attributes:
        run, t0: of the newest operational run of an earlier T0.
        likely: its highest likely level; None without one.
        cause: the largest part of the change at the day of the peak (`hydrology.attribution`).
    """

    __pydantic_config__ = CLOSED

    run: str
    t0: str
    peak: Peak | Absent
    likely: str | None
    chances: Mapping[str, float]
    cause: str | Absent


@dataclass(frozen=True, slots=True, kw_only=True)
class SeasonVolume:
    """The volume of a season by a run that holds all of it.

    Attributes:
        period: FIRST..LAST.
        is_calibrated: whether it is of calibrated paths; else of members and traces.
        percent_of_normal: exceeded by `hydrology.climatology.volumes.EXCEEDED_PERCENT`.
    """

    __pydantic_config__ = CLOSED

    season: str
    period: str
    is_calibrated: bool
    percent_of_normal: tuple[float, ...] | Absent


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowOutlooks:
    """The outlook of a run's flow, as issued and as adjusted.

    Attributes:
        window_days: number of days after the last past day that the chances of levels cover.
        adjustment: the published one that `adjusted` follows; both None without one.
    """

    __pydantic_config__ = CLOSED

    basis: FlowBasis
    window_days: int
    issued: FlowOutlook
    adjustment: str | None
    adjusted: FlowOutlook | None

    @property
    def published(self) -> FlowOutlook:
        """The outlook that readers get: adjusted where a forecaster has published that."""
        return self.adjusted or self.issued


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutlook(FlowOutlooks):
    """The outlook of a run's forecast of a basin; `season` is None where the run does not hold one."""

    before: OutlookBefore | Absent
    season: SeasonVolume | Absent | None


class OutlookRow(Base):
    """The outlook of a run's forecast of a basin. It outlives the arrays that it was computed from."""

    __tablename__ = "outlooks"
    __table_args__ = (
        ForeignKeyConstraint(["run_id", "basin_id"], ["run_basins.run_id", "run_basins.basin_id"]),
        Index(None, "basin_id", "has_season"),
    )

    run_id: Mapped[str] = mapped_column(primary_key=True)
    basin_id: Mapped[str] = mapped_column(primary_key=True)
    has_season: Mapped[bool]
    outlook: Mapped[RunOutlook] = mapped_column(PackedDocument(RunOutlook))


def read_outlooks(session: Session, keys: Collection[RunBasinKey]) -> dict[RunBasinKey, RunOutlook]:
    """Return the stored outlooks of runs' basins."""
    table = table_of(OutlookRow).c
    query = where_keys(select(table.run_id, table.basin_id, table.outlook), (table.run_id, table.basin_id), keys)
    return {(run, basin): outlook for run, basin, outlook in session.execute(query)}


def write_outlooks(session: Session, run: str, outlooks: Mapping[str, RunOutlook]) -> None:
    """Store the outlooks of a run by basin, in the place of earlier ones."""
    if not outlooks:
        return
    insert = insert_into(session, OutlookRow)
    columns = ("has_season", "outlook")
    session.execute(
        insert.on_conflict_do_update(
            index_elements=["run_id", "basin_id"], set_={name: insert.excluded[name] for name in columns}
        ),
        [
            {
                "run_id": run,
                "basin_id": basin,
                "has_season": isinstance(outlook.season, SeasonVolume),
                "outlook": outlook,
            }
            for basin, outlook in sorted(outlooks.items())
        ],
    )
