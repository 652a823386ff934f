"""The demonstration that the first page begins with, in a folder where it has run once."""

import json
import shutil
from pathlib import Path

import pytest

from app.pages.render import with_days_in_full
from freshet.demo.demonstration import AS_OF, BASINS, FLOODED, HELD_OUT
from tests.app.conftest import serving
from tests.freshet.conftest import Freshet
from tests.guide.conftest import OUTPUTS

pytestmark = pytest.mark.extended


def test_it_shows_the_flood_the_snow_and_the_skill_that_an_evaluation_gives(demonstrated: Path, tmp_path: Path) -> None:
    data = shutil.copytree(demonstrated, tmp_path / "demonstrated") / "freshet-data"
    (printed,) = json.loads((demonstrated / OUTPUTS).read_text())
    words = " ".join(printed.split())
    there = Freshet(data / "demo")
    clock = {"FRESHET_AS_OF": AS_OF.isoformat()}

    # It goes on from what is there.
    stored = there("runs", "--limit", "30", "--json", **clock).json["runs"]
    operational = [run["id"] for run in stored if run["purpose"] == "operational"]
    assert len(operational) >= 12
    again = Freshet(data)("demo", "--once", "--json")
    assert again.code == 0, again.err
    shown = again.json
    assert {one["run"] for one in shown["forecasts"]} <= {*operational}

    # The skill is that of an evaluation, in the terminal and on the pages.
    evaluated = there("evaluate", "--period", HELD_OUT, "--json", **clock).json
    assert shown["held_out"] == HELD_OUT
    assert shown["nse"]["median"] == pytest.approx(evaluated["nse"]["median"], abs=1e-9)
    assert f"a median NSE of {shown['nse']['median']:.3f} there in these 8 rivers" in words
    assert shown["scored"] != shown["version"]
    days = with_days_in_full(f"on {HELD_OUT}").removeprefix("on ")
    with serving(f"sqlite:///{there.data / 'freshet.sqlite'}", AS_OF) as client:
        for basin in BASINS:
            scores = client.get(f"/v1/basins/{basin}/skill", params={"metric": "nse"}).json()["scores"]
            first, last = HELD_OUT.split("..")
            (own,) = (
                one["value"]
                for one in scores
                if (one["member"], one["period"]) == ("mean", {"first_day": first, "last_day": last})
            )
            assert f"NSE {own:.2f} (1 is perfect) on held-out days, {days}" in client.get(f"/basins/{basin}").text

    # Forecasts of the day, with weather that is labelled; snow far above normal; an alert, and what changed.
    forecasts = {one["basin"]: one for one in shown["forecasts"]}
    assert tuple(forecasts) == BASINS
    for one in forecasts.values():
        assert (one["t0"], one["issued_at"], one["stale"]) == ("1997-03-14", "1997-03-16T14:00:00Z", False)
        assert (one["traces"], one["weather"]["source"]) == (31, "perturbed-observations")
        assert one["forcing_note"].startswith("Driven by perturbed observations")
        assert one["water_balance"]["closes"]
    assert forecasts["USGS-13235000"]["storage"]["snow_read"]["at_t0"]["percent_of_normal"] > 150
    assert FLOODED in {alert["basin"] for alert in shown["alerts"]}
    assert shown["changes"]["in_words"] in words
    assert "not an issued weather forecast" in words
    assert "Status: ok." in words
    assert (shown["status"]["status"], shown["status"]["degraded"]) == ("ok", [])

    # It ends with the next commands.
    for command in ("train", "evaluate", "ingest tables"):
        assert f"freshet {command}" in words
