"""Stores rivals: their flows, scores of their simulations by the code that scores the own, and published scores."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sqlalchemy.orm import Session

from extensions.rivals.reading import RivalFlows
from hydrology.base.absent import Absent, absent, texts
from hydrology.base.arrays import Array
from hydrology.base.calendar import Day, Period
from hydrology.base.digests import sha256
from hydrology.base.errors import DataProblem, InvalidInput
from hydrology.base.reasons import Reason
from hydrology.base.units import only_area, to_mm_per_day
from hydrology.scores.scores import SCORES, all_scores
from ingestion.base import ANY_FILES, SourceFile
from ingestion.sheet import Sheet
from ingestion.sources.benchmarks import Publication
from operations.basin_data.dataset import load_discharge
from operations.basin_data.ingest import ingest_published
from records.basins import basins
from records.database.work import Work
from records.verification import rivals
from records.verification.rivals import Flow, Rival

_BASIN_COLUMNS = ("basin", "gauge_id")


@dataclass(frozen=True, slots=True)
class Added:
    """The outcome of adding a rival; `left_out` has basins that are not stored here, or have no score, and why."""

    rival: str
    kind: str
    basins: int
    issues: int
    scored: int
    left_out: Mapping[str, str]


def add(work: Work, rival: str, source: str, read: RivalFlows, period: Period | None = None) -> Added:
    """Store a rival with its flows in the basins that are stored here; score a simulation over a period.

    The scores are stored as published ones, which `freshet compare` holds against those of versions. A basin without
    every observed day of the period is not scored, so that all are scored on the same days.

    Raises:
        DataProblem: no basin of it is stored here.
        InvalidInput: a period for forecasts, which are scored with the issued ones.
    """
    if period is not None and read.kind != "simulation":
        raise InvalidInput(f"Rival {rival} has forecasts: `freshet verify` scores them beside the issued ones.")
    with work.database.transaction() as session:
        here = {basin.id for basin in basins.list_basins(session)}
        flows = {key: flow for key, flow in read.flows.items() if key[0] in here}
        left_out = {basin: absent(Reason.RIVAL_ELSEWHERE) for basin, _ in read.flows if basin not in here}
        if not flows:
            raise DataProblem(f"No basin of rival {rival} is stored here: ingest some, or name its basins (--basins).")
        known = Rival(
            id=rival, kind=read.kind, values_per_day=read.values_per_day, source=source, added_at=work.clock.wall()
        )
        rivals.store(session, known, flows)
        scores = dict(_scores(session, rival, flows, period, left_out)) if period is not None else {}
    if period is not None and scores:
        content = b"".join(flow.tobytes() for flow in flows.values())
        file = SourceFile(rival, sha256(content), len(content))
        ingest_published(work, Publication(f"rival {rival}", source, period, file, scores))
    return Added(
        rival=rival,
        kind=read.kind,
        basins=len({basin for basin, _ in flows}),
        issues=len(flows),
        scored=len(scores) // len(SCORES),
        left_out=texts(left_out),
    )


def _scores(
    session: Session, rival: str, flows: Mapping[tuple[str, Day], Flow], period: Period, left_out: dict[str, Absent]
) -> Iterator[tuple[tuple[str, str, str], float | None]]:
    for (basin, first), flow in flows.items():
        found = _on_observed_days(session, basin, first, flow, period)
        if isinstance(found, Absent):
            left_out[basin] = found
            continue
        for metric, score in all_scores(*found, period.days).items():
            yield (rival, basin, metric), score.value


def _on_observed_days(
    session: Session, basin: str, first: Day, flow: Flow, period: Period
) -> tuple[Array, Array] | Absent:
    """Return simulated and observed flow of the days of a period, mm/day, or why there is none."""
    area = only_area(basins.get(session, basin).areas)
    if area is None:
        return absent(Reason.NO_AREA_FOR_DEPTH, basin=basin)
    observed = load_discharge(session, basin, [area.name], period)
    if isinstance(observed, Absent):
        return observed
    simulated = np.full(len(observed), np.nan)
    at = (period.days - first).astype(int)
    inside = (at >= 0) & (at < flow.shape[1])
    simulated[inside] = to_mm_per_day(flow[0, at[inside]], unit="m3/s", area=area)
    if lacking := int((np.isfinite(observed) & ~np.isfinite(simulated)).sum()):
        return absent(Reason.RIVAL_LACKS_DAYS, days=lacking, period=str(period))
    return simulated, observed.astype(np.float64)


def add_scores(work: Work, path: Path, model: str, source: str, period: Period, names: Collection[str]) -> int:
    """Store published scores of a model in basins, from a table with a column of basins and those of scores.

    Args:
        names: the columns to take, each a score of `hydrology.scores.scores.SCORES`; by default all of these.

    Returns:
        the number of basins.
    """
    file, content = ANY_FILES.read(path)
    sheet = Sheet.of_csv(file, b"row" + content if content.startswith(b",") else content)  # pandas names no index
    basin = next((name for name in _BASIN_COLUMNS if name in sheet.columns), None)
    if basin is None:
        raise sheet.fault("no column is the basin", f"name it {' or '.join(_BASIN_COLUMNS)}", sheet.header)
    metrics = {name: name.lower() for name in sheet.columns if name.lower() in SCORES}
    metrics = {name: metric for name, metric in metrics.items() if not names or metric in names}
    if lacking := {*names} - {*metrics.values()}:
        raise sheet.fault(f"among the columns {', '.join(sorted(lacking))} is missing", "name others", sheet.header)
    if not metrics:
        raise sheet.fault("no column is a score", f"name some of {', '.join(SCORES)}", sheet.header)
    scores: dict[tuple[str, str, str], float | None] = {}
    for line, row in sheet.rows:
        known = sheet.basin(row[basin], f"{basin} is not a gauge's number", "write it like 01013500", line)
        for name, metric in metrics.items():
            if (model, known, metric) in scores:
                raise sheet.fault("the basin comes twice", "give each once", line)
            scores[model, known, metric] = sheet.number(row[name], name, line) if row[name] else None
    if not scores:
        raise sheet.fault("there is no score in it", "give a row for each basin")
    ingest_published(work, Publication(f"{model}, {source}"[:200], source, period, sheet.file, scores))
    return len({of for _, of, _ in scores})
