"""What the pages of all basins cost at 5 000 and 20 000 basins: CPU of the API and of the browser, by address.

The store is the demonstration's eight rivers, copied all over the United States (`benchmarks.pages.stores.many`), on
SQLite. Bars: 0.3 CPU seconds of the API and 0.5 of the page in the browser.
"""

import statistics
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from benchmarks.pages.opened import opening
from benchmarks.pages.stores import demonstration, many, served
from freshet.demo.demonstration import AS_OF
from testing.browser import FLAGS, installed

SIZES = (5_000, 20_000)
ROUNDS = 5
ADDRESSES = ("/", "/?us_state=WA", "/?search=naselle", "/?alert=advisory", "/alerts", "/status")
BARS = {"server_cpu_seconds": 0.3, "page_cpu_seconds": 0.5}


def measure() -> dict[str, Any]:
    """Return the medians of each address by the number of basins, and what is above its bar."""
    with tempfile.TemporaryDirectory() as folder:
        store = demonstration(Path(folder))
        taken = {size: _of_store(many(store, Path(folder), size, AS_OF.year - 1)) for size in SIZES}
    above = [
        f"{address} at {size}: {name} {row[name]}"
        for size, rows in taken.items()
        for address, row in rows.items()
        for name, bar in BARS.items()
        if row[name] > bar
    ]
    return {"bars": BARS, "above": above, **{str(size): rows for size, rows in taken.items()}}


def _of_store(store: Path) -> dict[str, dict[str, float]]:
    with served(store, AS_OF) as (address, server), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed(), args=FLAGS)
        taken = {
            path: [asdict(opening(browser, address + path, server)) for _ in range(ROUNDS + 1)][1:]
            for path in ADDRESSES
        }
        browser.close()
    return {
        path: {name: round(statistics.median(row[name] for row in rows), 3) for name in rows[0]}
        for path, rows in taken.items()
    }
