"""How many mutants of ten modules the tests of `make test` find, and how many more those of `make test-all`.

Each mutant meets the tests that run its line, those of its module and then the quickest first, as many as take a minute
in each tier, until one fails. Which tests run which line comes from a run of all tests. `results/baseline.json` has
what this printed for the tests as they were before they had tiers: of its mutants, those that were found then and whose
lines are still there are tried again, first by the test that found them last (`results/found.json`, which each run
renews for its modules); `lost` are those that are not found now. On the committed tree, an hour on two cores with all
tests, much less where those tests still find them; a run that is stopped goes on where it was, in a folder of the
temporary one.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import structlog

from benchmarks.mutation import chosen_tests, covered_lines
from benchmarks.mutation.chosen_tests import function_of
from benchmarks.mutation.mutants import MODULES, Mutant, mutants

log = structlog.get_logger()

ROOT = Path(__file__).parents[2]
BASELINE, FOUND = (Path(__file__).parent / "results" / name for name in ("baseline.json", "found.json"))
COMPILED = Path("models", "nets", "compiled")
BOUND = 60.0  # seconds of tests of a tier for each mutant
PATIENCE = 10  # times the bound: a mutant that hangs is found
TIERS = {"test": "not extended", "test-all": "extended"}
"""The commands, with the markers of their tests."""
NO_FAILURE, FAILURE, INTERRUPTED, USAGE = 0, 1, 2, 4  # exit codes of pytest

Outcomes = dict[str, tuple[str, str] | None]
"""The tier that finds each mutant, by its name, and the function of the test; None where neither does."""


def measure(only: str | None = None) -> dict[str, Any]:
    """Return a row for each module, or for those that are named with commas between them, and each mutant's outcome."""
    modules = MODULES if only is None else tuple(only.split(","))
    commit = _output("git", "rev-parse", "HEAD")
    folder = Path(tempfile.gettempdir(), f"freshet-mutation-{commit[:12]}")
    copies = [_copy(folder / f"copy-{number}") for number in range(os.cpu_count() or 1)]
    before = json.loads(BASELINE.read_text())["outcomes"]
    found = [one for module in modules for one in mutants(ROOT, module) if before.get(one.name)]
    outcomes = _outcomes(found, copies, folder)
    _renew(modules, {name: of for name, of in outcomes.items() if of})
    tiers = {name: of and of[0] for name, of in outcomes.items()}
    return {"commit": commit, "modules": [_row(module, tiers) for module in modules], **_against(before, tiers)}


class CoveringTests:
    """Finds the functions of tests that run a line."""

    def __init__(self, files: Iterable[Path]) -> None:
        self._seconds: dict[str, dict[str, float]] = {tier: defaultdict(float) for tier in TIERS}
        self._of_lines: dict[str, dict[int, set[str]]] = {module: {} for module in MODULES}
        for file in files:
            stored = json.loads(file.read_text())
            for test, (seconds, extended) in stored["tests"].items():
                self._seconds["test-all" if extended else "test"][function_of(test)] += seconds
            for module, lines in stored["lines"].items():
                for line, tests in lines.items():
                    functions = {function_of(test) for test in tests if test != covered_lines.OUTSIDE}
                    self._of_lines[module].setdefault(int(line), set()).update(functions)

    def quickest(self, mutant: Mutant, tier: str) -> list[str]:
        """Return the functions of a tier that run a mutant's line, as long as the bound.

        Those in the module's own file of tests are the first, then the quickest. A line that is not the first one of a
        statement, or is of a signature, concerns the functions of the lines beside it; one that runs outside of any
        test, as a constant does, all functions of the files of tests that run the module: one may read the constant
        alone.
        """
        lines, seconds = self._of_lines[mutant.module], self._seconds[tier]
        places = sorted(lines)
        at = bisect_right(places, mutant.line)
        first = max(at - 1, 0)
        functions = set().union(*(lines[line] for line in places[first : at if mutant.line in lines else at + 1]))
        if not functions:
            files = {_file_of(function) for function in set().union(*lines.values())}
            functions = {function for function in seconds if _file_of(function) in files}
        own = f"/test_{Path(mutant.module).name}"
        chosen, total = [], 0.0
        for function in sorted(
            functions & seconds.keys(), key=lambda one: (not _file_of(one).endswith(own), seconds[one], one)
        ):
            if total < BOUND:
                chosen.append(function)
                total += seconds[function]
        return chosen


def _outcomes(found: list[Mutant], copies: list[Path], folder: Path) -> Outcomes:
    """Let each mutant meet its tests, and store the outcome at once."""
    file, last = folder / "outcomes.jsonl", json.loads(FOUND.read_text()) if FOUND.exists() else {}
    known: Outcomes = dict(json.loads(line) for line in file.read_text().splitlines()) if file.exists() else {}
    free: SimpleQueue[Path] = SimpleQueue()
    for copy in copies:
        free.put(copy)
    numbers = count(len(known) + 1)

    def meet(mutant: Mutant, chosen: Mapping[str, Sequence[str]]) -> None:
        copy = free.get()
        try:
            met = ((tier, _found_by(mutant, chosen[tier], tier, copy)) for tier in TIERS if chosen.get(tier))
            outcome = next(((tier, test) for tier, test in met if test is not None), None)
        finally:
            free.put(copy)
        known[mutant.name] = outcome
        with file.open("a") as stream:
            stream.write(json.dumps([mutant.name, outcome]) + "\n")
        log.warning("mutant", number=next(numbers), of=len(found), found_by=outcome, name=mutant.name)

    with ThreadPoolExecutor(len(copies)) as pool:
        again = [mutant for mutant in found if mutant.name not in known and mutant.name in last]
        _require_pass({last[mutant.name][1] for mutant in again}, copies[0])
        list(pool.map(meet, again, [{last[mutant.name][0]: [last[mutant.name][1]]} for mutant in again]))
        left = [mutant for mutant in found if known.get(mutant.name) is None]
        if left:
            tests = CoveringTests(_covered_lines(copies[0], folder / "covered"))
            list(pool.map(meet, left, [{tier: tests.quickest(mutant, tier) for tier in TIERS} for mutant in left]))
    return {mutant.name: known[mutant.name] for mutant in found}


def _renew(modules: Collection[str], outcomes: Outcomes) -> None:
    """Store what has found the mutants of some modules; what is stored of the others stays."""
    last = json.loads(FOUND.read_text()) if FOUND.exists() else {}
    others = {name: of for name, of in last.items() if _module_of(name) not in modules}
    by_module = sorted((others | outcomes).items(), key=lambda one: _module_of(one[0]))
    FOUND.write_text(json.dumps(dict(by_module), indent=0) + "\n")


def _module_of(mutant: str) -> str:
    return mutant.partition(":")[0]


def _file_of(function: str) -> str:
    return function.partition("::")[0]


def _require_pass(functions: Collection[str], copy: Path) -> None:
    """Refuse tests that fail without any mutant."""
    chosen = copy.with_suffix(".chosen")
    chosen.write_text("\n".join(functions))
    files = {_file_of(function) for function in functions}
    if files:
        variables = {chosen_tests.VARIABLE: str(chosen)}
        code, output = _pytest(copy, "-p", chosen_tests.__name__, *files, variables=variables)
        assert code == NO_FAILURE, output


def _found_by(mutant: Mutant, functions: Sequence[str], tier: str, copy: Path) -> str | None:
    """Run tests on a mutant in a copy of the tree, and return the function of the one that fails, or None."""
    path, chosen = copy / mutant.module, copy.with_suffix(".chosen")
    original = path.read_text("utf-8")
    chosen.write_text("\n".join(functions))
    path.write_text(mutant.source, "utf-8")
    files = dict.fromkeys(map(_file_of, functions))
    plugin = ("-p", chosen_tests.__name__, "-m", TIERS[tier])
    try:
        variables = {chosen_tests.VARIABLE: str(chosen)}
        code, output = _pytest(copy, "--exitfirst", *plugin, *files, variables=variables, timeout=PATIENCE * BOUND)
    except subprocess.TimeoutExpired:
        return functions[0]
    finally:
        path.write_text(original, "utf-8")
    is_import_error = code == USAGE and "while loading conftest" in output
    assert code in (NO_FAILURE, FAILURE, INTERRUPTED) or is_import_error, output
    if code == NO_FAILURE:
        return None
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
    return functions[0] if failed is None else function_of(failed[1])


def _pytest(copy: Path, *arguments: str, variables: Mapping[str, str], timeout: float | None = None) -> tuple[int, str]:
    """Run pytest in a copy, whose bytecode stays as it is, and return its exit code and output."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", **variables}
    command = [sys.executable, "-m", "pytest", *arguments]
    ended = subprocess.run(
        command, cwd=copy, env=environment, capture_output=True, text=True, timeout=timeout, check=False
    )
    return ended.returncode, ended.stdout + ended.stderr


def _covered_lines(copy: Path, folder: Path) -> list[Path]:
    """Run all tests once and return the files of what each process saw."""
    done = folder / "done"
    if not done.exists():
        folder.mkdir(parents=True, exist_ok=True)
        plugin = ("-p", covered_lines.__name__)
        code, output = _pytest(
            copy, "-n", "4", "--dist", "worksteal", *plugin, variables={covered_lines.VARIABLE: str(folder)}
        )
        assert code in (NO_FAILURE, FAILURE), output
        done.touch()
    return sorted(folder.glob("*.json"))


def _copy(folder: Path) -> Path:
    """Return a clone of the committed tree with the compiled libraries."""
    if not folder.exists():
        _output("git", "clone", "--quiet", str(ROOT), str(folder))
        for library in (ROOT / COMPILED).glob("*.so"):
            (folder / COMPILED / library.name).write_bytes(library.read_bytes())
        # Bytecode that goes by the content of its source: that of one mutant is never taken for another's.
        _output(sys.executable, "-m", "compileall", "-qq", "--invalidation-mode", "checked-hash", str(folder))
    _output("git", "-C", str(folder), "checkout", "--quiet", ".")  # where a run was stopped in a mutant
    return folder


def _output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def _row(module: str, outcomes: Mapping[str, str | None]) -> dict[str, Any]:
    of_module = [tier for name, tier in outcomes.items() if name.startswith(f"{module}:")]
    found = {f"found_by_{tier.replace('-', '_')}": of_module.count(tier) for tier in TIERS}
    return {"module": module, "mutants": len(of_module), **found, "survive": of_module.count(None)}


def _against(before: Mapping[str, str | None], now: Mapping[str, str | None]) -> dict[str, Any]:
    """Compare with the baseline, over the mutants that are in both."""
    found = [name for name, tier in before.items() if tier is not None and name in now]
    by_test = sum(now[name] == "test" for name in found)
    return {
        "found_in_baseline": len(found),
        "lost": [name for name in found if now[name] is None],
        "share_by_test": round(by_test / len(found), 3) if found else None,
    }
