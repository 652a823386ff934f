"""The main job as a new user does it, command by command."""

from pathlib import Path

from tests.freshet.conftest import BASINS, PERIODS, SMALL, Freshet


def test_from_files_to_a_forecast_that_closes(freshet: Freshet, country: Path) -> None:
    assert freshet("doctor", "--json").code == 0
    assert freshet("ingest", "camels", "--from", str(country), "--json").json["counts"] == {"new": 3}
    trained = freshet("train", *PERIODS, *SMALL, "--members", "2", "--json").json
    evaluated = freshet("evaluate", "--period", "2005-04-01..2005-09-30", "--json").json
    issued = freshet("forecast", "--json", FRESHET_AS_OF="2005-05-02T12:00:00Z").json
    listed = freshet("runs", "--json").json["runs"]

    (run,) = issued["runs"]
    stored = freshet("runs", run["run"], "--json").json
    assert [basin["basin"] for basin in stored["basins"]] == list(BASINS)
    assert (set(trained["validation_nse"]), trained["validation_basins"]) == ({"0", "1"}, len(BASINS))
    assert evaluated["version"] == stored["version"] == trained["version"]
    assert (stored["t0"], stored["issued_at"], stored["forcing_kind"]) == (
        "2005-05-01",
        "2005-05-02T12:00:00Z",
        "observed",
    )
    assert [one["id"] for one in listed] == [run["run"]]
    for basin in BASINS:
        result = freshet("runs", run["run"], "--basin", basin, "--json").json
        assert result["status"] == "issued"
        assert len(result["storage"]["total"]) == stored["horizon_days"] == 10
        low, high = result["discharge"]["p05"], result["discharge"]["p95"]
        assert all(0 <= below <= above for below, above in zip(low, high, strict=True))
        assert result["water_balance"]["closes"]
