"""Stores weather forecasts: once, and never changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from hydrology.base.digests import sha256
from hydrology.weather.forcing import WeatherForecast, WeatherIssue
from records.basins import basins as basin_records
from records.database.ids import new_id
from records.database.statements import as_values, insert_into
from records.series.year_rows import VALUE
from records.weather.weather_issues import ISSUES, PARTS, BasinPart, Issue, content_to_hash


@dataclass(frozen=True, slots=True)
class StoredIssue:
    """The result of storing a weather forecast.

    Attributes:
        known: basins already stored with the same content.
        refused: why other basins were not stored.
        warnings: oddities of the weather, by basin.
    """

    issue_id: str
    new: tuple[str, ...]
    known: tuple[str, ...]
    refused: Mapping[str, str]
    warnings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def store(session: Session, forecasts: Sequence[WeatherForecast], at: datetime, *, operational: bool) -> StoredIssue:
    """Store a source's forecasts for some basins. Already stored ones stay as they are.

    Args:
        forecasts: one or more, of one source, model and reference time, each for another basin; otherwise ValueError.
        at: the machine's time.
        operational: see `weather_issues.Issue`.
    """
    issue = forecasts[0].issue
    issues = {(each.issue.source, each.issue.model, each.issue.reference_time) for each in forecasts}
    if len(issues) > 1 or len({each.basin for each in forecasts}) < len(forecasts):
        raise ValueError("forecasts stored together must be of one issue, with each basin once")
    issue_id = _store_issue(session, issue, at, operational)
    by_basin = {forecast.basin: forecast for forecast in forecasts}
    refused = {basin: str(error) for basin, error in basin_records.unknown(session, list(by_basin)).items()}
    rows = {basin: _row(issue_id, forecast) for basin, forecast in by_basin.items() if basin not in refused}
    before = _hashes(session, issue_id, rows)
    if new := [row for basin, row in rows.items() if basin not in before]:
        session.execute(insert_into(session, BasinPart).on_conflict_do_nothing(), new)
    for basin, digest in _hashes(session, issue_id, rows).items():
        if digest != rows[basin]["sha256"]:
            refused[basin] = _other_content(basin, issue)
    stored = [basin for basin in rows if basin not in refused]
    return StoredIssue(
        issue_id=issue_id,
        new=tuple(basin for basin in stored if basin not in before),
        known=tuple(basin for basin in stored if basin in before),
        refused=refused,
    )


def _store_issue(session: Session, issue: WeatherIssue, at: datetime, operational: bool) -> str:
    identity = as_values(issue, "available_time", "licence", "credit") | {"operational": operational}
    row = as_values(issue, "available_time") | identity | {"id": new_id(at), "created_at": at}
    session.execute(insert_into(session, Issue).values(row).on_conflict_do_nothing())
    found: str | None = session.scalar(select(ISSUES.c.id).filter_by(**identity))
    assert found is not None
    return found


def _row(issue_id: str, forecast: WeatherForecast) -> dict[str, Any]:
    variables = sorted(forecast.values)
    content = np.stack([forecast.values[name] for name in variables]).astype(VALUE).tobytes()
    columns = {
        "issue_id": issue_id,
        "basin_id": forecast.basin,
        "available_time": forecast.issue.available_time,
        "first": forecast.first,
        "last": forecast.period.last,
        "traces": list(forecast.traces),
        "variables": variables,
        "content": content,
    }
    return columns | {"sha256": sha256(content_to_hash(SimpleNamespace(**columns)))}


def _hashes(session: Session, issue_id: str, basins: Mapping[str, Any]) -> dict[str, str]:
    query = select(PARTS.c.basin_id, PARTS.c.sha256).where(PARTS.c.issue_id == issue_id)
    return dict(session.execute(query.where(PARTS.c.basin_id.in_(list(basins)))).all())


def _other_content(basin: str, issue: WeatherIssue) -> str:
    return (
        f"{basin}: another weather forecast of {issue.source} {issue.model} of "
        f"{issue.reference_time:%Y-%m-%dT%H:%MZ} is stored, and stored ones never change: give this one its own "
        "reference time or model."
    )
