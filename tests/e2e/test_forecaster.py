"""What a forecaster does with the pages of a whole service whose alerts need approval: approve, adjust and publish,
dismiss, and let a deadline pass."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import expect
from sqlalchemy import update

from hydrology.base.calendar import Period
from jobspec.levels import NewThreshold
from operations.verification.calibrate import calibrate
from records.access import keys
from records.alerts.held_alerts import HELD_ALERTS
from records.database.engine import Database
from records.levels import basin_levels, categories_and_doubts
from records.versions import promotions
from runtime.clock import Clock
from testing.api_process import await_ready
from testing.browser import Shown, showing
from testing.country import BASINS, CLOCK
from testing.processes import free_port
from testing.work import work_of
from tests.e2e.alerts_page import await_alert

pytestmark = pytest.mark.extended

WORK = 180_000.0  # milliseconds that a job may take
BASIN = BASINS[0]
ANN = "Ann, duty forecaster"


@dataclass(frozen=True, slots=True)
class Service:
    """A running service, its database, and the tokens of an administrator and of a forecaster."""

    window: Shown
    address: str
    database: Database
    admin: str
    forecaster: str

    def asked(self, method: str, path: str, body: Any = None, *, token: str | None = None) -> Any:
        """Return what the API answers with a key, by default the administrator's."""
        headers = {"Authorization": f"Bearer {token or self.admin}"}
        answer = httpx2.request(method, self.address + path, json=body, headers=headers, trust_env=False)
        assert answer.is_success, answer.text
        return answer.json()


@pytest.fixture
def service(trained_file: Path, tmp_path: Path) -> Iterator[Service]:
    """A service that forecasts a calibrated version, whose alerts wait for an hour."""
    data, log, port = tmp_path / "data", tmp_path / "service.log", free_port()
    data.mkdir()
    file = Path(shutil.copy(trained_file, data / "freshet.sqlite"))
    address = f"http://127.0.0.1:{port}"
    around = os.environ | {
        "FRESHET_DATA": str(data),
        "FRESHET_AS_OF": "2005-09-21T18:00Z",
        "FRESHET_ALERTS_NEED_APPROVAL": "60",
        "OMP_NUM_THREADS": "1",
        "no_proxy": "127.0.0.1",
    }
    database = Database(f"sqlite:///{file}")
    with ExitStack() as stack:
        stack.callback(database.close)
        tokens = _prepared(database)
        result = stack.enter_context(log.open("wb"))
        command = [sys.executable, "-m", "freshet", "serve", "--port", str(port)]
        process = stack.enter_context(subprocess.Popen(command, env=around, stdout=result, stderr=result))
        stack.callback(process.send_signal, signal.SIGTERM)
        await_ready(address, process, log)
        yield Service(stack.enter_context(showing(address)), address, database, *tokens)


def test_a_day_of_a_forecaster(service: Service) -> None:
    window, page = service.window, service.window.page
    page.on("dialog", lambda dialog: dialog.accept())
    _forecast(service)
    window.go("/alerts")
    expect(page.get_by_text("No level of any basin has an alert.")).to_be_visible()
    page.get_by_role("link", name="What waits for approval").click()
    page.get_by_label("Key").fill(service.forecaster)
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("listitem")).to_contain_text("ford")
    page.get_by_label("note").first.fill("Seen on the camera.")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("Nothing waits.")).to_be_visible()
    await_alert(page, window, "warning")
    assert _newest(service)["why"].endswith(f"Approved by {ANN}: Seen on the camera.")

    window.go(f"/basins/{BASIN}")
    page.get_by_role("link", name="Adjust", exact=True).click()
    page.get_by_label("factor").fill("0.5")
    page.get_by_label("shift_days").fill("1")
    page.get_by_label("words (needed)").fill("The gate is closed.")
    page.get_by_label("ford").fill("0.01")
    page.get_by_role("button", name="Show both").click()
    expect(page.get_by_text("Draft", exact=True)).to_be_visible()
    expect(page.locator("figure canvas")).to_be_visible()
    expect(page.get_by_role("button", name="PNG")).to_have_count(1)
    assert service.asked("GET", f"/v1/basins/{BASIN}/adjustments")["adjustments"] == []
    page.get_by_label("note").fill("Until Sunday.")
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_text(f"Published by {ANN}")).to_be_visible()
    await_alert(page, window, None)
    assert _newest(service)["decided_by"] == ANN
    window.go(f"/basins/{BASIN}")
    expect(page.get_by_text("The gate is closed.")).to_be_visible()
    page.get_by_role("link", name="As issued and as adjusted").click()
    expect(page.get_by_role("row", name="ford")).to_contain_text("1 %")

    _forecast(service, token=service.admin)
    (held,) = service.asked("GET", "/v1/alerts/held", token=service.forecaster)["held"]
    ruling = {"run": held["run"], "ruling": "dismiss", "note": "Still closed."}
    service.asked("POST", f"/v1/basins/{BASIN}/alerts/held", ruling, token=service.forecaster)
    window.go("/held")
    page.get_by_role("button", name="Dismiss")
    expect(page.get_by_text("Nothing waits.")).to_be_visible()

    _forecast(service)
    with service.database.transaction() as session:
        session.execute(update(HELD_ALERTS).values(due_at=datetime.now(UTC)))
    await_alert(page, window, "warning")
    assert _newest(service)["why"].endswith("and nobody decided.")
    trail = [(entry["action"], entry["who"]) for entry in service.asked("GET", "/v1/audit")["changes"]]
    assert [entry for entry in trail[::-1] if "alert" in entry[0] or "adjust" in entry[0]] == [
        ("alerts approved", ANN),
        ("forecast adjusted", ANN),
        ("adjustment published", ANN),
        ("alerts dismissed", ANN),
        ("alerts released", "deadline of approval"),
    ]


def _prepared(database: Database) -> tuple[str, str]:
    """Calibrate the version that is in use, set a level that is passed every day, and return the tokens of two keys."""
    with database.reading() as session:
        version = promotions.current(session, [BASIN])[BASIN]
    calibrate(work_of(database, CLOCK), version, BASINS, Period.parse("2003-10-01..2005-09-20"))
    with database.transaction() as session:
        basin_levels.put(session, BASIN, NewThreshold(name="ford", discharge=0.001), CLOCK.now())
        categories_and_doubts.confirm(session, BASIN, ["ford"])  # passed every day, as it is meant
        return (
            keys.make(session, "office", "admin", None, Clock().wall())[1],
            keys.make(session, ANN, "forecaster", None, Clock().wall())[1],
        )


def _forecast(service: Service, token: str | None = None) -> None:
    """Have the service forecast the basin, and wait until that is done."""
    job = service.asked("POST", "/v1/jobs", {"kind": "forecast", "params": {"basins": [BASIN]}}, token=token)
    headers = {"Authorization": f"Bearer {service.admin}"}
    with httpx2.stream("GET", service.address + job["events"], headers=headers, timeout=180, trust_env=False) as events:
        for _ in events.iter_lines():
            pass  # the stream ends with the job
    assert service.asked("GET", f"/v1/jobs/{job['id']}")["status"] == "succeeded"


def _newest(service: Service) -> Any:
    return service.asked("GET", f"/v1/basins/{BASIN}/alerts/changes")["changes"][0]
