"""A water manager uses the pages: from the map to a basin, its threat, its snow with uncertainty, and its data."""

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser, expect

from app.forecasts.words import number, on
from hydrology.base.unit_systems import UnitSystem
from testing.browser import PHONE, Shown, showing
from testing.country import BASINS
from tests.e2e.conftest import Api

ALARMED = BASINS[0]
MAX_ANSWERS = 6


@pytest.fixture
def shown(browser: Browser, reading_api: Api) -> Iterator[Shown]:
    """A window on the service."""
    with showing(browser, reading_api.address) as shown:
        yield shown


def _api(shown: Shown, path: str) -> dict[str, object]:
    answer: dict[str, object] = httpx2.get(shown.address + path, trust_env=False, timeout=30).raise_for_status().json()
    return answer


def test_from_the_map_to_the_threat_the_snow_and_the_data(shown: Shown, tmp_path: Path) -> None:
    shown.go("/")
    expect(shown.page.locator(".map > svg circle")).to_have_count(len(BASINS))
    first = shown.page.locator("tbody tr").first
    expect(first).to_contain_text(ALARMED)
    expect(first).to_contain_text("warning")

    first.get_by_role("link").click()

    forecast = _api(shown, f"/v1/basins/{ALARMED}/forecasts/latest")
    missing = forecast["missing"]
    assert isinstance(missing, dict)
    why_no_snow = missing["storage.snow"]
    peak = _api(shown, f"/v1/basins/{ALARMED}/outlook")["peak"]
    assert isinstance(peak, dict)
    highest = f"a peak of {number(peak['discharge'])} m³/s was expected on {on(date.fromisoformat(peak['day']))}"
    expect(shown.page.locator(".lead")).to_contain_text(highest)
    threat = shown.page.locator(".glance > div").first
    expect(threat).to_contain_text("bankfull 80 % by the forecast from T0 20 September 2005")
    expect(shown.page.locator("figure .u-over")).to_have_count(5)
    origin = _api(shown, f"/v1/basins/{ALARMED}/origin")
    of_origin = shown.page.locator("figure", has_text="Where the forecast flow comes from")
    ceiling = UnitSystem().amount(float(str(origin["ceiling"])), "mm")
    expect(of_origin).to_contain_text(f"At most {ceiling} of what was stored could")
    spell = _api(shown, f"/v1/basins/{ALARMED}/drain-down")
    expect(shown.page.locator("figure", has_text="If no more rain or snow fell")).to_contain_text(
        str(spell["in_words"])
    )
    expect(shown.page.locator("figure", has_text="Snow water equivalent")).to_contain_text(why_no_snow)
    assert len(shown.here) <= MAX_ANSWERS * 2  # of the two pages
    shown.page.get_by_text("The forecast as a table").click()
    storage = forecast["storage"]
    assert isinstance(storage, dict)
    last_row = shown.page.locator("details table tbody tr").last
    expect(last_row).to_contain_text(number(storage["total"][-1]))
    with shown.page.expect_download() as saved:
        shown.page.get_by_role("button", name="PNG").first.click()
    picture = tmp_path / "picture.png"
    saved.value.save_as(picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert saved.value.suggested_filename == f"{ALARMED}-discharge.png"


@pytest.mark.extended
def test_a_zoomed_period_is_that_of_every_plot_and_is_reset(shown: Shown) -> None:
    shown.go(f"/basins/{ALARMED}?days=30")
    first = shown.page.locator("figure", has_text="Discharge").first
    whole = _periods(shown)
    assert len(set(whole)) == 1
    first.get_by_role("button", name="Zoom in").click()
    zoomed = _periods(shown)
    assert len(set(zoomed)) == 1
    assert zoomed[0] < whole[0]
    first.get_by_role("button", name="All days").click()
    assert _periods(shown) == whole
    first.get_by_role("button", name="Log axis").click()
    expect(first.get_by_role("button", name="Log axis")).to_have_attribute("aria-pressed", "true")
    expect(first.locator("canvas")).to_be_visible()


def _periods(shown: Shown) -> list[float]:
    """Return the width in seconds of each plot over the days of the page."""
    of_page = "drawings.filter(entry => entry.days === drawings[0].days).map(({plot}) => plot.scales.x)"
    periods: list[float] = shown.page.evaluate(f"{of_page}.map(({{min, max}}) => max - min)")
    return periods


@pytest.mark.extended
def test_values_are_read_by_touch(browser: Browser, reading_api: Api) -> None:
    with showing(browser, reading_api.address, viewport=PHONE, has_touch=True) as shown:
        shown.go(f"/basins/{ALARMED}")
        shown.page.locator(".u-over").first.scroll_into_view_if_needed()
        shown.page.locator(".u-over").first.tap()
        expect(shown.page.locator(".u-legend").first).to_contain_text(" 2005")


@pytest.mark.extended
def test_favourites_are_listed_by_themselves_and_stay_in_the_browser(shown: Shown) -> None:
    shown.go("/")
    expect(shown.page.get_by_role("link", name="My favourites")).to_be_hidden()
    shown.page.get_by_role("button", name=f"Favourite {BASINS[1]}").click()
    shown.go(f"/basins/{BASINS[2]}")
    shown.page.get_by_role("button", name=f"Favourite {BASINS[2]}").click()
    shown.go("/")
    shown.page.get_by_role("link", name="My favourites (2)").click()
    expect(shown.page.locator("tbody tr")).to_have_count(2)
    expect(shown.page.get_by_role("button", name=f"Favourite {BASINS[1]}")).to_have_attribute("aria-pressed", "true")


@pytest.mark.extended
def test_basins_are_compared_side_by_side(shown: Shown) -> None:
    shown.go("/")
    for basin in BASINS[:2]:
        shown.page.locator(f"input[value='{basin}']").check()
    shown.page.get_by_role("button", name="Compare the chosen").click()
    expect(shown.page.get_by_role("heading", level=1)).to_have_text("2 basins side by side")
    expect(shown.page.locator("table.compared tbody tr")).to_have_count(6)
    expect(shown.page.locator("figure canvas")).to_have_count(3)  # both in one figure, and each by itself


def test_a_page_asks_for_few_answers(shown: Shown) -> None:
    for path in ("/", f"/basins/{ALARMED}", "/models", "/alerts", "/status"):
        shown.go(path)
        shown.page.wait_for_load_state("networkidle")
        assert 1 < len(shown.here) <= MAX_ANSWERS, path


@pytest.mark.extended
def test_the_values_under_the_pointer_and_by_keyboard_are_those_of_the_api(shown: Shown) -> None:
    shown.go(f"/basins/{ALARMED}")
    plot = shown.page.locator(".u-over").first
    box = plot.bounding_box()
    assert box is not None
    shown.page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2)
    forecast = _api(shown, f"/v1/basins/{ALARMED}/forecasts/latest")
    discharge = forecast["discharge"]
    assert isinstance(discharge, dict)
    legend = shown.page.locator(".u-legend").first
    last = float(discharge["median"][-1])
    expect(legend).to_contain_text(f"{float(f'{last:.4g}'):g}")
    slider = shown.page.get_by_role("slider", name="Values by day, with the arrow keys").first
    slider.focus()
    first = float(discharge["median"][0])
    expect(slider).to_have_attribute("aria-valuetext", re.compile(rf"(median|as issued) {float(f'{first:.4g}'):g}"))
    slider.press("End")
    expect(slider).to_have_attribute("aria-valuetext", re.compile(rf"(median|as issued) {float(f'{last:.4g}'):g}"))


@pytest.mark.extended
def test_another_unit_other_members_and_a_past_run_are_chosen_without_a_script(
    browser: Browser, reading_api: Api
) -> None:
    with showing(browser, reading_api.address, java_script_enabled=False) as shown:
        shown.go(f"/basins/{ALARMED}")
        shown.page.get_by_role("link", name="mm/day").click()
        expect(shown.page.get_by_role("heading", name="Discharge mm/day")).to_be_visible()
        expect(shown.page.get_by_text("Without JavaScript").first).to_be_visible()


@pytest.mark.extended
def test_basins_are_found_by_name_and_coloured_by_what_is_asked(shown: Shown) -> None:
    shown.go("/")
    shown.page.get_by_label("Colour by").select_option("Skill")
    shown.page.wait_for_url("**colour=skill**")
    shown.page.get_by_label("Basin", exact=True).fill(BASINS[1].lower())
    shown.page.keyboard.press("Enter")
    expect(shown.page.locator("tbody tr")).to_have_count(1)
    expect(shown.page.locator(".map > svg circle")).to_have_count(1)
    classes = shown.page.locator(".map > svg circle").get_attribute("class") or ""
    assert classes.startswith("quality-")
    shown.page.get_by_label("Basin", exact=True).fill("no such river")
    shown.page.keyboard.press("Enter")
    expect(shown.page.get_by_text("No basin's name or number has “no such river” in it.")).to_be_visible()


@pytest.mark.extended
def test_a_basin_that_is_not_stored_is_reported_with_those_that_are_like_it(shown: Shown) -> None:
    shown.go("/basins/SYNTH-0")
    expect(shown.page.get_by_role("heading", name="Unknown basin")).to_be_visible()
    expect(shown.page.get_by_text("did you mean")).to_be_visible()


def test_everything_is_reached_with_the_keyboard_alone(shown: Shown) -> None:
    shown.go("/")
    shown.page.keyboard.press("Tab")
    expect(shown.page.get_by_role("link", name="To the content")).to_be_focused()
    shown.page.keyboard.press("Enter")
    expect(shown.page.locator("main")).to_be_focused()
    for _ in range(60):
        shown.page.keyboard.press("Tab")
        if shown.page.evaluate("document.activeElement.getAttribute('href')") == f"/basins/{ALARMED}":
            break
    expect(shown.page.locator(".most").get_by_role("link").first).to_be_focused()  # the first of the most threatened
    shown.page.keyboard.press("Enter")
    expect(shown.page.get_by_role("heading", level=1)).to_be_visible()
    assert shown.page.url.endswith(f"/basins/{ALARMED}")
