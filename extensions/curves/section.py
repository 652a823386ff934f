"""The training curves on the page of a model version."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from sqlalchemy.orm import Session

from extensions.curves.endpoints import TrainingCurves, curves_of
from records.versions import versions

WIDTH, HEIGHT = 320, 120
"""Of a drawing, in its own units."""
LOWEST = 0.0
"""Lower validation scores are drawn at this value: those of the first steps mean little."""
TITLES = {
    "loss": "Loss",
    "validation_nse": "Validation NSE, median of the basins",
    "gradient_norm": "Norm of the gradient",
    "learning_rate": "Learning rate",
}
_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)


@dataclass(frozen=True, slots=True)
class Panel:
    """A drawing of one value of all members by step: `lines` are the points of a polyline for each."""

    title: str
    is_log: bool
    low: float
    high: float
    newest: float
    lines: list[str]


def section(session: Session, version: str, base: str) -> Markup:
    """Return the drawings of a version's training, under the address of the service."""
    if versions.get(session, version).combines:
        return Markup("")
    found = curves_of(session, version)
    steps = max((point.step for point in found.points), default=0)
    page = _TEMPLATES.get_template("section.html").render(
        base=base, curves=found, steps=steps, panels=list(panels(found)), width=WIDTH, height=HEIGHT
    )
    return Markup(page)


def panels(curves: TrainingCurves) -> Iterator[Panel]:
    """Yield a drawing for each value that was recorded at two steps or more."""
    steps = max((point.step for point in curves.points), default=0) or 1
    for name, title in TITLES.items():
        by_member: dict[int, list[tuple[int, float]]] = {}
        for point in curves.points:
            value = getattr(point, name)
            if value is not None:
                drawn = max(value, LOWEST) if name == "validation_nse" else value
                by_member.setdefault(point.member, []).append((point.step, drawn))
        values = [value for points in by_member.values() for _, value in points]
        if len(values) < 2 * max(1, len(by_member)):
            continue
        is_log = name != "validation_nse" and min(values) > 0
        place = math.log if is_log else float
        low, high = min(values) if is_log else min(0.0, *values), max(values)
        scale = HEIGHT / ((place(high) - place(low)) or 1)
        lines = [
            " ".join(f"{WIDTH * step / steps:.1f},{(place(high) - place(value)) * scale:.1f}" for step, value in points)
            for points in by_member.values()
        ]
        newest = sum(points[-1][1] for points in by_member.values()) / len(by_member)
        if name == "loss":
            title += f" {curves.loss_name}" + ("" if curves.units[name] == "1" else f", {curves.units[name]}")
        yield Panel(title, is_log, low, high, newest, lines)
