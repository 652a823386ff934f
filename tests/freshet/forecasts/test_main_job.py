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
    assert trained["basins"] == sorted(evaluated["basins"]) == sorted(run["basins"]) == list(BASINS)
    assert (set(trained["validation_nse"]), trained["validation_basins"]) == ({"0", "1"}, len(BASINS))
    assert evaluated["version"] == run["version_id"] == trained["version_id"]
    assert (run["t0"], run["issued_at"], run["forcing_kind"]) == ("2005-05-01", "2005-05-02T12:00:00Z", "observed")
    assert [one["id"] for one in listed] == [run["id"]]
    for basin in BASINS:
        result = run["basins"][basin]
        assert result["status"] == "issued"
        assert len(result["storage_mm"]) == run["horizon_days"] == 10
        low, high = result["discharge_mm_per_day"]["0.05"], result["discharge_mm_per_day"]["0.95"]
        assert all(0 <= below <= above for below, above in zip(low, high, strict=True))
        for ledger in result["ledger"]:
            assert ledger["closes"]
            assert abs(sum(ledger["terms"].values())) <= ledger["tolerance_mm"]
    assert freshet("runs", run["id"], "--json").json == run
