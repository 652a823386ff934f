"""`freshet forecast`, `evaluate`, `runs` and `versions` on a stored version."""

import shutil
from pathlib import Path

import pytest

from tests.freshet.conftest import BASINS, PERIODS, SMALL, Freshet


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--horizon", "0"], 2, "The forecast is not possible: horizon: "),
        (["--horizon", "367"], 2, "The forecast is not possible: horizon: "),
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
    chosen, named = worked("forecast", "--json"), worked("forecast", "--t0", "2005-06-01", "--json")
    (old,), (asked,) = chosen.json["runs"], named.json["runs"]
    assert old["t0_age_days"] > 7_000
    assert old["t0_stale"]
    assert old["t0_note"].startswith(f"T0 is {old['t0']}, {old['t0_age_days']} days before the day of issue")
    assert f"Warning: {old['t0_note']}" in chosen.err
    assert asked["t0_age_days"] > 7_000
    assert (asked["t0_stale"], asked["t0_note"]) == (False, None)
    assert "Warning" not in named.err
    shown = worked("runs", old["id"])
    assert f"({old['t0_age_days']} days before the day of issue)" in " ".join(shown.out.split())
    assert "Warning: T0 is" in shown.err


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
    table = freshet("forecast").out

    (run,) = result.json["runs"]
    assert (result.code, run["status"]) == (6, "partial")
    assert [run["basins"][basin]["status"] for basin in BASINS] == ["issued", "failed", "issued"]
    assert "Failed: SYNTH-02:" in result.err
    assert "failed" in table


def test_a_run_is_shown_as_it_was_issued(worked: Freshet) -> None:
    issued = worked("forecast", "--t0", "2004-02-28", "--horizon", "3", "--basin", "SYNTH-03", "--json")

    (run,) = issued.json["runs"]
    assert issued.code == 0
    assert (run["t0"], run["horizon_days"], run["forcing_cutoff"]) == ("2004-02-28", 3, "2004-03-02")
    assert len(run["basins"]["SYNTH-03"]["discharge_mm_per_day"]["0.5"]) == 3
    assert all(ledger["closes"] for ledger in run["basins"]["SYNTH-03"]["ledger"])
    assert worked("runs", run["id"], "--json").json == run
    assert run["id"] in worked("runs", run["id"]).out
    assert run["program"].startswith("torch ")


def test_a_run_reports_the_age_of_its_states_and_the_basis_of_its_quantiles(worked: Freshet) -> None:
    """The record begins on 2000-10-01."""
    result = worked("forecast", "--t0", "2000-11-09", "--horizon", "3", "--basin", "SYNTH-03", "--json")

    (run,) = result.json["runs"]
    basin, text = run["basins"]["SYNTH-03"], " ".join(worked("runs", run["id"]).out.split())
    assert (basin["spin_up_days"], basin["quantiles_of"]) == (40, "members")
    assert list(basin["missing"]) == ["calibrated_mm_per_day"]
    assert "from an empty store 40 days before" in basin["spin_up_note"]
    assert f"SYNTH-03: {basin['spin_up_note']}" in text
    assert "days since empty store" in text
    assert "Not calibrated: 5 to 95 % is of the members." in text
    for ledger in basin["ledger"]:
        since = ledger["since_empty"]
        assert since["days"] == 40
        assert since["relative"] == since["residual_mm"] / since["precipitation_mm"]
        assert abs(since["relative"]) < 5e-6
        assert ledger["tolerance_mm"] == pytest.approx(1e-5 * ledger["scale_mm"])


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
    assert sorted(result.json["basins"]) == list(BASINS)
    assert result.json["summary"]["nse"]["basins"] == 3
    assert 0 <= result.json["worst_residual"] < 1e-5
    assert result.json["snow"]["basins"] >= 1
    assert result.json["period_use"] == "mixed"
    shown = worked("evaluate", "--period", "2003-10-01..2005-09-30", "--basin", "SYNTH-02")
    assert "has learnt from some of these days" in shown.err
    assert result.json["warning"] in " ".join(shown.err.split())
    text = shown.out
    assert "2003-10-01..2005-09-30, 1 basin" in text
    assert "use in its training: mixed" in text
    assert "nse" in text


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
    (first,) = worked("models", "list", "--json").json["versions"]
    second = worked("train", *PERIODS, *SMALL, "--seed", "7", "--json").json["version_id"]

    promoted = worked("models", "promote", second, "--basin", "SYNTH-02", "--reason", "a trial", "--json")
    again = worked("models", "promote", second, "--basin", "SYNTH-02", "--reason", "a trial")

    assert (promoted.code, promoted.json["changed"]) == (0, ["SYNTH-02"])
    assert (again.code, "Nothing changed" in again.err) == (0, True)
    current = [worked("basins", basin, "--json").json["current_version"] for basin in BASINS]
    assert current == [first["id"], second, first["id"]]
    runs = worked("forecast", "--json").json["runs"]
    assert {run["version_id"]: sorted(run["basins"]) for run in runs} == {
        first["id"]: ["SYNTH-01", "SYNTH-03"],
        second: ["SYNTH-02"],
    }


def test_a_version_is_not_promoted_for_basins_or_versions_that_are_unknown(worked: Freshet) -> None:
    (version,) = worked("models", "list", "--json").json["versions"]

    assert worked("models", "promote", "none", "--reason", "x").code == 3
    assert worked("models", "promote", version["id"], "--reason", "x", "--basin", "01013500").code == 3
    assert worked("models", "promote", version["id"]).code == 2
    assert version["id"] in worked("models", "list").out
    assert "network cells" in worked("models", "show", version["id"]).out


def test_a_calibrated_version_forecasts_with_its_error_model(worked: Freshet) -> None:
    periods = ("--train-period", "2001-10-01..2003-09-30", "--validation-period", "2003-10-01..2005-09-30")
    version = worked("train", *periods, *SMALL, "--json").json["version_id"]
    too_early = worked("calibrate", "--period", "2003-09-01..2005-09-30", "--json")
    assert (too_early.code, "was fitted to" in too_early.err) == (2, True)
    fitted = worked("calibrate", "--version", version, "--json")
    assert fitted.code == 0
    model = fitted.json["error_model"]
    assert (model["basins"], model["left_out"]) == (list(BASINS), {})
    waiting = worked("calibrate", "--version", version, "--forecasts", "--json")
    assert (waiting.code, "once 10 days T0 with one weather model have been observed" in waiting.err) == (4, True)
    (run,) = worked("forecast", "--json", "--t0", "2004-03-10", "--version", version).json["runs"]
    basin = run["basins"][BASINS[0]]
    assert basin["summary"]["calibration"]["sha256"] == model["sha256"]
    flows = basin["calibrated_mm_per_day"]
    assert flows["0.05"][0] < flows["0.5"][0] < flows["0.95"][0]
    assert "calibrated_mm_per_day" not in basin["missing"]
    shown = worked("runs", run["id"]).out
    peak = flows["0.5"].index(max(flows["0.5"]))
    assert f"({flows['0.05'][peak]:.3g} to" in shown
    assert ("calibrated range" in shown, "Not calibrated" in shown, "29 %" in shown) == (True, False, False)


CALIBRATED = (1, "calibrated")


def test_a_reforecast_reports_skill_by_lead_time(worked: Freshet) -> None:
    again = ("reforecast", "--period", "2000-10-01..2001-09-30", "--every", "7", "--horizon", "2")
    result = worked(*again, "--json")
    assert (result.code, result.json["basins"], result.json["error_model"]) == (0, list(BASINS), None)
    of_leads = {(row["lead"], row["forecaster"]): row["scores"] for row in result.json["verification"]}
    assert len(of_leads) == 2 * 4
    assert of_leads[1, "calibrated"]["coverage_90"] == {"n": 0, "p25": None, "median": None, "p75": None}
    assert of_leads[2, "raw"]["coverage_90"]["n"] == 3
    (missing,) = (
        row["missing"] for row in result.json["verification"] if (row["lead"], row["forecaster"]) == CALIBRATED
    )
    assert missing["coverage_90"].endswith("fit one (freshet calibrate).")
    text = worked(*again, "--basin", BASINS[0]).out
    assert "forecasts over 2000-10-01..2001-09-30 with observed weather, 1 basin" in text
    assert "crpss persistence" in text
    refused = worked("reforecast", "--period", "2004-10-01..2005-09-30")
    assert (refused.code, "took no part in its training" in refused.err) == (2, True)
    assert worked("reforecast", "--period", "2000-10-01..2001-09-30", "--horizon", "31").code == 2


def test_issued_forecasts_are_verified_against_observations(worked: Freshet) -> None:
    assert worked("forecast", "--t0", "2005-03-10", "--horizon", "2").code == 0
    result = worked("verify", "--json")
    assert result.code == 0
    (of_version,) = result.json["versions"]
    assert (of_version["basins"], of_version["left_out"]) == (list(BASINS), {})
    of_raw = {(row["weather"], row["lead"]): row for row in of_version["verification"] if row["forecaster"] == "raw"}
    assert of_raw["observed", 2]["scores"]["crps_mm_per_day"]["n"] == len(BASINS)
    (again,) = worked("verify", "--version", of_version["version"], "--json").json["versions"]
    assert again["changed"] == []
    assert "Medians over basins" in worked("verify").out
    assert worked("verify", "--version", "none").code == 3


def test_the_levels_of_a_versions_own_simulation_are_computed_and_shown(worked: Freshet) -> None:
    assert worked("thresholds", "show", BASINS[0], "--json").json["model"] is None
    (of_version,) = worked("thresholds", "simulate", "--basin", BASINS[0], "--json").json["versions"]
    assert (of_version["basins"], of_version["left_out"]) == ([BASINS[0]], {})
    model = worked("thresholds", "show", BASINS[0], "--json").json["model"]
    assert model["version"] == of_version["version_id"]
    assert model["levels"][0]["levels"][0]["name"] == "model-gev-2"
    assert "model-7q10" in worked("thresholds", "show", BASINS[0]).out
