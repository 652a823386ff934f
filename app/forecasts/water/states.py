"""/v1/basins/{basin}/states: stored model states of a basin."""

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.schemas import BasinKind, kind_of
from app.exports.answers import Responder, documented_responses, in_format, one_of
from app.exports.fields import Listing, documented_list, listing
from app.exports.formats import JSON, NETCDF
from app.http.base_schema import Model, next_page
from app.http.conditional import SHORTLY
from app.http.dependencies import OF_VERSION, ChosenVersion, KnownBasin, Reading
from app.http.shown import As, model_of
from hydrology.base.calendar import Day
from jobspec.fields import DayField
from records.forecasts.latest import asked_version
from records.runs import states
from records.runs.tables import State
from records.versions.versions import CombinedVersion, Version
from runtime.netcdf import encode, numeric_variable, text_variable
from runtime.release import code_version

STATE = As(
    "StateSummary",
    omit=("version_id", "basin_id", "arrays", "sums", "recent_flow", "member_hashes"),
    rename=(("parent_hash", "parent_sha256"),),
    missing=True,
)


class StatePage(Model):
    """States of a basin, the newest day first."""

    basin: str
    version: str = Field(description="The model version.")
    states: list[Annotated[State, STATE]]
    next: str | None = next_page("/v1/basins/USGS-01013500/states?limit=100&after=2008-04-21")


class StateArray(Model):
    """One array of a state."""

    dtype: str = Field(examples=["float32"])
    shape: list[int] = Field(description="Members first.", examples=[[10, 64]])
    values: list[Any] = Field(description="Nested lists, exact: the fingerprint can be computed again from them.")


class StateDetail(model_of(State, STATE)):  # type: ignore[misc]
    """A state with its arrays."""

    basin: str
    basin_kind: BasinKind
    version: str = Field(description="The model version.")
    members: list[str] = Field(description="The members' names, in the order of the arrays.")
    member_sha256: list[str] = Field(description="The fingerprint of the arrays of each member.")
    arrays: dict[str, StateArray] = Field(
        description="By name: `c` holds the water in each cell, mm, in networks that conserve mass."
    )


def detail(session: Session, version: Version, basin: str, day: Day) -> StateDetail:
    state = states.require(session, version.id, basin, day)
    return StateDetail(
        **STATE.values(state),
        basin=basin,
        basin_kind=kind_of(session, basin),
        version=version.id,
        members=[str(label) for label in version.members],
        member_sha256=list(state.member_hashes),
        arrays={
            name: StateArray(dtype=array.dtype.name, shape=list(array.shape), values=array.tolist())
            for name, array in state.arrays.items()
        },
    )


if TYPE_CHECKING:
    from xarray import Variable


def of_state(state: StateDetail) -> bytes:
    variables: dict[str, Variable] = {
        "member": text_variable("member_number", "member_length", state.members, {"long_name": "name of the member"})
    }
    for name, array in state.arrays.items():
        axes = ["member_number", *(f"{name}_axis_{axis}" for axis in range(1, len(array.shape)))]
        units = {"units": "mm", "long_name": "water in each cell"} if name == "c" and state.storage_mm else {}
        variables[name] = numeric_variable(axes, np.array(array.values, array.dtype).reshape(array.shape), units)
    program = f"Freshet {code_version()}"
    named = {"basin": state.basin, "version": state.version, "day": str(state.day), "sha256": state.sha256}
    return encode(variables, {"title": f"Model state of {state.basin}", **named, "source": program}, "NETCDF4")


router = APIRouter(prefix="/basins", tags=["water"])

DayCursor = Annotated[
    DayField | None,
    Query(description="Start after this day: the last one of the page before.", examples=["2008-04-21"]),
]
StateDay = Annotated[DayField, Path(description="The last day of weather in the state.", examples=["2008-04-21"])]
StateAnswer = Annotated[Responder, Depends(in_format(one_of(NETCDF)))]


@router.get(
    "/{basin}/states",
    summary="Stored model states of a basin",
    **documented_list(StatePage, *OF_VERSION, CombinedVersion, cache_control=SHORTLY),
)
def list_states(
    session: Reading,
    basin: KnownBasin,
    page: Annotated[Listing, listing(StatePage, DayCursor)],
    version: ChosenVersion = None,
) -> Response:
    """The states that forecasts started from, the newest day first, a page at a time: follow `next` until it is null.
    Each names its parent, so that the chain leads back to the empty store. Of old days the last of each month is
    stored; a damaged state is left out, and recomputed by the next forecast. The states of a version that combines
    others are those of its parts: name one."""
    of_version = asked_version(session, basin, version)
    of_version.require_members("Reading states")
    found = states.page(session, of_version.id, basin, before=page.after, limit=page.sought)
    return page.of(found, list, lambda state: state.day, basin=basin, version=of_version.id)


@router.get(
    "/{basin}/states/{day}",
    summary="A model state of a basin with its arrays",
    **documented_responses(StateDetail, *OF_VERSION, states.UnknownState, CombinedVersion, formats=(NETCDF,)),
)
def read_state(
    session: Reading, basin: KnownBasin, day: StateDay, answer: StateAnswer, version: ChosenVersion = None
) -> Response:
    """What the model's cells hold at the end of the day, for each member: exact numbers in JSON, or the arrays in a
    NetCDF file. A forecast from this day starts from them."""
    asked = asked_version(session, basin, version)
    asked.require_members("Reading states")
    content = detail(session, asked, basin, day)
    if answer.chosen is JSON:
        return answer.of(content)
    return answer.written(content, f"{basin}_state_{content.day}_{asked.id}", of_state)
