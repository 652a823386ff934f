"""Mutants: a module with one operator, comparison, number, truth value, handler or decorator changed.

Cosmic Ray changes the source. Of all changes at one place, one is drawn, always the same for the same source. Changes
that any run would end in are left out, as of a difference into a shift of bits, and so are unions of types and what
`@dataclass` is given, which no run notices.
"""

import random
from collections import defaultdict
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from cosmic_ray import plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

MODULES = (
    "hydrology/alerts.py",
    "hydrology/uncertainty/exceedance.py",
    "hydrology/water/ledger.py",
    "operations/forecasting/calibrated_flow.py",
    "operations/training/promotion_rule.py",
    "records/database/retention.py",
    "records/job_permissions/permissions.py",
    "records/jobs/attempts.py",
    "records/runs/states.py",
    "records/series/series_writer.py",
)
OBVIOUS = {"BitAnd", "BitOr", "BitXor", "FloorDiv", "Invert", "LShift", "Mod", "Pow", "RShift"}
IDENTITY = {"Is", "IsNot"}

Place = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change of a module.

    Attributes:
        name: the module, the changed line as it was, the operator's name and, where two would be equal, a number. It
            stays the same while the line does.
        line: the number of the first changed line.
        source: the whole changed module.
    """

    module: str
    name: str
    line: int
    source: str


def mutants(root: Path, module: str) -> list[Mutant]:
    """Return a mutant of each place of a module that an operator of Cosmic Ray can change, by line."""
    source = (root / module).read_text("utf-8")
    changes = _changes(source)
    numbers: dict[str, count[int]] = defaultdict(lambda: count(1))
    found = []
    for place in sorted(changes):
        (line, column), _ = place
        text = source.splitlines()[line - 1]
        if text.startswith("@dataclass"):
            continue
        operator, occurrence = random.Random(f"{text} {column}").choice(sorted(changes[place]))
        changed = mutate_code(source, plugins.get_operator(operator)(), occurrence)
        if changed is None or not _compiles(changed):
            continue
        name = f"{module}: {text.strip()} [{operator.removeprefix('core/')}]"
        found.append(Mutant(module, f"{name} {next(numbers[name])}", line, changed))
    return found


def _changes(source: str) -> dict[Place, list[tuple[str, int]]]:
    """Return the operators that can change each place, with the number of the place among those of the operator."""
    nodes = list(ast_nodes(get_ast(source)))
    changes: dict[Place, list[tuple[str, int]]] = defaultdict(list)
    for name in plugins.operator_names():
        if not _can_go_on(name):
            continue
        places = (place for node in nodes for place in _places(name, node))
        for occurrence, place in enumerate(places):
            changes[place].append((name, occurrence))
    return changes


def _can_go_on(operator: str) -> bool:
    """Return whether a run can go on for a while after a change by an operator."""
    kind, _, terms = operator.removeprefix("core/").partition("_")
    before, _, after = terms.partition("_")
    is_replacement = before != "BitOr" and after not in OBVIOUS and (before in IDENTITY) == (after in IDENTITY)
    return is_replacement and not kind.startswith("Variable")


def _places(operator: str, node: Any) -> list[Place]:
    return list(plugins.get_operator(operator)().mutation_positions(node))


def _compiles(source: str) -> bool:
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True
