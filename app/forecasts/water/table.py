"""Water in a basin as a table: a row for each day."""

from collections.abc import Iterator, Mapping

from app.exports.table import Column, Table, numbers
from app.forecasts.table import day_columns, run_columns, water_columns
from app.forecasts.water.schemas import AgeOfRun, FlowOfAge, FlowOfOrigin, OriginOfRun, StorageOfRun
from hydrology.water.water_age import OLDER, YET_TO_FALL
from records.basins.basins import Site

UNIT = "mm/day"
_OF_AGE = {OLDER: "water that fell before these seasons", YET_TO_FALL: "water that falls after t0"}


def of_storage(answer: StorageOfRun, sites: Mapping[str, Site]) -> Table:
    """Return the water in a basin on the days ahead."""
    rows = len(answer.time)
    columns = [
        *run_columns(answer, sites, rows),
        *day_columns(answer.time, answer.lead_days),
        *water_columns(answer, rows),
        numbers("storage_other", "the rest of the water", answer.other, rows, "mm"),
    ]
    return Table(f"{answer.basin}_storage_{answer.t0}", f"Water stored in {answer.basin}", columns)


def of_origin(answer: OriginOfRun, sites: Mapping[str, Site]) -> Table:
    """Return the discharge on the days ahead by where its water was at T0."""
    rows = len(answer.time)
    parts = {
        "stored": ("water that was in the basin at t0", answer.stored),
        "snow": ("water that was in the cells that read as snow at t0", answer.snow),
        "other": ("water that was in the other cells at t0", answer.other),
        "yet_to_fall": ("water that falls after t0", answer.yet_to_fall),
    }
    columns = [
        *run_columns(answer, sites, rows),
        *day_columns(answer.time, answer.lead_days),
        numbers("discharge", "mean of the members", answer.discharge, rows, UNIT),
        *(column for name, (meaning, part) in parts.items() for column in _part_columns(name, meaning, part, rows)),
    ]
    return Table(
        f"{answer.basin}_origin_{answer.t0}", f"Discharge of {answer.basin} by the origin of its water", columns
    )


def of_age(answer: AgeOfRun, sites: Mapping[str, Site]) -> Table:
    """Return the discharge by age of its water; no parts if unknown."""
    rows = len(answer.time)
    columns = [
        *run_columns(answer, sites, rows),
        *day_columns(answer.time, answer.lead_days),
        numbers("discharge", "mean of the members", answer.discharge, rows, UNIT),
    ]
    for part in answer.ages or []:
        name, meaning = part.age.lower().replace("-", "_"), _OF_AGE.get(part.age, f"water that fell in {part.age}")
        columns += _part_columns(name, meaning, part, rows)
    return Table(f"{answer.basin}_age_{answer.t0}", f"Discharge of {answer.basin} by the age of its water", columns)


def _part_columns(name: str, meaning: str, part: FlowOfOrigin | FlowOfAge | None, rows: int) -> Iterator[Column]:
    for statistic in FlowOfOrigin.model_fields:
        values = None if part is None else getattr(part, statistic)
        yield numbers(f"discharge_{name}_{statistic}", f"{statistic} of the {meaning}", values, rows, UNIT)
