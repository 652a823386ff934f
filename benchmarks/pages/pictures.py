"""`python -m benchmarks.pages.pictures`: the main pages as they look, for docs/pictures.

Of the 447 basins of CAMELS-US on a day of snow melt; one of them has what more work gives it: snow, what is usual, the
volume of its season. And of the demonstration, in few colours, for the first page of the repository.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from benchmarks.pages.stores import HORIZON, MELTING, camels, demonstration, run, served
from freshet.demo.demonstration import AS_OF, FLOODED
from testing.browser import FLAGS, PHONE, WIDE, installed

FOLDER = Path("docs/pictures")
BASIN = "USGS-09081600"
JUDGED_ON = "1989-10-01..1999-09-30"
ISSUE_DAY = MELTING + timedelta(days=1)
"""The clock of the pictures: of the second forecast."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A page in a window."""

    path: str
    scheme: Literal["light", "dark"] = "light"
    window: Mapping[str, int] | None = None
    whole: bool = False


PICTURES = {
    "page-day": Picture("/"),
    "page-basin": Picture(f"/basins/{BASIN}", whole=True),
    "page-basin-phone": Picture(f"/basins/{BASIN}", "dark", PHONE),
}
OF_DEMONSTRATION = {
    "demo-rivers": Picture("/", window={"width": 1280, "height": 800}),
    "demo-flood": Picture(f"/basins/{FLOODED}", window={"width": 1280, "height": 1060}),
}
COLOURS = 256


def main() -> None:
    """Make the stores, and take the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        store = demonstration(Path(folder))
        with served(store, AS_OF, "serve") as (address, _):
            _take_all(address, OF_DEMONSTRATION)
    for name in OF_DEMONSTRATION:
        file = FOLDER / f"{name}.png"
        Image.open(file).convert("RGB").quantize(COLOURS).save(file, optimize=True)
    with tempfile.TemporaryDirectory() as folder:
        store = camels(Path(folder))
        run(store, ISSUE_DAY, "evaluate", "--basin", BASIN, "--period", JUDGED_ON)
        run(store, ISSUE_DAY, "thresholds", "simulate", "--basin", BASIN)
        run(store, ISSUE_DAY, "forecast", "--t0", f"{MELTING:%Y-%m-%d}", "--horizon", str(HORIZON))
        run(store, ISSUE_DAY, "volumes", "--basin", BASIN)
        with served(store, ISSUE_DAY) as (address, _):
            _take_all(address, PICTURES)


def _take_all(address: str, pictures: Mapping[str, Picture]) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed(), args=FLAGS)
        for name, picture in pictures.items():
            _take(browser, address, picture, FOLDER / f"{name}.png")
        browser.close()


def _take(browser: Browser, address: str, picture: Picture, file: Path) -> None:
    width, height = (picture.window or WIDE).values()
    window = browser.new_context(viewport={"width": width, "height": height}, color_scheme=picture.scheme)
    page = window.new_page()
    page.goto(address + picture.path)
    page.wait_for_load_state("networkidle")
    page.screenshot(path=file, full_page=picture.whole)
    window.close()


if __name__ == "__main__":
    main()
