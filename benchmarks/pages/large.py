"""What the pages of all basins cost at 5 000 and 20 000 basins: CPU of the API and of the browser, by address.

The store is the demonstration's eight rivers, copied all over the United States (`benchmarks.pages.stores.fill`), on
SQLite, and with 20 000 on PostgreSQL; one in 24 has an alert, and one in 41 no forecast. Each page is opened several
times, and the medians are shown; `changed_server_cpu_seconds` is of as many openings right after the peak of one basin
has changed, when all basins are read again. Bars: 0.3 CPU seconds of the API and 0.5 of the page in the browser; of the
list of the API, 2 of all the browser's processes and 300 kB.
"""

import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright
from sqlalchemy import Engine, create_engine, text

from benchmarks.pages.opened import opening
from benchmarks.pages.stores import demonstration, fill, many, served
from freshet.demo.demonstration import AS_OF
from records.database.connections import parsed_url
from testing.browser import FLAGS, installed
from testing.databases import copy_into
from testing.databases import served as postgresql

SIZES = (5_000, 20_000)
ROUNDS = 5
ADDRESSES = (
    *("/", "/?us_state=WA", "/?huc=17", "/?agency=USGS", "/?search=naselle", "/?alert=advisory", "/?colour=skill"),
    *("/?bbox=-124,45,-116,49", "/?page=200", "/alerts", "/v1/alerts", "/v1/alerts?limit=1000"),
    *("/v1/basins?q=naselle", "/status", "/docs"),
)
BARS = {"server_cpu_seconds": 0.3, "changed_server_cpu_seconds": 0.3, "page_cpu_seconds": 0.5}
OF_DOCS = {"kilobytes": 300, "browser_cpu_seconds": 2}
CHANGE = "UPDATE outlooks SET peak = peak * 1.001 WHERE basin_id = 'USGS-120100000003'"

Taken = dict[str, dict[str, float]]


def measure() -> dict[str, Any]:
    """Return the medians of each address by the store, and what is above its bar."""
    taken: dict[str, Taken] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        demo = demonstration(folder)
        for size in SIZES:
            store = many(demo, folder, size, AS_OF.year - 1)
            taken[f"{size} on SQLite"] = _of_store(store, f"sqlite:///{store / 'freshet.sqlite'}")
        with _on_postgresql(demo, SIZES[-1]) as url:
            taken[f"{SIZES[-1]} on PostgreSQL"] = _of_store(demo, url)
    above = [
        f"{address}, {store}: {name} {row[name]}"
        for store, rows in taken.items()
        for address, row in rows.items()
        for name, bar in (BARS | (OF_DOCS if address == "/docs" else {})).items()
        if row[name] > bar
    ]
    return {"bars": BARS | OF_DOCS, "above": above, **taken}


@contextmanager
def _on_postgresql(demo: Path, basins: int) -> Iterator[str]:
    with postgresql() as server:
        url = server.migrated()
        copy_into(demo / "freshet.sqlite", url)
        fill(url, basins, AS_OF.year - 1)
        yield url


def _of_store(store: Path, database_url: str) -> Taken:
    engine = create_engine(parsed_url(database_url))
    with served(store, AS_OF, database_url=database_url) as (address, server), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed(), args=FLAGS)
        taken = {path: _of_address(browser, address + path, server, engine) for path in ADDRESSES}
        browser.close()
    engine.dispose()
    return taken


def _of_address(browser: Browser, url: str, server: int, engine: Engine) -> dict[str, float]:
    rows = [asdict(opening(browser, url, server)) for _ in range(ROUNDS + 1)][1:]
    changed = []
    for _ in range(ROUNDS):
        with engine.begin() as database:
            database.execute(text(CHANGE))
        changed.append(opening(browser, url, server).server_cpu_seconds)
    medians = {name: round(statistics.median(row[name] for row in rows), 3) for name in rows[0]}
    return medians | {"changed_server_cpu_seconds": round(statistics.median(changed), 3)}
