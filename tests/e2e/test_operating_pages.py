"""Pages opened with a key: links within a page, two links in a row, a job's log, and a service that does not answer."""

import re
from collections.abc import Iterator

import httpx2
import pytest
from playwright.sync_api import Browser, Route, expect

from testing.browser import Shown, showing
from testing.country import BASINS
from testing.filled_store import LOGGED
from tests.e2e.conftest import Api

pytestmark = pytest.mark.extended

HERE = f"/basins/{BASINS[0]}"


@pytest.fixture
def shown(browser: Browser, reading_api: Api) -> Iterator[Shown]:
    """A window on the page of jobs, opened with a key."""
    with showing(browser, reading_api.address) as shown:
        shown.go("/jobs")
        shown.page.get_by_label("Key").fill(reading_api.stored.token)
        shown.page.get_by_role("button", name="Open").click()
        expect(shown.page.get_by_role("heading", name="Jobs", level=1)).to_be_visible()
        yield shown


def _asked_for(shown: Shown) -> list[str]:
    """Return what was asked for until now: the answer to a last request comes after all before."""
    shown.page.evaluate("fetch('/health/live')")
    return [path for path in shown.here if path != "/health/live"]


def _drop(route: Route) -> None:
    route.abort("connectionreset")


def _leave_open(route: Route) -> None:
    """Answer a request as a slow service does: not yet."""


def _turn_to(shown: Shown, title: str) -> None:
    shown.page.get_by_role("navigation", name="Pages").get_by_role("link", name=title, exact=True).click()


def test_a_link_within_the_page_moves_there_and_loads_nothing(shown: Shown) -> None:
    shown.go(f"{HERE}/what-if")
    shown.page.get_by_role("heading", level=1).get_by_role("link").click()
    expect(shown.page.locator(".uplot").first).to_be_visible()  # the last of its scripts has run
    shown.page.wait_for_load_state("networkidle")
    shown.here.clear()
    shown.page.locator(".glance").get_by_role("link", name="Skill here").click()
    assert _asked_for(shown) == []
    expect(shown.page.locator("#skill")).to_be_in_viewport()
    assert shown.page.url.endswith("#skill")
    shown.page.go_back()
    shown.page.go_back()
    expect(shown.page.get_by_role("heading", level=1)).to_contain_text("What if?")


def test_the_skip_link_leads_to_the_content_and_loads_nothing(shown: Shown) -> None:
    shown.here.clear()
    shown.page.get_by_role("link", name="To the content").focus()
    shown.page.keyboard.press("Enter")
    assert _asked_for(shown) == []
    expect(shown.page.locator("main")).to_be_focused()


def test_of_two_links_the_later_one_is_shown_whichever_answers_first(shown: Shown) -> None:
    shown.page.route("**/models", _leave_open)
    with shown.page.expect_request("**/models"):
        _turn_to(shown, "Models")
    with shown.page.expect_event("requestfailed", lambda request: request.url.endswith("/models")):
        _turn_to(shown, "Feeds")
    expect(shown.page.get_by_role("heading", name="Feeds", level=1)).to_be_visible()
    assert shown.page.url.endswith("/feeds")


def test_going_back_before_a_link_has_answered_gives_that_link_up(shown: Shown) -> None:
    _turn_to(shown, "Feeds")
    expect(shown.page.get_by_role("heading", name="Feeds", level=1)).to_be_visible()
    shown.page.route("**/jobs", _leave_open)
    with shown.page.expect_request("**/jobs"):
        shown.page.evaluate("history.back()")
    with shown.page.expect_event("requestfailed", lambda request: request.url.endswith("/jobs")):
        shown.page.evaluate("history.forward()")
    assert shown.page.url.endswith("/feeds")
    expect(shown.page.get_by_role("heading", name="Feeds", level=1)).to_be_visible()


def test_a_page_that_cannot_be_shown_here_is_opened_by_the_browser(shown: Shown) -> None:
    asked: list[str] = []

    def drop_first(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) == 1:
            _drop(route)
        else:
            route.fallback()

    shown.page.route("**/models", drop_first)
    _turn_to(shown, "Models")
    expect(shown.page.get_by_role("heading", name="Model versions", level=1)).to_be_visible()
    assert len(asked) == 2


def test_a_link_to_the_state_of_the_service_is_followed(shown: Shown) -> None:
    _turn_to(shown, "Status")
    shown.page.get_by_role("link", name="GET /health/ready").click()
    shown.page.wait_for_url("**/health/ready")
    expect(shown.page.locator("body")).to_contain_text('"status"')


def test_a_page_that_needs_a_key_reports_a_service_that_does_not_answer(shown: Shown) -> None:
    shown.page.route("**/feeds", lambda route: _drop(route) if _has_key(route) else route.fallback())
    shown.go("/feeds")
    expect(shown.page.get_by_text("The service did not answer as it should")).to_be_visible()
    shown.page.unroute("**/feeds")
    shown.page.get_by_label("Key").fill(_key(shown))
    shown.page.get_by_role("button", name="Open").click()
    expect(shown.page.get_by_role("heading", name="Feeds", level=1)).to_be_visible()


def test_a_form_without_a_key_asks_for_one(shown: Shown) -> None:
    shown.go(f"{HERE}/what-if")
    shown.page.evaluate("key.forget()")
    shown.page.get_by_role("button", name="What if?").click()
    expect(shown.page.get_by_text("This needs a key")).to_be_visible()


def _has_key(route: Route) -> bool:
    return "authorization" in route.request.headers


def _key(shown: Shown) -> str:
    return str(shown.page.evaluate("key.get()"))


def test_the_errors_of_a_form_stand_at_their_fields_and_what_was_typed_stays(shown: Shown) -> None:
    page = shown.page
    shown.go("/deliveries")
    page.get_by_text("Add a receiver").click()
    page.locator("[name=url]").fill("nowhere")
    page.locator("[name='digest.timezone']").evaluate("field => (field.value = 'Mars')")
    page.get_by_role("button", name="Add").click()
    for name, fault in (("url", "https://"), ("digest.at", "It is needed"), ("digest.timezone", "Mars")):
        field = page.locator(f"[name='{name}']")
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(field).to_be_visible()
        expect(field).to_have_accessible_description(re.compile(re.escape(fault)))
    expect(page.locator("[name=url]")).to_be_focused()
    expect(page.locator("[name=url]")).to_have_value("nowhere")
    expect(page.locator("output.failed")).to_have_text("Nothing was stored: correct what is marked, and send it again.")
    page.locator("[name=url]").fill("")
    page.locator("[name='digest.at']").fill("07:00")
    page.locator("[name='digest.timezone']").fill("America/Boise")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("output.failed")).to_contain_text("give either a url or an email", ignore_case=True)
    expect(page.locator("[aria-invalid]")).to_have_count(0)
    expect(page.locator("[name='digest.at']")).to_have_value("07:00")


def test_a_form_sends_nested_settings_of_the_chosen_variant_alone(shown: Shown) -> None:
    shown.go("/jobs?kind=training")
    page = shown.page
    page.get_by_label("Architecture of network").select_option("buckets")
    page.get_by_label("Kind of schedule").select_option("staircase")
    page.locator("[name='params.config.network.antecedent_days']:enabled").fill("3, 30.5")
    page.locator("[name='params.config.schedule.rates']:enabled").fill("0, 0.02; 4, 0.001")
    page.locator("[name='params.config.unseen']").fill("; past_weather; rain, water")
    page.locator("[name='params.config.inputs.product']").fill("synthetic")
    assert page.evaluate("body(document.querySelector('form[data-content]'))") == {
        "kind": "training",
        "params": {
            "config": {
                "network": {"architecture": "buckets", "antecedent_days": [3, 30.5]},
                "inputs": {"product": "synthetic"},
                "schedule": {"kind": "staircase", "rates": [[0, 0.02], [4, 0.001]]},
                "unseen": [[], ["past_weather"], ["rain", "water"]],
            }
        },
    }
    shown.go("/feeds")
    page.locator("[name='settings.series']:enabled").fill("USGS-01013500 = 1, USGS-01022500 = 2b")
    assert page.evaluate("body(document.querySelector('form[data-call$=feeds]'))") == {
        "settings": {"adapter": "usgs", "series": {"USGS-01013500": "1", "USGS-01022500": "2b"}}
    }


def test_a_schedule_is_added_by_the_form_of_its_job(shown: Shown) -> None:
    page = shown.page
    shown.go("/schedules?kind=verification")
    page.get_by_label("Name (needed)").fill("weekly")
    page.get_by_label("When (needed)").fill("soon")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("output.failed")).to_contain_text("soon")
    page.get_by_label("When (needed)").fill("0 4 * * 1")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("row", name="weekly")).to_contain_text("verification")


def test_the_log_of_a_job_that_has_ended_is_shown(shown: Shown, reading_api: Api) -> None:
    shown.go(f"/jobs/{reading_api.stored.ended[1]}")
    expect(shown.page.locator("[data-log]")).to_contain_text(LOGGED)
    text = shown.page.locator("[data-log]").inner_text()
    assert text.count(LOGGED) == 1
    assert "{" not in text


def test_a_lost_connection_is_reported_and_the_log_is_read_again(shown: Shown, reading_api: Api) -> None:
    shown.page.route("**/events", _drop)
    shown.go(f"/jobs/{reading_api.stored.ended[1]}")
    lost = shown.page.get_by_text("The connection was lost")
    expect(lost).to_be_visible()
    shown.page.unroute("**/events", _drop)
    expect(shown.page.locator("[data-log]")).to_contain_text(LOGGED)
    expect(lost).to_be_hidden()


def test_a_stream_that_ends_before_the_job_goes_on_after_its_last_event(shown: Shown, reading_api: Api) -> None:
    header = {"Authorization": f"Bearer {reading_api.stored.token}"}
    asked: list[str] = []

    def end_early(route: Route) -> None:
        asked.append(route.request.headers["last-event-id"])
        if len(asked) > 1:
            return route.fallback()
        with client.stream("GET", route.request.url) as answer:
            first = next(text for text in answer.iter_text() if text.startswith("event"))
        return route.fulfill(content_type="text/event-stream", body=first)

    with httpx2.Client(base_url=reading_api.address, headers=header, trust_env=False, timeout=30) as client:
        job = client.post("/v1/jobs", json={"kind": "forecast", "params": {}}).raise_for_status().json()["id"]
        shown.page.route("**/events", end_early)
        shown.go(f"/jobs/{job}")
        expect(shown.page.get_by_role("heading", level=1)).to_have_text("forecast queued")
        client.post(f"/v1/jobs/{job}/cancel").raise_for_status()
        expect(shown.page.get_by_role("heading", level=1)).to_have_text("forecast cancelled")
    assert asked[0] == "0"
    assert int(asked[1]) > 0
