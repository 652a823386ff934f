"""Ten questions on a flood are answered on the first screen of the first page or, a click away, of the river's.

On 30 real rivers in the replayed flood of March 1997, at three sizes of the window; each answer is the outlook's.
"""

import shutil
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Browser

from app.forecasts.words import number, on
from freshet.demo.demonstration import AS_OF
from hydrology.alerts import rank
from hydrology.extremes.level_checks import percent
from records.basins.ownership import station_name
from testing.api_process import served
from testing.browser import PHONE, showing
from tests.freshet.conftest import Freshet
from tests.shared_folders import filled_once

pytestmark = pytest.mark.extended

FLOODED = "USGS-12010000"
"""The Naselle River, three days before its highest day of ten years."""
INSTRUCTION = "Move cars from the river bank."
RIVERS = 30
FILES = ("maurer_extended.zip", "basin_timeseries_v1p2_metForcing_obsFlow.zip", "camels_attributes_v2.0")
LIST = "basin_lists/447_basin_file.txt"
WINDOWS = {"desk": {"width": 1280, "height": 800}, "wall": {"width": 1920, "height": 1080}, "phone": PHONE}
SEEN = """() => {
  const seen = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, range = document.createRange();
    if (!node.textContent.trim() || !node.parentElement.checkVisibility({ visibilityProperty: true })) continue;
    range.selectNodeContents(node);
    const boxes = [...range.getClientRects()];
    const inside = (box) => box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
    if (boxes.length && boxes.every(inside)) seen.push(node.textContent);
  }
  return seen.join(" ").replace(/\\s+/g, " ");
}"""
"""The texts that lie wholly within the window."""


@pytest.fixture(scope="session")
def flood(camels: Path, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an API over real rivers, forecast by the shipped ensemble on two days of the flood."""

    def forecast(data: Path) -> None:
        every = (camels / LIST).read_text().split()
        others = [basin for basin in every[:: len(every) // RIVERS] if not FLOODED.endswith(basin)]
        basins = [part for basin in [FLOODED, *others][:RIVERS] for part in ("--basin", basin)]
        files = [part for file in FILES for part in ("--from", str(camels / file))]
        _freshet(data, "ingest", "camels", *files, *basins)
        _freshet(data, "models", "install-pretrained", "--promote")
        stated = ("--impact", "Water covers the mill road.", "--instruction", INSTRUCTION)
        _freshet(data, "thresholds", "set", FLOODED, "mill-road", "190", *stated)
        for t0 in ("1997-03-13", "1997-03-14"):
            _freshet(data, "forecast", "--t0", t0)
        _freshet(data, "volumes", "--t0", "1997-03-14")

    data = filled_once(shared / "flood", forecast)
    folder = tmp_path_factory.mktemp("flood")
    file = shutil.copy(data / "freshet.sqlite", folder)
    with served(f"sqlite:///{file}", folder, AS_OF) as (address, _):
        yield address


def _freshet(data: Path, *command: str) -> None:
    done = Freshet(data)(*command, FRESHET_AS_OF=AS_OF.isoformat())
    assert done.code == 0, done.err


@pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
def test_the_first_screens_answer_ten_questions(browser: Browser, flood: str, window: dict[str, int]) -> None:
    outlook = _read(flood, f"basins/{FLOODED}/outlook")
    worst = max(_read(flood, "alerts")["alerts"], key=lambda alert: rank(alert["severity"]))
    with showing(browser, flood, viewport=window) as shown:
        shown.go("/")
        first: str = shown.page.evaluate(SEEN)
        shown.page.get_by_role("link", name=_title(flood, FLOODED)).first.click()
        shown.page.wait_for_load_state("networkidle")
        second: str = shown.page.evaluate(SEEN)
    unanswered = {
        question: missing
        for question, answers in _answers(outlook).items()
        if (missing := [text for text in answers if text not in second])
    }
    assert unanswered == {}, second
    assert _title(flood, worst["basin"]) in first
    assert worst["severity"] in first


def _read(address: str, path: str) -> Any:
    return httpx2.get(f"{address}/v1/{path}", trust_env=False).json()


def _title(address: str, basin: str) -> str:
    return station_name(_read(address, f"basins/{basin}")["name"])


def _answers(outlook: dict[str, Any]) -> dict[str, list[str]]:
    """Return the texts that answer each question on one river, from the outlook's values."""
    now, peak, threat, before = outlook["now"], outlook["peak"], outlook["threat"], outlook["change"]["peak"]
    low, middle, high = (number(peak[key]) for key in ("p05", "discharge", "p95"))
    return {
        "Is it in danger?": [threat["alert"]["severity"], threat["likely"]["title"]],
        "Is it over a level now?": [f"{number(now['discharge'])} m³/s on {_day(now['day'])}, {now['trend']}"],
        "When is the peak?": [f"on {_day(peak['day'])}"],
        "How high is it?": [f"{middle} m³/s"],
        "How wide is its range, and how high the chance?": [f"{low} to {high}", percent(threat["likely"]["chance"])],
        "What has changed?": [f"{number(before['discharge'])} on {_day(before['day'])}"],
        "How much snow is there?": [f"{number(outlook['snow']['mean'])} mm"],
        "How much water will the season bring?": [f"{outlook['season']['percent_of_normal'][2]:.0f} % of normal"],
        "How far can it be trusted?": [f"NSE {outlook['skill']['nse']:.2f}"],
        "What is to be done?": [INSTRUCTION],
    }


def _day(text: str) -> str:
    return on(date.fromisoformat(text))
