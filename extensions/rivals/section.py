"""What pages show of rivals: beside a version their scores, beside a forecast their flows."""

from datetime import date
from pathlib import Path

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from sqlalchemy.orm import Session

from app.http.json_numbers import gappy_column
from extensions.rivals.endpoints import comparison_of
from hydrology.base.calendar import day
from hydrology.base.units import Units, converted
from records.forecasts.latest import Latest
from records.verification import rivals

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)


def section(session: Session, version: str, base: str) -> Markup:
    """Return rivals' scores beside a version's, nothing where no rival is stored."""
    known = rivals.list_rivals(session)
    if not known:
        return Markup("")
    found = comparison_of(session, version)
    return Markup(_TEMPLATES.get_template("section.html").render(base=base, rivals=known, found=found))


def drawn(session: Session, latest: Latest, units: Units) -> dict[str, dict[date, float | None]]:
    """Return the middle of rivals' forecasts that were issued on the same day, by rival."""
    issued, area = day(latest.run.issued_at.date()), latest.basin.area
    found: dict[str, dict[date, float | None]] = {}
    for rival in rivals.list_rivals(session, "forecasts"):
        flow = rivals.flows_of(session, rival.id, latest.basin.basin_id, [issued]).get(issued)
        if flow is not None and (units != "mm/day" or area is not None):
            middle = gappy_column(converted(flow[len(flow) // 2], unit="m3/s", into=units, area=area))
            found[rival.id] = dict(zip((issued + np.arange(len(middle))).tolist(), middle, strict=True))
    return found
