"""What the page of alerts shows of the level `ford`."""

from playwright.sync_api import Page, expect

from testing.browser import Shown


def await_alert(page: Page, window: Shown, severity: str | None) -> None:
    """Read the page of alerts until the level has a severity, or none."""
    wanted = (
        page.get_by_role("region", name="Alerts").get_by_role("row", name="ford")
        if severity
        else page.get_by_text("No level of any basin")
    )
    for _ in range(60):
        window.go("/alerts")
        if wanted.count():
            break
        page.wait_for_timeout(500)
    if severity:
        expect(wanted).to_contain_text(severity)
    else:
        expect(wanted).to_be_visible()
