"""`freshet forecast`, `evaluate`, `runs` and `versions` on a stored version."""

import shutil
from pathlib import Path

import pytest

from hydrology.base.absent import Absent
from hydrology.base.units import converted
from records.database.engine import Database
from records.outlooks import reader
from testing.records import NOW
from tests.freshet.conftest import BASINS, PERIODS, SMALL, Freshet


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--horizon", "0"], 2, "The forecast is not possible: --horizon: "),
        (["--horizon", "367"], 2, "The forecast is not possible: --horizon: "),
        (["--t0", "soon"], 2, "'soon' is not a day"),
        (["--t0", "1999-01-01"], 4, "T0 1999-01-01 is outside the synthetic record"),
        (["--t0", "2010-01-01"], 4, "T0 2010-01-01 is outside the synthetic record"),
        (["--t0", "2005-09-25"], 4, "need forcing until 2005-10-05"),
        (["--product", "daymet"], 2, "takes synthetic, not daymet"),
        (["--basin", "01013500"], 3, "No basin 'USGS-01013500' is stored here"),
        (["--version", "none"], 3, "No model version 'none' is stored here"),
        (["--basins-file", "/no/such/file"], 2, "/no/such/file cannot be read"),
    ],
)
def test_an_impossible_forecast_is_reported_and_stores_no_run(
    worked: Freshet, arguments: list[str], code: int, sentence: str
) -> None:
    before = worked("runs", "--json").json

    result = worked("forecast", *arguments, "--json")

    assert result.code == code
    assert sentence in result.json["problem"]["detail"]
    assert result.json["problem"]["detail"] in result.err
    assert worked("runs", "--json").json == before


def test_a_t0_of_long_ago_is_remarked_on_unless_it_was_asked_for(worked: Freshet) -> None:
    chosen, named = worked("forecast"), worked("forecast", "--t0", "2005-06-01", "--json")
    old = worked("runs", "--basin", "SYNTH-01", "--json").json["runs"][1]
    (asked,) = named.json["runs"]
    assert old["t0_age_days"] > 7_000
    assert old["t0_note"].startswith(f"T0 is {old['t0']}, {old['t0_age_days']} days before the day of issue")
    assert f"Warning: {old['t0_note']}" in chosen.err
    assert asked["t0_age_days"] > 7_000
    assert "t0_note" not in asked
    assert "Warning" not in named.err
    shown = worked("runs", old["id"])
    assert f"({old['t0_age_days']} days before the day of issue)" in " ".join(shown.out.split())
    assert "Warning: T0 is" in shown.err


def test_a_run_is_shown_with_the_flow_and_the_peaks_of_its_outlooks(worked: Freshet) -> None:
    (run,) = worked("forecast", "--t0", "2005-06-01", "--json").json["runs"]
    database = Database(f"sqlite:///{worked.data / 'freshet.sqlite'}")
    with database.reading() as session:
        found = {basin: reader.outlook(session, basin, NOW, run["run"]) for basin in BASINS}
    database.close()
    rows = worked("runs", run["run"]).out.splitlines()
    for basin, outlook in found.items():
        (row,) = (line for line in rows if line.startswith(basin))
        assert (outlook.peak_m3s is None) == ("(" not in row)
        if outlook.peak_m3s is not None:
            assert f" {outlook.peak_m3s:.3g} (" in row
        assert not isinstance(outlook.run_outlook, Absent)
        median = outlook.run_outlook.published.days.median
        ends = [float(converted(flow, unit="mm/day", into="m3/s", area=outlook.area)) for flow in median if flow]
        assert row.index(f"{ends[0]:.3f}") < row.rindex(f"{ends[-1]:.3f}")
    assert any(outlook.peak_m3s is not None for outlook in found.values())


def test_nothing_is_forecast_without_a_version(ingested: Freshet) -> None:
    result = ingested("forecast")

    assert result.code == 4
    assert "freshet train" in result.err


def test_a_basin_that_cannot_be_forecast_is_reported_beside_the_others(
    freshet: Freshet, country: Path, tmp_path: Path
) -> None:
    shorter = Path(shutil.copytree(country, tmp_path / "shorter"))
    file = shorter / "basin_mean_forcing" / "synthetic" / "00" / "SYNTH-02_lump_synthetic_forcing_leap.txt"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if not line.startswith("2005\t9\t")))
    assert freshet("ingest", "camels", "--from", str(shorter)).code == 0
    assert freshet("train", *PERIODS, *SMALL).code == 0

    result = freshet("forecast", "--json")
    table = freshet("forecast")

    (run,) = result.json["runs"]
    assert (result.code, run["status"]) == (6, "partial")
    basins = freshet("runs", run["run"], "--json").json["basins"]
    assert [basin["status"] for basin in basins] == ["issued", "failed", "issued"]
    assert "Failed: SYNTH-02:" in table.err
    assert "failed" in table.out


def test_a_run_and_its_forecast_are_shown_as_the_api_answers(worked: Freshet) -> None:
    issued = worked("forecast", "--t0", "2004-02-28", "--horizon", "3", "--basin", "SYNTH-03", "--json")
    assert issued.code == 0
    (name,) = (run["run"] for run in issued.json["runs"])
    run = worked("runs", name, "--json").json
    assert (run["t0"], run["horizon_days"], run["forcing_cutoff"]) == ("2004-02-28", 3, "2004-03-02")
    assert run["program"].startswith("torch ")
    forecast = worked("runs", name, "--basin", "SYNTH-03", "--units", "mm/day", "--json").json
    assert (len(forecast["discharge"]["median"]), forecast["units"]["discharge"]) == (3, "mm/day")
    assert forecast["water_balance"]["closes"]
    table = worked("runs", name, "--basin", "SYNTH-03", "--csv").out.splitlines()
    assert (len(table), "time,lead_days [day]" in table[0]) == (4, True)
    assert name in worked("runs", name).out
    assert "2004-03-01" in worked("runs", name, "--basin", "SYNTH-03").out
    refused = worked("runs", "--csv")
    assert (refused.code, "is not a table" in refused.err) == (2, True)


def test_a_run_reports_the_age_of_its_states_and_the_basis_of_its_quantiles(worked: Freshet) -> None:
    """The record begins on 2000-10-01."""
    result = worked("forecast", "--t0", "2000-11-09", "--horizon", "3", "--basin", "SYNTH-03", "--json")

    (run,) = result.json["runs"]
    shown = worked("runs", run["run"])
    basin = worked("runs", run["run"], "--basin", "SYNTH-03", "--json").json
    assert (basin["spin_up_days"], basin["quantiles_of"]) == (40, "members")
    assert "calibrated" in basin["missing"]
    assert "from an empty store 40 days before" in basin["spin_up_note"]
    assert f"SYNTH-03: {basin['spin_up_note']}" in shown.err
    assert "days since empty store" in shown.out
    assert "Not calibrated: 5 to 95 % is of the members." in shown.err


def test_runs_are_listed_newest_first_by_basin_and_to_a_limit(worked: Freshet) -> None:
    worked("forecast", "--basin", "SYNTH-03")

    listed = worked("runs", "--json").json["runs"]
    first = worked("runs", "--limit", "1", "--json").json["runs"]
    of_the_other = worked("runs", "--basin", "SYNTH-01", "--json").json["runs"]

    assert len(listed) == 2
    assert first == listed[:1]
    assert of_the_other == listed[1:]
    assert all(run["id"] in worked("runs").out for run in listed)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["runs", "none"], 3), (["runs", "--basin", "??"], 2), (["models", "show", "none"], 3)],
)
def test_what_is_not_stored_is_reported(worked: Freshet, arguments: list[str], code: int) -> None:
    result = worked(*arguments, "--json")

    assert result.code == code
    assert result.json["problem"]["detail"] in result.err


def test_an_evaluation_scores_every_basin_of_the_version(worked: Freshet) -> None:
    result = worked("evaluate", "--period", "2003-10-01..2005-09-30", "--json")

    assert result.code == 0
    assert (result.json["nse"]["basins"], result.json["left_out"]) == (3, {})
    assert 0 <= result.json["worst_residual"] < 1e-5
    assert result.json["period_use"] == "mixed"
    assert "2003-10-01..2005-09-30, 3 basins" in worked("evaluate", "--period", "2003-10-01..2005-09-30").out
    shown = worked("evaluate", "--period", "2003-10-01..2005-09-30", "--basin", "SYNTH-02")
    assert "has learnt from some of these days" in shown.err
    assert result.json["warning"] in " ".join(shown.err.split())
    assert "2003-10-01..2005-09-30, 1 basin" in shown.out
    assert "use in its training: mixed" in shown.out
    assert "SYNTH-02  nse" in shown.out


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--period", "always"], 2, "'always' is not a period"),
        (["--period", "2003-01-01..2010-01-01"], 4, "does not cover 2003-01-01..2010-01-01"),
        (["--period", "2003-10-01..2004-09-30", "--version", "none"], 3, "No model version 'none'"),
        (["--period", "2003-10-01..2004-09-30", "--basin", "01013500"], 3, "No basin 'USGS-01013500'"),
    ],
)
def test_an_impossible_evaluation_is_reported(worked: Freshet, arguments: list[str], code: int, sentence: str) -> None:
    result = worked("evaluate", *arguments, "--json")

    assert result.code == code
    assert sentence in result.json["problem"]["detail"]


def test_a_version_is_promoted_for_the_basins_that_are_named(worked: Freshet) -> None:
    (first,) = worked("models", "list", "--json").json["models"]
    second = worked("train", *PERIODS, *SMALL, "--seed", "7", "--json").json["version"]

    promoted = worked("models", "promote", second, "--basin", "SYNTH-02", "--reason", "a trial", "--json")
    again = worked("models", "promote", second, "--basin", "SYNTH-02", "--reason", "a trial", "--json")

    assert (promoted.code, promoted.json["current_basins"]) == (0, ["SYNTH-02"])
    assert again.json == promoted.json
    current = [worked("basins", basin, "--json").json["current_version"] for basin in BASINS]
    assert current == [first["id"], second, first["id"]]
    issued = worked("forecast", "--json").json["runs"]
    runs = [worked("runs", run["run"], "--json").json for run in issued]
    assert {run["version"]: sorted(basin["basin"] for basin in run["basins"]) for run in runs} == {
        first["id"]: ["SYNTH-01", "SYNTH-03"],
        second: ["SYNTH-02"],
    }


def test_a_version_is_not_promoted_for_basins_or_versions_that_are_unknown(worked: Freshet) -> None:
    (version,) = worked("models", "list", "--json").json["models"]

    assert worked("models", "promote", "none", "--reason", "x").code == 3
    assert worked("models", "promote", version["id"], "--reason", "x", "--basin", "01013500").code == 3
    assert worked("models", "promote", version["id"]).code == 2
    assert version["id"] in worked("models", "list").out
    assert "network cells" in worked("models", "show", version["id"]).out


def test_a_calibrated_version_forecasts_with_its_error_model(worked: Freshet) -> None:
    periods = ("--train-period", "2001-10-01..2003-09-30", "--validation-period", "2003-10-01..2005-09-30")
    version = worked("train", *periods, *SMALL, "--json").json["version"]
    too_early = worked("calibrate", "--period", "2003-09-01..2005-09-30", "--json")
    assert (too_early.code, "was fitted to" in too_early.err) == (2, True)
    fitted = worked("calibrate", "--version", version, "--json")
    assert fitted.code == 0
    model = fitted.json["error_model"]
    assert (model["basins"], model["left_out"]) == (len(BASINS), {})
    assert "observed days" in worked("calibrate", "--version", version).out
    waiting = worked("calibrate", "--version", version, "--forecasts", "--json")
    assert (waiting.code, "once 10 days T0 with one weather model have been observed" in waiting.err) == (4, True)
    (run,) = worked("forecast", "--json", "--t0", "2004-03-10", "--version", version).json["runs"]
    basin = worked("runs", run["run"], "--basin", BASINS[0], "--json").json
    assert basin["calibration"]["hash"] == model["sha256"]
    flows = basin["calibrated"]
    assert flows["p05"][0] < flows["median"][0] < flows["p95"][0]
    assert "calibrated" not in basin["missing"]
    shown = worked("runs", run["run"])
    assert f"{flows['median'][0]:.3f}" in shown.out
    assert "5 to 95 % is the calibrated range" in shown.err
    assert "Not calibrated" not in shown.err


def test_a_reforecast_reports_skill_by_lead_time(worked: Freshet) -> None:
    again = ("reforecast", "--period", "2000-10-01..2001-09-30", "--every", "7", "--horizon", "2")
    result = worked(*again, "--json")
    assert (result.code, result.json["basins"], result.json["error_model"]) == (0, len(BASINS), None)
    text = worked(*again, "--basin", BASINS[0])
    assert "forecasts over 2000-10-01..2001-09-30 with observed weather" in text.out
    assert "crpss persistence" in text.out
    assert "fit one (freshet calibrate)." in text.err
    refused = worked("reforecast", "--period", "2004-10-01..2005-09-30")
    assert (refused.code, "took no part in its training" in refused.err) == (2, True)
    assert worked("reforecast", "--period", "2000-10-01..2001-09-30", "--horizon", "31").code == 2


def test_issued_forecasts_are_verified_against_observations(worked: Freshet) -> None:
    assert worked("forecast", "--t0", "2005-03-10", "--horizon", "2").code == 0
    result = worked("verify", "--json")
    assert result.code == 0
    (of_version,) = result.json["versions"]
    assert (of_version["basins"], of_version["changed"], of_version["left_out"]) == (len(BASINS), len(BASINS), {})
    (again,) = worked("verify", "--version", of_version["version"], "--json").json["versions"]
    assert again["changed"] == 0
    assert "Medians over basins" in worked("verify").out
    assert worked("verify", "--version", "none").code == 3


def test_the_levels_of_a_versions_own_simulation_are_computed_and_shown(worked: Freshet) -> None:
    assert worked("thresholds", "show", BASINS[0], "--json").json["model"] is None
    (of_version,) = worked("thresholds", "simulate", "--basin", BASINS[0], "--json").json["versions"]
    assert (of_version["basins"], of_version["left_out"]) == (1, {})
    model = worked("thresholds", "show", BASINS[0], "--json").json["model"]
    assert model["version"] == of_version["version"]
    assert [one["levels"][0]["name"] for one in model["levels"][:2]] == ["model-pot-0.5", "model-gev-2"]
    assert "model-7q10" in worked("thresholds", "show", BASINS[0]).out
