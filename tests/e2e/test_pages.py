"""The page that describes the API, in a real browser that reaches this machine alone."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, Route, expect, sync_playwright

from tests.e2e.conftest import Api
from tests.operations.conftest import BASINS

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 30_000.0  # milliseconds


@dataclass
class Shown:
    """The page, and what it asked for."""

    page: Page
    here: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)

    def route(self, route: Route, host: str) -> None:
        """Let a request through to the service, and no other."""
        address = urlsplit(route.request.url)
        if address.scheme in ("data", "blob"):
            route.continue_()
        elif address.netloc == host:
            self.here.append(address.path)
            route.continue_()
        else:
            self.elsewhere.append(route.request.url)
            route.abort()


@pytest.fixture
def shown(sqlite_api: Api) -> Iterator[Shown]:
    """The page, drawn in a browser; nothing but the service was asked for, and no script failed."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        why = f"install one of {', '.join(BROWSERS)} to see the pages drawn"
        assert os.environ.get("FRESHET_BROWSER_REQUIRED") != "1", why
        pytest.skip(why)
    host = urlsplit(sqlite_api.address).netloc
    faults: list[str] = []
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=browser, args=FLAGS)
        page = started.new_page()
        page.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        shown = Shown(page)
        page.route("**/*", lambda route: shown.route(route, host))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(f"{sqlite_api.address}/")
        yield shown
        started.close()
    assert shown.elsewhere == []
    assert faults == []


def test_every_operation_is_drawn(shown: Shown) -> None:
    expect(shown.page.locator(".opblock-summary-path", has_text="/v1/basins").first).to_be_visible()
    expect(shown.page.get_by_text("River forecasts with mass-conserving networks").first).to_be_visible()
    described = shown.page.evaluate("fetch('openapi.json').then(answer => answer.json())")
    operations = sum(len(methods) for methods in described["paths"].values())
    expect(shown.page.locator(".opblock")).to_have_count(operations)
    assert "/openapi.json" in shown.here


def test_what_is_tried_is_answered(shown: Shown) -> None:
    operation = _opened(shown.page, "list_basins")
    _execute(operation)
    expect(_answer(operation, "200")).to_contain_text(BASINS[0])
    assert "/v1/basins" in shown.here


def test_a_key_that_is_authorized_posts_a_job(shown: Shown, sqlite_api: Api) -> None:
    shown.page.locator(".auth-wrapper .authorize").first.click()
    dialogue = shown.page.locator(".dialog-ux")
    dialogue.locator("input").fill(sqlite_api.kept.token)
    dialogue.locator("button.authorize").click()
    dialogue.locator("button.btn-done").click()

    operation = _opened(shown.page, "post_job")
    operation.get_by_role("button", name="Try it out").click()
    operation.locator("textarea.body-param__text").fill('{"kind": "forecast", "params": {"basins": ["SYNTH-01"]}}')
    operation.get_by_role("button", name="Execute").click()
    expect(_answer(operation, "202")).to_contain_text('"status": "queued"')


def _opened(page: Page, operation: str) -> Locator:
    found = page.locator(f".opblock[id$='-{operation}']")
    found.locator(".opblock-summary-control").click()
    return found


def _execute(operation: Locator) -> None:
    """Try an operation out, with no parameter given but those that have a default."""
    operation.get_by_role("button", name="Try it out").click()
    for entry in operation.locator("input[type=text]").all():
        entry.fill("")
    operation.get_by_role("button", name="Execute").click()


def _answer(operation: Locator, status: str) -> Locator:
    """Return the live answer's row of that status."""
    return operation.locator(".live-responses-table tr.response", has_text=status)
