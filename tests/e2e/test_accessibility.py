"""Pages before the rules of axe, and no page wider than its window: wide, on a phone and zoomed."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser
from playwright.sync_api import TimeoutError as TimedOut

from testing.browser import PHONE, WIDE, Shown, showing
from tests.e2e.conftest import Api
from tests.e2e.paths import keyed_paths, open_paths

pytestmark = pytest.mark.extended

ZOOMED = {"width": WIDE["width"] // 2, "height": WIDE["height"] // 2}
"""What a window shows at 200 % zoom: it has the styles of a phone, and room of its own."""
SERIOUS = ("serious", "critical")
ALL = {"resultTypes": ["violations"]}
COLOURS = {"runOnly": ["color-contrast", "link-in-text-block"]}
"""The rules that a colour scheme can break: the schemes differ in colours alone."""
ROOM = {"runOnly": ["scrollable-region-focusable"]}
"""The rule that the room alone can break."""

PATIENCE = 10_000  # ms


@pytest.mark.parametrize("window", [WIDE, PHONE], ids=["wide", "phone"])
def test_no_page_has_a_serious_fault(browser: Browser, reading_api: Api, window: dict[str, int]) -> None:
    faults: dict[str, Any] = {}
    with showing(browser, reading_api.address, viewport=window) as shown:
        for path in [*open_paths(reading_api.stored), "/basins/SYNTH-99", "/jobs"]:
            shown.go(path)
            faults[path] = _faults(shown, window)
        _open_with_key(shown, reading_api.stored.token)
        for path in keyed_paths(reading_api.stored):
            shown.go(path)
            shown.page.locator("form[data-key]").wait_for(state="detached")
            faults[f"{path} with a key"] = _faults(shown, window)
    assert {path: found for path, found in faults.items() if found} == {}


def _faults(shown: Shown, window: dict[str, int]) -> list[Any]:
    """Return what axe finds to be serious, and by how much the page is wider than its window; a wide one zoomed too."""
    shown.page.wait_for_load_state("networkidle")
    shown.page.evaluate(Axe().axe_script)
    shown.page.emulate_media(color_scheme="light")
    faults = [*_serious(shown, ALL), *_overflow(shown)]
    if window == WIDE:
        shown.page.emulate_media(color_scheme="dark")
        faults += _serious(shown, COLOURS)
        shown.page.set_viewport_size(ZOOMED)  # type: ignore[arg-type]
        faults += [*_serious(shown, ROOM), *_overflow(shown)]
        shown.page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    return faults


def _serious(shown: Shown, options: dict[str, list[str]]) -> list[Any]:
    found = shown.page.evaluate("options => axe.run(options)", options)["violations"]
    return [(rule["id"], rule["nodes"][0]["html"]) for rule in found if rule["impact"] in SERIOUS]


def _overflow(shown: Shown) -> list[str]:
    wider = "document.documentElement.scrollWidth - innerWidth"
    try:
        shown.page.wait_for_function(f"{wider} <= 0", timeout=PATIENCE)  # figures follow a new width a little later
    except TimedOut:
        return [f"{shown.page.evaluate(wider)} px too wide"]
    return []


def _open_with_key(shown: Shown, token: str) -> None:
    shown.page.get_by_label("Key").fill(token)
    shown.page.get_by_role("button", name="Open").click()
    shown.page.locator("form[data-key]").wait_for(state="detached")
