"""`freshet simulation` and `freshet states`: what scores and forecasts rest on."""

import numpy as np
import pytest

from tests.freshet.conftest import BASINS, Freshet

PERIOD = "2004-10-01..2005-09-30"


def test_the_flow_of_an_evaluation_gives_its_score(worked: Freshet) -> None:
    missing = worked("simulation", BASINS[0])
    assert (missing.code, "freshet evaluate" in missing.err) == (3, True)
    score = worked("evaluate", "--period", PERIOD, "--basin", BASINS[0], "--json").json["nse"]["median"]
    flow = worked("simulation", BASINS[0], "--json").json
    assert (flow["units"], len(flow["time"])) == ("mm/day", 365)
    assert f"{flow['time'][0]}..{flow['time'][-1]}" == PERIOD
    assert flow["period_use"] == "mixed"  # the version has learnt from some of these days
    simulated, observed = (np.array(flow[name], float) for name in ("simulated", "observed"))
    known = np.isfinite(observed)
    errors = ((simulated - observed)[known] ** 2).sum() / ((observed[known] - observed[known].mean()) ** 2).sum()
    assert 1 - errors == pytest.approx(score, rel=1e-5)


def test_events_are_listed_as_the_service_answers(worked: Freshet) -> None:
    worked("evaluate", "--period", PERIOD, "--basin", BASINS[0])
    found = worked("events", BASINS[0], "--json").json
    assert found["scores"]["observed"] == sum(event["observed"] is not None for event in found["events"]) > 0
    listed = worked("events", BASINS[0]).out
    title = f"use in its training: mixed: {found['scores']['observed']} observed events"
    assert f"2004-10-01 to 2005-09-30, {title}" in " ".join(listed.split())
    unverified = worked("skilful-days", BASINS[0])
    assert (unverified.code, "freshet reforecast" in unverified.err) == (3, True)
    assert worked("decision-value", BASINS[0]).code == 3


def test_states_are_listed_and_shown(worked: Freshet) -> None:
    listed = worked("states", BASINS[0], "--json").json
    newest = listed["states"][0]
    shown = worked("states", BASINS[0], newest["day"], "--json").json
    assert {name: shown[name] for name in newest} == newest
    assert [sum(cells) for cells in shown["arrays"]["c"]["values"]] == pytest.approx(newest["storage_mm"])
    assert worked("states", BASINS[0], "1999-01-01").code == 3
    assert newest["sha256"][:12] in worked("states", BASINS[0]).out
