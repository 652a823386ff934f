"""`python -m benchmarks.fuzz [TARGET ...]`: fuzz readers, one after the other, each in a process of its own.

What was learnt of a target stays in its folder, and the next run goes on from there. The exit code
is 1 where there is a finding.
"""

import argparse
import json
import struct
import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from benchmarks.fuzz.targets import MODULES, TARGETS
from benchmarks.python_path import with_benchmarks
from runtime import child_processes

_GRACE = 600.0  # seconds to begin in, and for the last input


@dataclass(frozen=True, slots=True)
class Row:
    """What a run of a target came to.

    Attributes:
        executions: how many inputs were read.
        findings: the files that hold an input each that shows one, of this and earlier runs.
    """

    target: str
    executions: int
    seconds: float
    findings: Sequence[str]


def fuzz(name: str, folder: Path, seconds: int) -> Row:
    """Fuzz a target for some seconds; a process that dies is followed by another for the rest of them."""
    folder.mkdir(parents=True, exist_ok=True)
    before, started = _count(folder), time.monotonic()
    end = started + seconds
    while (left := round(end - time.monotonic())) > 0:
        counted = _count(folder)
        if _ran(name, folder, left):
            break
        if _count(folder) == counted:
            raise SystemExit(f"{name} cannot begin: read {folder / 'log'}.")
    found = sorted(str(path) for path in (folder / "findings").glob("*") if path.suffix != ".txt")
    return Row(name, _count(folder) - before, round(time.monotonic() - started, 1), found)


def _ran(name: str, folder: Path, seconds: int) -> bool:
    """Run a process, and return whether it came to its end."""
    command = child_processes.python_command("benchmarks.fuzz.process", MODULES[name], name, str(folder), str(seconds))
    with scratch_folder() as scratch, (folder / "log").open("ab") as log:
        process = subprocess.Popen([*command, scratch], env=with_benchmarks(), stdout=log, stderr=log)
        try:
            return process.wait(seconds + _GRACE) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            process.kill()
            process.wait()


def scratch_folder() -> TemporaryDirectory[str]:
    """Return a folder for files that a reader takes by their paths: in memory, where that is possible."""
    memory = Path("/dev/shm")
    return TemporaryDirectory(prefix="freshet-fuzz-", dir=memory if memory.is_dir() else None)


def _count(folder: Path) -> int:
    file = folder / "count"
    count: int = struct.unpack("<Q", file.read_bytes())[0] if file.exists() else 0
    return count


def main() -> None:
    """Parse the command line, fuzz, print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("target", nargs="*", help=f"of {', '.join(TARGETS)}; all where none is named")
    parser.add_argument("--seconds", type=int, default=600, help="for each target")
    parser.add_argument(
        "--folder", type=Path, default=Path(gettempdir()) / "freshet-fuzz", help="of inputs and findings"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    if unknown := set(arguments.target) - TARGETS.keys():
        parser.error(f"there is no target {', '.join(sorted(unknown))}: choose of {', '.join(TARGETS)}")
    rows = []
    for name in arguments.target or TARGETS:
        row = fuzz(name, arguments.folder / name, arguments.seconds)
        rows.append(row)
        if not arguments.json:
            print(
                f"{row.target}: {row.executions} executions in {row.seconds:g} s, {len(row.findings)} findings",
                flush=True,
            )
            for file in row.findings:
                print(f"  {file}", flush=True)
    if arguments.json:
        print(json.dumps({"targets": [asdict(row) for row in rows]}, indent=2))
    raise SystemExit(any(row.findings for row in rows))


if __name__ == "__main__":
    main()
