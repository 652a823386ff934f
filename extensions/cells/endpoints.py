"""/v1/basins/{basin}/cells: the water in each cell of a member, on the days with a stored state."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from fastapi import APIRouter, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.schemas import BasinKind, kind_of
from app.exports.answers import SeriesAnswer, documented_responses
from app.exports.formats import SERIES
from app.exports.table import Table, table_of
from app.http import json_numbers
from app.http.base_schema import OfBasin, Series, column
from app.http.dependencies import ChosenVersion, KnownBasin, Reading
from app.http.limits.costs import RequestBudget
from hydrology.base.calendar import Day, Period, day
from hydrology.base.errors import NotFound
from jobspec.fields import DayField
from records.basins.basins import Site, UnknownBasin
from records.forecasts.latest import NoModel, asked_version
from records.runs import states
from records.versions.versions import CombinedVersion, UnknownVersion, Version

LAST_DAY = day("9999-12-31")
Member = Annotated[str | None, Query(description="A member's number; by default the first.", examples=["0"])]
FirstDay = Annotated[
    DayField | None, Query(description="The first day; by default a year before the last.", examples=["2005-04-18"])
]
LastDay = Annotated[
    DayField | None, Query(description="The last day; by default that of the newest state.", examples=["2005-04-20"])
]


class NoCells(NotFound):
    """No cells with water are stored for that version, member, basin and days."""

    remedy = "List the stored states: `/v1/basins/{basin}/states`. `freshet cells` computes every day."


class CellsOfBasin(OfBasin):
    """The water in each cell of a member at the end of each day, mm."""

    basin_kind: BasinKind
    version: Annotated[str, Series("identifier of the model version")] = Field(description="The model version.")
    member: Annotated[str, Series("number of the member")] = Field(
        description="The member: cells of different members have nothing to do with one another."
    )
    time: Annotated[list[date], Series("day")] = Field(description="The days, in order; days may lack between them.")
    total: Annotated[list[float], Series("water in all cells", "mm")] = Field(
        description=column("The water in all cells of the member, mm")
    )
    cells: Annotated[
        dict[str, list[float]],
        Series("water in a cell", "mm", column="cell_{}", each="water in cell {} at the end of the day"),
    ] = Field(description=column("The water in each cell, mm, by the cell's number"))


def cells_answer(
    session: Session, version: Version, basin: str, member: str, days: Sequence[Day], water: npt.NDArray[Any]
) -> CellsOfBasin:
    """Return the answer of a member's cells (days, cells), mm."""
    return CellsOfBasin(
        basin=basin,
        basin_kind=kind_of(session, basin),
        version=version.id,
        member=member,
        time=np.array(days, "datetime64[D]").tolist(),
        total=json_numbers.column(water.sum(axis=1, dtype=np.float64)),
        cells={str(number): json_numbers.column(water[:, number]) for number in range(water.shape[1])},
    )


def place_of(version: Version, member: str | None) -> int:
    """Return the place of a member, by default the first, among those of a version that holds water.

    Raises:
        CombinedVersion: its members are those of its parts.
        NoCells: its cells hold no water, or it has no such member.
    """
    version.require_members("Reading cells")
    if not version.conserving:
        raise NoCells(f"Version {version.id} ({version.architecture}) does not conserve mass: its cells hold no water.")
    labels = [str(label) for label in version.members]
    if member is not None and member not in labels:
        raise NoCells(f"Version {version.id} has no member {member}: choose one of {', '.join(labels)}.")
    return 0 if member is None else labels.index(member)


def stored_cells(
    session: Session, version: Version, basin: str, member: str | None, start: Day | None, end: Day | None
) -> CellsOfBasin:
    """Return a member's cells on the days with a stored state."""
    place = place_of(version, member)
    newest = states.newest_valid(session, version.id, basin, LAST_DAY if end is None else end)
    found = {}
    if newest is not None:
        period = Period(newest.day - 365 if start is None else min(start, newest.day), newest.day)
        found = states.cells_between(session, version.id, basin, period)
    if not found or newest is None or (start is not None and newest.day < start):
        raise NoCells(
            f"No state of version {version.id} in {basin} is stored on these days: choose days of "
            f"/v1/basins/{basin}/states, or compute them (freshet cells)."
        )
    water = np.stack([of_day[place] for of_day in found.values()])
    return cells_answer(session, version, basin, str(version.members[place]), list(found), water)


def cells_table(answer: CellsOfBasin, sites: Mapping[str, Site]) -> Table:
    """Return cells as a table: a row for each day."""
    name = f"{answer.basin}_cells_{answer.version}_{answer.member}_{answer.time[0]}_{answer.time[-1]}"
    return table_of(answer, name, f"Water in the cells of {answer.version} in {answer.basin}", sites)


router = APIRouter(prefix="/basins", tags=["water"])


@router.get(
    "/{basin}/cells",
    summary="Water in each cell of a member by day",
    **documented_responses(
        CellsOfBasin, UnknownBasin, UnknownVersion, NoModel, CombinedVersion, NoCells, formats=SERIES
    ),
)
def read_cells(
    session: Reading,
    basin: KnownBasin,
    answer: SeriesAnswer,
    version: ChosenVersion = None,
    member: Member = None,
    start: FirstDay = None,
    end: LastDay = None,
    *,
    budget: RequestBudget,
) -> Response:
    """What each cell of a member held at the end of the days whose state is stored: of old days the last of each month.
    The cells of a version that combines others are those of its parts: name one."""
    asked = asked_version(session, basin, version)
    found = stored_cells(session, asked, basin, member, start, end)
    budget.spend(len(found.time) * (len(found.cells) + 1), "start", "ask for fewer days.")
    return answer.of_basin(found, cells_table)
