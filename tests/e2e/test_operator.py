"""What an operator does with the pages of a whole service: a key, ingest, train, watch, judge, promote, roll back, a
level, its alert, what if, a feed, the alert's receiver."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from records.access import keys
from records.database.engine import Database
from runtime.clock import Clock
from testing.api_process import await_ready
from testing.browser import Shown, showing
from testing.country import BASINS
from testing.processes import free_port
from tests.e2e.alerts_page import await_alert

pytestmark = pytest.mark.extended

WORK = 180_000.0  # milliseconds that a job may take
HELD_OUT = "2004-10-01..2005-09-30"
CONFIG = {
    "inputs.product": "synthetic",
    "train_period": "2001-10-01..2003-09-30",
    "validation_period": "2003-10-01..2004-09-30",
    "windows.spinup_days": "90",
    "windows.loss_days": "90",
    "windows.batch": "4",
    "schedule.steps": "4",
    "schedule.peak_learning_rate": "0.02",
    "schedule.warmup_steps": "1",
    "validate_every": "4",
}


@pytest.fixture
def shown(browser: Browser, country: Path, tmp_path: Path) -> Iterator[tuple[Shown, str]]:
    """A window on a service without any data, and an admin's token."""
    data, log, port = tmp_path / "data", tmp_path / "service.log", free_port()
    data.mkdir()
    address = f"http://127.0.0.1:{port}"
    around = os.environ | {
        "FRESHET_DATA": str(data),
        "FRESHET_INGEST_ROOTS": str(country),
        "FRESHET_AS_OF": "2005-09-21T18:00Z",
        "OMP_NUM_THREADS": "1",
        "no_proxy": "127.0.0.1",
    }
    with ExitStack() as stack:
        result = stack.enter_context(log.open("wb"))
        command = [sys.executable, "-m", "freshet", "serve", "--port", str(port)]
        service = stack.enter_context(subprocess.Popen(command, env=around, stdout=result, stderr=result))
        stack.callback(service.send_signal, signal.SIGTERM)
        await_ready(address, service, log)
        database = Database(f"sqlite:///{data / 'freshet.sqlite'}")
        with database.transaction() as session:
            _, token = keys.make(session, "operator", "admin", None, Clock(None).wall())
        database.close()
        with showing(browser, address) as window:
            yield window, token


def test_a_day_of_an_operator(shown: tuple[Shown, str], country: Path) -> None:
    window, token = shown
    page = window.page
    window.go("/jobs")
    page.get_by_label("Key").fill("freshet_no_key")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_text("The key is not known, has expired or was revoked.")).to_be_visible()
    page.get_by_label("Key").fill(token)
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_text("No job was posted yet.")).to_be_visible()

    _start(window, "ingest", {"params.from": str(country)})
    for label, cells in (("first", "4"), ("second", "5")):
        config = {f"params.config.{name}": text for name, text in (CONFIG | {"network.cells": cells}).items()}
        _start(window, "training", config | {"params.label": label})
    assert token not in page.url

    _turn_to(page, "Models")
    expect(page.locator("tbody tr")).to_have_count(2)
    page.get_by_role("link", name="second").click()
    page.get_by_text("Put it in use", exact=True).click()
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_label("reason (needed)").fill("a trial")
    page.get_by_role("button", name="Promote").click()
    expect(page.get_by_text(f"{len(BASINS)} of its basins were served by")).to_be_visible()
    page.get_by_label("reason (needed)").first.fill("the first was better")
    page.get_by_role("button", name="Roll back").click()
    expect(page.get_by_role("button", name="Roll back")).to_have_count(0)
    _turn_to(page, "Models")
    first = page.get_by_role("row", name="first")
    expect(first.get_by_role("cell").nth(4)).to_have_text(str(len(BASINS)))

    version = str(page.get_by_role("link", name="first").get_attribute("href")).rpartition("/")[2]
    _start(window, "evaluation", {"params.version": version, "params.period": HELD_OUT})
    _start(window, "calibration", {"params.version": version})

    window.go(f"/basins/{BASINS[0]}/levels")
    page.get_by_label("name (needed)").fill("ford")
    page.get_by_label("Flow (needed)").fill("0.001")
    page.get_by_role("button", name="Set").click()
    expect(page.get_by_role("row", name="ford")).to_contain_text("above")
    _start(window, "forecast", {"params.basins": BASINS[0]})
    window.go("/held")  # a level that the river passes every day is in doubt
    expect(page.get_by_role("listitem").filter(has_text="ford")).to_be_visible()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("Nothing waits.")).to_be_visible()
    await_alert(page, window, "warning")

    window.go(f"/basins/{BASINS[0]}/what-if")
    page.get_by_label("Warmer, or colder").press("ArrowRight")
    page.get_by_label("A storm").press("ArrowRight")
    page.get_by_label("Its day").press("ArrowRight")
    page.get_by_role("button", name="What if?").click()
    expect(page.get_by_role("heading", name="Where does the water go?")).to_be_visible(timeout=WORK)
    expect(page.locator(".lead")).to_contain_text(
        "0.5 °C warmer, with the same relative humidity and sun; a storm of 5"
    )
    expect(page.locator("figure canvas")).to_be_visible()

    _turn_to(page, "Feeds")
    page.get_by_label("name (needed)").fill("own")
    page.get_by_label("Adapter of settings").select_option("files")
    page.locator("[name='settings.from']:enabled").fill(str(country))
    product = page.locator("[name='settings.product']:enabled")
    product.fill("daymet")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("output.failed")).to_contain_text("correct what is marked")
    expect(product).to_be_focused()
    product.fill("own")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("heading", name="own")).to_be_visible()

    _turn_to(page, "Alerts")
    page.get_by_role("link", name="Who is notified").click()
    page.get_by_text("Add a receiver").click()
    page.locator("input[name$=url]").fill("https://rivers.example/hook")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("output.answer")).to_contain_text("secret")


def _turn_to(page: Page, title: str) -> None:
    page.get_by_role("navigation", name="Pages").get_by_role("link", name=title, exact=True).click()


def _start(window: Shown, kind: str, fields: dict[str, str]) -> None:
    """Post a job with the form of its kind, and watch it until it has succeeded."""
    page = window.page
    window.go(f"/jobs?kind={kind}")
    expect(page.get_by_role("button", name=f"Start {kind}")).to_be_enabled()
    for group in page.locator("details.group").all():
        group.evaluate("group => (group.open = true)")
    for name, text in fields.items():
        page.locator(f"[name='{name}']:not([type='hidden']):enabled").fill(text)
    page.get_by_role("button", name=f"Start {kind}").click()
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text(re.compile("succeeded|failed|cancelled"), timeout=WORK)
    expect(heading).to_have_text(f"{kind} succeeded")
