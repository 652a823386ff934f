"""The bits of daily cycles, however they are divided: parts of some sizes, by one worker and by two, on PostgreSQL.

Each division does the same issue days from the same store, its forecasts and states are compared to those that one
process computes undivided, on SQLite. `blocks` runs that undivided computation with other numbers of basins a block.
"""

import tempfile
from pathlib import Path
from typing import Any

from benchmarks.cycles.days import Days, bits, differing, prepared, working
from records.database.engine import Database
from testing.databases import PostgreSQL, copy_into, served

BASINS, DAYS = 40, 2
DIVISIONS = ((1, 40), (1, 7), (2, 7), (2, 1))
"""Numbers of workers, and of the basins of a part."""
BLOCKS = (1, 5)
"""Numbers of basins a block, beside that of the service."""


def measure(basins: int = BASINS) -> dict[str, Any]:
    """Return how many forecasts and states were compared, and which of them differ."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name, served() as server, prepared(Path(name), basins) as days:
        whole = days.undivided(DAYS)
        found = {f"{count} workers, parts of {size}": _divided(days, server, count, size) for count, size in DIVISIONS}
        found |= {f"undivided, blocks of {size}": days.undivided(DAYS, block=size) for size in BLOCKS}
    return {
        "shape": f"{DAYS} issue days of {basins} basins, PostgreSQL; undivided on SQLite",
        "compared": len(whole),
        "differ": {name: differing(whole, of) for name, of in found.items()},
    }


def _divided(days: Days, server: PostgreSQL, count: int, size: int) -> dict[str, str]:
    url = server.migrated()
    copy_into(days.file, url)
    for ahead in range(DAYS):
        with days.at(ahead), working(days.file.parent / "data", url, count, size) as workers:
            done = workers.shop.ended(workers.cycle().id)
            if done.status != "succeeded":
                raise SystemExit(f"A cycle {done.status}: {done.problem}")
    database = Database(url)
    found = bits(database)
    database.close()
    server.clean()
    return found
