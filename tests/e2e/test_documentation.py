"""The page that describes the API, in a real browser that reaches this machine alone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from testing.browser import Shown, showing
from testing.country import BASINS
from tests.e2e.conftest import Api

pytestmark = pytest.mark.extended


@pytest.fixture
def shown(reading_api: Api) -> Iterator[Shown]:
    """The page, drawn in a browser."""
    with showing(reading_api.address) as shown:
        shown.go("/docs")
        yield shown


def test_every_operation_is_shown(shown: Shown) -> None:
    expect(shown.page.locator(".opblock-tag").first).to_be_visible()
    expect(shown.page.locator(".opblock")).to_have_count(0)
    for tag in shown.page.locator(".opblock-tag").all():
        tag.click()
    expect(shown.page.locator(".opblock-summary-path", has_text="/v1/basins").first).to_be_visible()
    expect(shown.page.get_by_text("River forecasts with mass-conserving networks").first).to_be_visible()
    described = shown.page.evaluate("fetch('openapi.json').then(answer => answer.json())")
    operations = sum(len(methods) for methods in described["paths"].values())
    expect(shown.page.locator(".opblock")).to_have_count(operations)
    assert "/openapi.json" in shown.here


def test_an_operation_that_is_tried_is_answered(shown: Shown) -> None:
    operation = _opened(shown.page, "list_basins")
    _execute(operation)
    expect(_answer(operation, "200")).to_contain_text(BASINS[0])
    assert "/v1/basins" in shown.here


def test_a_key_that_is_authorized_posts_a_job(shown: Shown, reading_api: Api) -> None:
    shown.page.locator(".auth-wrapper .authorize").first.click()
    dialogue = shown.page.locator(".dialog-ux")
    dialogue.locator("input").fill(reading_api.stored.token)
    dialogue.locator("button.authorize").click()
    dialogue.locator("button.btn-done").click()

    operation = _opened(shown.page, "post_job")
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
    described = page.evaluate("fetch('openapi.json').then(answer => answer.json())")["paths"]
    tags = next(one["tags"] for path in described.values() for one in path.values() if one["operationId"] == operation)
    page.locator(f"#operations-tag-{tags[0]}").click()
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
