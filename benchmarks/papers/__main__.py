"""`python -m benchmarks.papers NAME [--quick] [--seeds N] [--folder FOLDER] [--json]`: the paper's row and ours."""

import argparse
import importlib
import json
from pathlib import Path

from benchmarks.papers.plan import Plan, Report

EXPERIMENTS = {
    "addition": "benchmarks.papers.addition",
    "arithmetic-recurrent": "benchmarks.papers.arithmetic_recurrent",
    "arithmetic-static": "benchmarks.papers.arithmetic_static",
    "eins-parameters": "benchmarks.papers.eins_parameters",
    "gradient-norms": "benchmarks.papers.gradient_norms",
    "pendulum": "benchmarks.papers.pendulum",
    "xor": "benchmarks.papers.xor",
}


def main() -> None:
    """Parse the command line, run the experiment, print its table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    parser.add_argument("name", choices=sorted(EXPERIMENTS))
    parser.add_argument("--quick", action="store_true", help="about a minute, far from the paper's size")
    parser.add_argument("--seeds", type=int, help="how many seeds")
    parser.add_argument("--folder", type=Path, default=Path("build/papers"), help="for checkpoints")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    plan = Plan(arguments.quick, arguments.seeds, arguments.folder / arguments.name)
    report: Report = importlib.import_module(EXPERIMENTS[arguments.name]).run(plan)
    print(json.dumps(report.as_json(), indent=2) if arguments.json else as_text(report))


def as_text(report: Report) -> str:
    """Return a report as a table that people read."""
    lines = [report.title, report.source, ""]
    widths = [max(len(text) for text in column) for column in zip(*_cells(report), strict=True)]
    lines += ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in _cells(report)]
    lines += ["", *(f"{name}: {value}" for name, value in report.setup.items()), f"seconds: {report.seconds:.0f}"]
    return "\n".join(lines)


def _cells(report: Report) -> list[tuple[str, str, str]]:
    return [("", "paper", "ours"), *((row.what, row.paper, row.ours) for row in report.rows)]


if __name__ == "__main__":
    main()
