"""The five facts of a basin are on the first screen, on a desk and on a phone, each with what it rests on."""

import pytest
from playwright.sync_api import Browser

from testing.browser import PHONE, WIDE, Shown, facts_on_first_screen, showing
from testing.country import BASINS
from tests.e2e.conftest import Api

pytestmark = pytest.mark.extended

TITLES = ["Threat", "Next peak", "Snow now", "Season's volume", "Skill here"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("window", [WIDE, PHONE], ids=["wide", "phone"])
def test_the_five_facts_are_on_the_first_screen(
    browser: Browser, reading_api: Api, window: dict[str, int], scheme: str
) -> None:
    with showing(browser, reading_api.address, viewport=window, color_scheme=scheme) as shown:
        for basin in BASINS:
            shown.go(f"/basins/{basin}")
            assert facts_on_first_screen(shown.page) == TITLES
            _have_a_value_or_a_reason(shown)


@pytest.mark.extended
def test_the_facts_need_no_script(browser: Browser, reading_api: Api) -> None:
    with showing(browser, reading_api.address, viewport=PHONE, java_script_enabled=False) as shown:
        shown.go(f"/basins/{BASINS[0]}")
        assert shown.page.locator(".glance dt").all_inner_texts() == TITLES


def _have_a_value_or_a_reason(shown: Shown) -> None:
    for fact in shown.page.locator(".glance dd").all():
        text = fact.inner_text().split("\n", 1)
        assert text[0] != "Not known" or text[1].strip()
