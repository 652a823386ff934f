"""The hour of a forecaster with the pages of a whole service whose alerts need approval: a key, what waits, approval,
an adjustment, a level with words, a run again, two basins compared, the worst forecast, what if; then dismissal, and
a deadline that passes."""

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
from playwright.sync_api import Browser, expect
from sqlalchemy import update

from hydrology.attribution import ErrorSplit
from hydrology.base.calendar import Period
from jobspec.levels import NewThreshold
from operations.verification.calibrate import calibrate
from records.access import keys
from records.alerts.held_alerts import HELD_ALERTS
from records.database.engine import Database
from records.database.stored import add_all, as_values
from records.levels import basin_levels, categories_and_doubts
from records.runs import runs
from records.verification.error_splits import ForecastError
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
BASIN, OTHER = BASINS[:2]
DESK = {"width": 1280, "height": 800}
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
def service(browser: Browser, trained_file: Path, tmp_path: Path) -> Iterator[Service]:
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
        yield Service(stack.enter_context(showing(browser, address, viewport=DESK)), address, database, *tokens)


def test_the_hour_of_a_forecaster(service: Service) -> None:
    window, page = service.window, service.window.page
    page.on("dialog", lambda dialog: dialog.accept())
    waiting = page.get_by_role("navigation", name="Pages").get_by_role("link", name="Waiting")
    run = _forecast(service, BASIN, OTHER)
    _verify(service.database, run)
    window.go("/alerts")
    expect(page.get_by_text("No level of any basin has an alert.")).to_be_visible()
    expect(waiting).to_be_hidden()

    window.go("/held")
    expect(page.get_by_text("This page needs the key of a forecaster.")).to_be_visible()
    page.get_by_label("Key").fill(service.forecaster)
    page.get_by_role("button", name="Open").click()
    expect(waiting).to_contain_text("1")
    expect(page.get_by_role("listitem")).to_contain_text("ford")
    expect(page.get_by_text("Goes out in")).to_be_visible()
    expect(page.locator("figure canvas")).to_be_visible()
    page.get_by_label("Note").first.fill("Seen on the camera.")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("Nothing waits.")).to_be_visible()
    expect(waiting).to_contain_text("0")
    await_alert(page, window, "warning")
    assert _newest(service)["why"].endswith(f"Approved by {ANN}: Seen on the camera.")

    window.go(f"/basins/{BASIN}")
    page.get_by_role("link", name="Adjust", exact=True).click()
    first_day = page.get_by_role("region", name="Discharge day by day").locator("tbody tr").first.locator("td").nth(1)
    issued = first_day.inner_text()
    page.get_by_label("Flow times").fill("0.5")
    expect(first_day).not_to_have_text(issued)
    page.get_by_label("Days later").fill("1")
    expect(first_day).to_have_text("–")
    expect(page.locator("figure canvas")).to_be_visible()
    page.get_by_label("Reason (needed)").fill("The gate is closed.")
    page.get_by_text("Chances of your own").click()
    page.get_by_label("ford").fill("1")
    page.get_by_role("button", name="Save the draft").click()
    expect(page.get_by_text("Draft", exact=True)).to_be_visible()
    expect(page.locator("figure canvas")).to_be_visible()
    expect(page.get_by_role("button", name="PNG")).to_have_count(1)
    assert service.asked("GET", f"/v1/basins/{BASIN}/adjustments")["adjustments"] == []
    page.get_by_label("Note").fill("Until Sunday.")
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_text(f"Published by {ANN}")).to_be_visible()
    await_alert(page, window, None)
    assert _newest(service)["decided_by"] == ANN
    window.go(f"/basins/{BASIN}")
    expect(page.get_by_text("The gate is closed.")).to_be_visible()
    for curve in ("as issued", "as adjusted"):
        expect(page.locator(".u-legend").first.get_by_text(curve)).to_be_visible()
    page.get_by_role("link", name="As issued and as adjusted").click()
    expect(page.get_by_text(f"Published by {ANN}")).to_be_visible()
    expect(page.get_by_role("row", name="ford")).to_contain_text("1 %")

    window.go(f"/basins/{BASIN}/levels")
    page.get_by_label("Name (needed)").fill("mill-road")
    page.get_by_label("Flow (needed)").fill("40")
    page.get_by_label("What happens from it on").fill("Water covers the mill road.")
    page.get_by_role("button", name="Set").click()
    expect(page.get_by_role("row", name="mill-road")).to_contain_text("Water covers the mill road.")

    window.go(f"/basins/{BASIN}")
    page.get_by_role("button", name="Run again").click()
    expect(page.get_by_label("Key")).to_have_count(0)
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text("forecast succeeded", timeout=WORK)
    page.get_by_role("link", name="Run ").first.click()
    expect(heading).to_contain_text(service.asked("GET", f"/v1/basins/{BASIN}")["name"])
    newest = service.asked("GET", f"/v1/basins/{BASIN}/forecasts/latest")["run"]
    assert newest != run
    assert page.url.endswith(newest)

    window.go(f"/compare?basin={BASIN}&basin={OTHER}&units=mm/day")
    expect(page.locator("figure canvas")).to_have_count(3)
    expect(page.locator("figure .unit")).to_have_text(["mm/day"] * 3)
    window.go(f"/basins/{BASIN}")
    page.get_by_role("link", name="Worst forecasts").click()
    expect(page.locator("figure canvas")).to_have_count(1)
    expect(page.get_by_text("The volume of 10 days was forecast as")).to_be_visible()
    window.go(f"/basins/{BASIN}/what-if")
    page.get_by_label("A storm").press("ArrowRight")
    page.get_by_role("button", name="What if?").click()
    expect(page.get_by_text("It is not a forecast.")).to_be_visible(timeout=WORK)

    (held,) = service.asked("GET", "/v1/alerts/held", token=service.forecaster)["held"]
    ruling = {"run": held["run"], "ruling": "dismiss", "note": "Still closed."}
    service.asked("POST", f"/v1/basins/{BASIN}/alerts/held", ruling, token=service.forecaster)
    window.go("/held")
    expect(page.get_by_text("Nothing waits.")).to_be_visible()

    _forecast(service, BASIN)
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


def _forecast(service: Service, *basins: str) -> str:
    """Have the service forecast basins with the forecaster's key, wait until that is done, and return the run."""
    body = {"kind": "forecast", "params": {"basins": [*basins]}}
    job = service.asked("POST", "/v1/jobs", body, token=service.forecaster)
    headers = {"Authorization": f"Bearer {service.admin}"}
    with httpx2.stream("GET", service.address + job["events"], headers=headers, timeout=180, trust_env=False) as events:
        for _ in events.iter_lines():
            pass  # the stream ends with the job
    done = service.asked("GET", f"/v1/jobs/{job['id']}")
    assert done["status"] == "succeeded"
    return str(done["result"]["runs"][0]["run"])


def _verify(database: Database, run: str) -> None:
    """Store the error of a run, as its verification does a month later."""
    split = ErrorSplit(observed=10.0, error=4.0, weather=3.0, initial_state=0.5, network=0.5)
    with database.transaction() as session:
        of_run = runs.get(session, run)
        error = ForecastError(
            run_id=run,
            basin_id=BASIN,
            version_id=of_run.version_id,
            t0=of_run.t0,
            horizon_days=of_run.horizon_days,
            weather="observed",
            season="son",
            volume=split,
            peak=split,
            verified_at=CLOCK.now(),
        )
        add_all(session, ForecastError, [as_values(error)])


def _newest(service: Service) -> Any:
    return service.asked("GET", f"/v1/basins/{BASIN}/alerts/changes")["changes"][0]
