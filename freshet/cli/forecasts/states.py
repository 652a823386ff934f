"""`freshet states`: stored model states of a basin."""

from typing import Annotated, Any

from freshet.cli.context import reading
from freshet.cli.options import Basin, argument, option
from freshet.cli.output import Json, answer, table
from hydrology.base.absent import text
from hydrology.base.calendar import day as read_day
from hydrology.base.errors import counted
from records.basins import basins
from records.forecasts.latest import asked_version
from records.runs import states as records

SHOWN = 20


def states(
    basin: Basin,
    day: Annotated[str | None, argument("DAY", "Show the state of this day, with its arrays in --json.")] = None,
    version: Annotated[str | None, option("VERSION", "A model version. Default: the basin's current one.")] = None,
    limit: Annotated[int, option("COUNT", "Maximum number of states, the newest first.", min=1, max=10_000)] = SHOWN,
    as_json: Json = False,
) -> None:
    """List the stored model states of a basin, or show that of a day."""
    with reading() as session:
        basins.require(session, basin)
        of_version = asked_version(session, basin, version)
        of_version.require_members("Reading states")
        asked = of_version.id
        if day is None:
            found = records.page(session, asked, basin, before=None, limit=limit)
        else:
            found = [records.require(session, asked, basin, read_day(day))]
    columns = ("day", "storage of each member [mm]", "sha256", "parent", "invalid")
    shown = [_json(state, arrays=day is not None) for state in found]
    rows = [
        (one["day"], _brief(one["storage_mm"]), one["sha256"][:12], one["parent_day"], one["invalid_reason"])
        for one in shown
    ]
    payload = {"basin": basin, "version": asked, "states": shown}
    answer(payload, as_json, table(columns, rows, f"{counted(len(found), 'state')} of {basin}, version {asked}"))


def _json(state: records.State, *, arrays: bool) -> dict[str, Any]:
    storage = state.storage
    content = {name: array.tolist() for name, array in state.arrays.items()}
    return {
        "day": state.day,
        "product": state.product,
        "sha256": state.sha256,
        "parent_day": state.parent_day,
        "parent_sha256": state.parent_hash,
        "inputs_hash": state.inputs_hash,
        "spin_up_days": state.spin_up_days,
        "storage_mm": None if storage is None else storage.tolist(),
        "created_at": state.created_at,
        "invalid_at": state.invalid_at,
        "invalid_reason": text(state.invalid_reason),
    } | ({"arrays": content} if arrays else {})


def _brief(storage: list[float] | None) -> str | None:
    return None if storage is None else " ".join(f"{value:.1f}" for value in storage)
