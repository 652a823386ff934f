"""A real browser that reaches this machine alone."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

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
PATIENCE = 120_000.0  # milliseconds, on a machine with much else to do
PHONE = {"width": 390, "height": 844}
WIDE = {"width": 1280, "height": 900}


@dataclass
class Shown:
    """The page, and what it asked for."""

    page: Page
    address: str
    here: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)

    def go(self, path: str) -> None:
        """Open a page of the service."""
        self.here.clear()
        self.page.goto(self.address + path)

    def route(self, route: Route) -> None:
        """Let a request through to the service, and no other."""
        asked = urlsplit(route.request.url)
        if asked.scheme in ("data", "blob"):
            route.continue_()
        elif asked.netloc == urlsplit(self.address).netloc:
            self.here.append(asked.path)
            route.continue_()
        else:
            self.elsewhere.append(route.request.url)
            route.abort()


def installed() -> str | None:
    """Return the browser of this machine, if it has one."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@contextmanager
def started() -> Iterator[Browser]:
    """Start a browser for any number of windows, which share nothing else."""
    program = installed()
    if program is None:
        why = f"install one of {', '.join(BROWSERS)} to see the pages drawn"
        assert os.environ.get("FRESHET_BROWSER_REQUIRED") != "1", why
        pytest.skip(why)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def showing(browser: Browser, address: str, **options: Any) -> Iterator[Shown]:
    """Open a window of a browser on a service. Nothing but the service is asked for, and no script fails."""
    faults: list[str] = []
    page = browser.new_page(**{"viewport": WIDE, **options})
    page.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    shown = Shown(page, address)
    page.route("**/*", shown.route)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if _refused(message.text) else None)
    yield shown
    page.unroute_all(behavior="ignoreErrors")  # requests that are under way end with the page
    page.close()
    assert shown.elsewhere == []
    assert faults == []


def facts_on_first_screen(page: Page) -> list[str]:
    """Return the titles of a basin's facts that stand wholly on the first screen."""
    titles: list[str] = page.evaluate(
        "[...document.querySelectorAll('.glance > div')].filter(fact => fact.getBoundingClientRect().bottom <= "
        "innerHeight).map(fact => fact.querySelector('dt').textContent)"
    )
    return titles


def _refused(text: str) -> bool:
    """Whether the browser reports that the content policy blocked something."""
    return "Content Security Policy" in text
