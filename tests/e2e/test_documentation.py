"""The page that describes the API, in a real browser that reaches this machine alone."""

import re
from collections.abc import Iterator

import httpx2
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from testing.browser import Shown, showing
from testing.country import BASINS
from tests.e2e.conftest import Api

pytestmark = pytest.mark.extended

_GROUND = "element => getComputedStyle(element).backgroundColor"


@pytest.fixture
def shown(browser: Browser, reading_api: Api) -> Iterator[Shown]:
    """The page, drawn in a browser."""
    with showing(browser, reading_api.address) as shown:
        shown.go("/docs")
        yield shown


def test_every_operation_is_listed_without_a_script(browser: Browser, reading_api: Api) -> None:
    with showing(browser, reading_api.address, java_script_enabled=False) as shown:
        shown.go("/docs")
        described = httpx2.get(f"{shown.address}/openapi.json").json()["paths"]
        listed = {operation["operationId"] for methods in described.values() for operation in methods.values()}
        operations = shown.page.locator("details[name=operation]")
        assert {entry.get_attribute("id") for entry in operations.all()} == listed
        subject = shown.page.locator(".subject", has=shown.page.get_by_role("heading", name="basins", exact=True))
        expect(subject.locator("details summary").first).not_to_be_visible()
        subject.locator("summary").first.click()
        expect(subject.locator("details summary", has_text="GET /v1/basins").first).to_be_visible()


def test_the_document_is_read_when_an_operation_is_opened(shown: Shown) -> None:
    assert "/openapi.json" not in shown.here
    _opened(shown.page, "read_basin")
    assert "/openapi.json" in shown.here


def test_a_search_shows_what_it_finds_whatever_its_subject(shown: Shown) -> None:
    shown.page.get_by_label("Search").fill("LATEST forecast")
    expect(shown.page.locator("#read_latest_forecast")).to_be_visible()
    expect(shown.page.locator("#list_basins")).not_to_be_visible()
    shown.page.get_by_label("Search").fill("no such operation")
    expect(shown.page.locator(".subject:visible")).to_have_count(0)


def test_the_page_follows_the_dark_scheme(browser: Browser, reading_api: Api) -> None:
    with showing(browser, reading_api.address, color_scheme="dark") as shown:
        shown.go("/docs")
        operation = _opened(shown.page, "list_basins")
        dark = shown.page.locator("html").evaluate(_GROUND)
        assert shown.page.locator("#swagger-ui").evaluate(_GROUND) == dark
        assert max(int(part) for part in re.findall(r"\d+", dark)) < 64
        expect(operation.locator("h4").first).not_to_have_css("color", "rgb(59, 65, 81)")


def test_an_address_with_the_name_of_an_operation_opens_it(browser: Browser, reading_api: Api) -> None:
    with showing(browser, reading_api.address) as shown:
        shown.go("/docs#read_basin")
        expect(shown.page.locator("#read_basin .opblock")).to_be_visible()


def test_an_operation_that_is_tried_is_answered(shown: Shown) -> None:
    operation = _opened(shown.page, "list_basins")
    _execute(operation)
    expect(_answer(operation, "200")).to_contain_text(BASINS[0])
    assert "/v1/basins" in shown.here


def test_a_key_that_is_authorized_posts_a_job(shown: Shown, reading_api: Api) -> None:
    operation = _opened(shown.page, "post_job")
    shown.page.locator(".auth-wrapper .authorize").first.click()
    dialogue = shown.page.locator(".dialog-ux")
    dialogue.locator("input").fill(reading_api.stored.token)
    dialogue.locator("button.authorize").click()
    dialogue.locator("button.btn-done").click()

    operation.get_by_role("button", name="Try it out").click()
    operation.locator("textarea.body-param__text").fill('{"kind": "forecast", "params": {"basins": ["SYNTH-01"]}}')
    operation.get_by_role("button", name="Execute").click()
    expect(_answer(operation, "202")).to_contain_text('"status": "queued"')


def test_the_page_leads_back_to_the_rivers(shown: Shown) -> None:
    back = shown.page.get_by_role("link", name="Back to the rivers")
    expect(back).to_be_visible()
    assert shown.page.evaluate("link => link.href", back.element_handle()) == f"{shown.address}/"


def test_a_parameter_is_filled_in_with_what_is_stored_here(shown: Shown) -> None:
    operation = _opened(shown.page, "read_basin")
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_role("button", name="Execute").click()
    expect(_answer(operation, "200")).to_contain_text(BASINS[0])


def _opened(page: Page, operation: str) -> Locator:
    element = page.locator(f"#{operation}")
    element.locator("xpath=..").evaluate("subject => { subject.open = true; }")
    element.locator("summary").first.click()
    drawn = element.locator(".opblock")
    expect(drawn).to_be_visible()
    return drawn


def _execute(operation: Locator) -> None:
    """Try an operation out, with no parameter given but those that have a default."""
    operation.get_by_role("button", name="Try it out").click()
    for entry in operation.locator("input[type=text]").all():
        entry.fill("")
    operation.get_by_role("button", name="Execute").click()


def _answer(operation: Locator, status: str) -> Locator:
    """Return the live answer's row of that status."""
    return operation.locator(".live-responses-table tr.response", has_text=status)
