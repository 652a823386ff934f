"""A basin's page and the first page in a real Chromium: of the demonstration's basins, of the 447 of CAMELS-US, and of
5 000.

The stores are filled first, by the command line: `freshet demo --once`; and an ingest of what FRESHET_CAMELS holds,
the shipped ensemble and one forecast; the 5 000 are these basins, copied. Each page is then opened with an empty cache,
several times, and the medians are reported:

- `kilobytes`: all that came over the wire for it, packed as the server packed it, with the heads of the answers;
- `answers`: how many there were;
- `page_cpu_seconds`: of the page's own thread, until the page is drawn, its plots too: reading, style, layout, scripts;
- `browser_cpu_seconds`: of all processes of the browser in that time, from the empty window on;
- `server_cpu_seconds`: of the API's process in that time.

`facts_on_first_screen` is the number of a basin's five facts that stand wholly on the first screen, by its width.
"""

import json
import statistics
import tempfile
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from playwright.sync_api import Browser, CDPSession, sync_playwright

from benchmarks.pages.stores import MELTING, camels, demonstration, many, served
from freshet.demo.demonstration import AS_OF
from testing.browser import FLAGS, PHONE, WIDE, facts_on_first_screen, installed
from testing.processes import cpu_seconds

ROUNDS = 5
MANY = 5_000
DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"


@dataclass(frozen=True, slots=True)
class Opening:
    """What it took to open a page once."""

    kilobytes: float
    answers: int
    page_cpu_seconds: float
    browser_cpu_seconds: float
    server_cpu_seconds: float


def measure() -> dict[str, Any]:
    """Return what each page took, by store."""
    with tempfile.TemporaryDirectory() as folder:
        of_camels = camels(Path(folder))
        return {
            "demonstration": opened(demonstration(Path(folder)), AS_OF),
            "camels": opened(of_camels, MELTING),
            "many": opened(many(of_camels, Path(folder), MANY, MELTING.year - 1), MELTING),
        }


def opened(store: Path, as_of: datetime) -> dict[str, Any]:
    """Return what the pages of a store took: medians, and the largest in `most`."""
    with served(store, as_of) as (address, server), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed(), args=FLAGS)
        pages = {"basin": f"{address}/basins/{_basin(address)}", "day": f"{address}/"}
        taken = {name: [opening(browser, page, server) for _ in range(ROUNDS + 1)] for name, page in pages.items()}
        seen = {window["width"]: _facts(browser, pages["basin"], window) for window in (WIDE, PHONE)}
        browser.close()
    reported = {name: _reported(openings[1:]) for name, openings in taken.items()}  # the first answer warms the server
    return {**reported, "facts_on_first_screen": seen}


def _facts(browser: Browser, url: str, window: Any) -> int:
    """Return the number of facts on the first screen."""
    page = browser.new_page(viewport=window)
    page.goto(url)
    seen = len(facts_on_first_screen(page))
    page.close()
    return seen


def _reported(openings: list[Opening]) -> dict[str, Any]:
    rows = [asdict(opening) for opening in openings]
    return {
        **{name: round(statistics.median(row[name] for row in rows), 3) for name in rows[0]},
        "most": {name: round(max(row[name] for row in rows), 3) for name in rows[0]},
    }


def opening(browser: Browser, url: str, server: int) -> Opening:
    window = browser.new_context(viewport={"width": 1280, "height": 900})  # with a cache of its own, which is empty
    page = window.new_page()
    tab, processes = window.new_cdp_session(page), browser.new_browser_cdp_session()
    tab.send("Network.enable")
    tab.send("Performance.enable", {"timeDomain": "threadTicks"})  # of the processor, not of the clock
    sizes: list[float] = []
    tab.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    browser_before, server_before = _browser_seconds(processes), cpu_seconds(server)
    answer = page.goto(url)
    if answer is None or not answer.ok:
        raise SystemExit(f"{url} answers {answer and answer.status}.")
    page.evaluate(DRAWN)
    page_seconds = _page_seconds(tab)
    browser_after, server_after = _browser_seconds(processes), cpu_seconds(server)
    window.close()
    received = [size for size in sizes if size]  # what stands in the page itself comes over no wire
    return Opening(
        kilobytes=sum(received) / 1000,
        answers=len(received),
        page_cpu_seconds=page_seconds,
        browser_cpu_seconds=browser_after - browser_before,
        server_cpu_seconds=server_after - server_before,
    )


def _page_seconds(tab: CDPSession) -> float:
    metrics = tab.send("Performance.getMetrics")["metrics"]
    seconds: float = next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")
    return seconds


def _browser_seconds(processes: CDPSession) -> float:
    shown = processes.send("SystemInfo.getProcessInfo")["processInfo"]
    return sum(float(process["cpuTime"]) for process in shown)


def _basin(address: str) -> str:
    """Return the first basin that has a forecast."""
    with urlopen(f"{address}/v1/edr/collections/forecasts/locations") as answer:
        basin: str = json.load(answer)["features"][0]["id"]
        return basin
