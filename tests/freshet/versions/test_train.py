"""`freshet train`: the training that is asked for, or a sentence why not."""

import shutil
from pathlib import Path

import pytest

from jobspec.training import TrainingConfig
from tests.freshet.conftest import BASINS, NETWORK, PERIODS, SMALL, Freshet, settings

FIT = PERIODS[:2]


def test_a_version_is_trained_once(ingested: Freshet) -> None:
    first = ingested("train", *PERIODS, *SMALL, "--label", "small", "--json")
    again = ingested("train", *PERIODS, *SMALL, "--label", "other", "--json")

    assert (first.code, first.json["already"], again.json["already"]) == (0, False, True)
    assert first.json["version"] == again.json["version"]
    assert (first.json["promoted"], first.json["basins"]) == (list(BASINS), 3)
    assert "training: 6 of 6, member 0: loss " in first.err
    assert f"best validation NSE (median over {len(BASINS)} basins)" in ingested("train", *PERIODS, *SMALL).out
    assert "retains the label 'small'" in again.err
    same = ingested("train", *PERIODS, *SMALL, "--label", "small", "--json")
    assert [one.err.count("retains") for one in (first, same)] == [0, 0]
    stored = ingested("models", "show", first.json["version"], "--json").json
    assert (stored["label"], stored["config"]["network"]["cells"]) == ("small", 4)


def test_the_basins_of_a_file_and_of_options_are_trained_on(ingested: Freshet, tmp_path: Path) -> None:
    (tmp_path / "basins.txt").write_text("SYNTH-03\n\n  SYNTH-01 \n")

    result = ingested(
        "train", *FIT, *SMALL, "--basins-file", str(tmp_path / "basins.txt"), "--basin", "SYNTH-01", "--json"
    )

    shown = ingested("models", "show", result.json["version"], "--json").json
    assert shown["basins"] == ["SYNTH-01", "SYNTH-03"]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--train-period", "2001"], 2, "'2001' is not a period"),
        (["--train-period", "2004-01-01..2003-01-01"], 2, "ends before it begins"),
        (["--train-period", "2004-01-01..2004-02-30"], 2, "'2004-02-30' is not a day"),
        ([*FIT, "--validation-period", "never"], 2, "'never' is not a period"),
        ([*FIT, "--validation-period", FIT[1]], 2, f"validation_period: {FIT[1]} overlaps the training period"),
        (["--train-period", "1980-01-01..1981-12-31"], 4, "does not cover 1980-01-01..1981-12-31"),
        (["--train-period", "2004-01-01..2004-02-01"], 4, "No training window"),
        ([*FIT, "--basin", "01013500"], 3, "No basin 'USGS-01013500' is stored here"),
        ([*FIT, "--product", "daymet"], 4, "forcing product daymet"),
        ([], 2, "train_period: it is needed"),
        ([*FIT, "--set", "schedule.epochs=3"], 2, "schedule.epochs: there is no such field"),
        (
            [*FIT, "--protocol", "sequence-to-one", "--set", "schedule.peak_learning_rate=0.1"],
            2,
            "schedule.peak_learning_rate: there is no such",
        ),
        ([*FIT, "--set", "network.cells=1"], 2, "network.cells: "),
        ([*FIT, "--members", "0"], 2, "members: "),
        ([*FIT, "--set", "schedule.steps=0"], 2, "schedule.steps: "),
        ([*FIT, "--set", "schedule.peak_learning_rate=NaN"], 2, "schedule.peak_learning_rate: "),
        ([*FIT, "--set", "expectile=1"], 2, "expectile: "),
        ([*FIT, "--set", "ema_decay=1"], 2, "ema_decay: "),
        ([*FIT, "--set", "network.output_gate_bias=NaN"], 2, "network.output_gate_bias: "),
        ([*FIT, "--seed", "-1"], 2, "seed: "),
        ([*FIT, "--architecture", "transformer"], 2, "network: choose an architecture: mclstm, buckets, lstm"),
        ([*FIT, "--set", f"windows.spinup_days=1{'0' * 30}"], 2, "windows.spinup_days: "),
        ([*FIT, "--set", "windows.batch"], 2, "--set 'windows.batch' does not set a field"),
        ([*FIT, "--set", "windows..batch=4"], 2, "does not set a field: write FIELD=VALUE"),
        ([*FIT, "--set", "windows.bacth=4"], 2, "windows.bacth: there is no such field"),
        ([*FIT, "--set", "windows.batch=four"], 2, "windows.batch: input should be a valid integer"),
        ([*FIT, "--set", "inputs=5"], 2, "inputs: "),
        ([*FIT, "--config", "/no/such/file"], 2, "/no/such/file cannot be read (No such file or directory)"),
        ([*FIT, "--device", "abacus"], 2, "--device abacus is not a device of this machine"),
        ([*FIT, "--device", "cuda:99"], 2, "--device cuda:99 is not a device of this machine"),
        ([*FIT, "--basins-file", "/no/such/file"], 2, "/no/such/file cannot be read (No such file or directory)"),
    ],
)
def test_an_impossible_training_is_reported(ingested: Freshet, arguments: list[str], code: int, sentence: str) -> None:
    result = ingested("train", *arguments, "--json")

    assert result.code == code
    assert sentence in result.err
    assert result.json["problem"]["detail"] in result.err
    assert ingested("models", "list", "--json").json == {"models": [], "next": None}


@pytest.mark.parametrize(("content", "why"), [(b"\xff\xfe\x00", "it is not UTF-8 text"), (b" \n\n", "names none")])
def test_an_empty_list_does_not_mean_all_basins(ingested: Freshet, tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / "basins.txt").write_bytes(content)

    result = ingested("train", *FIT, *SMALL, "--basins-file", str(tmp_path / "basins.txt"))

    assert result.code == 2
    assert why in result.err


def test_without_basins_nothing_is_trained(empty: Freshet) -> None:
    result = empty("train", *FIT)

    assert result.code == 2
    assert "freshet ingest camels --from" in result.err


def test_several_products_want_a_choice(ingested: Freshet, country: Path, tmp_path: Path) -> None:
    forcing = tmp_path / "basin_mean_forcing" / "nldas" / "00"
    forcing.mkdir(parents=True)
    for file in (country / "basin_mean_forcing" / "synthetic" / "00").iterdir():
        shutil.copy(file, forcing / file.name.replace("_lump_synthetic_", "_lump_nldas_"))
    assert ingested("ingest", "camels", "--from", str(tmp_path / "basin_mean_forcing")).code == 0

    undecided = ingested("train", *FIT, *SMALL)
    chosen = ingested("train", *FIT, *SMALL, "--product", "synthetic", "--json")

    assert undecided.code == 2
    assert "nldas, synthetic" in undecided.err
    assert "--product" in undecided.err
    assert ingested("models", "show", chosen.json["version"], "--json").json["product"] == "synthetic"


def test_a_training_by_the_published_recipe(ingested: Freshet) -> None:
    as_published = settings(
        network__embedding=0, network__rank=0, network__basin_vector=0, expectile=0.5, ema_decay=0, precision="float32"
    )
    version = ingested("train", *FIT, *SMALL, *as_published, "--json").json["version"]
    config = ingested("models", "show", version, "--json").json["config"]
    assert [config["network"][name] for name in ("embedding", "rank", "basin_vector")] == [0, 0, 0]
    assert (config["expectile"], config["ema_decay"], config["precision"]) == (0.5, 0, "float32")


def test_a_training_is_read_from_a_file_and_options_override_it(ingested: Freshet, tmp_path: Path) -> None:
    first = ingested("train", *PERIODS, *SMALL, "--seed", "3", "--json").json
    toml, json = tmp_path / "training.toml", tmp_path / "training.json"
    toml.write_text(
        f'train_period = "{PERIODS[1]}"\nseed = 9\n[network]\ncells = 4\n[windows]\nspinup_days = 60\nloss_days = 60\n'
    )
    json.write_text(f'{{"train_period": "{PERIODS[1]}", "windows": {{"spinup_days": 60, "batch": 99}}}}')
    options = (*PERIODS[2:], *settings(windows__batch=4, windows__loss_days=60, schedule__steps=6), "--seed", "3")

    same = ingested("train", "--config", str(toml), *options, "--json").json
    again = ingested("train", "--config", str(json), *options, *NETWORK, "--json").json

    assert [same["already"], again["already"]] == [True, True]
    assert same["version"] == again["version"] == first["version"]


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.json", "secret", "it is not JSON"),
        ("a.toml", "secret", "it is not TOML"),
        ("a.json", "[1]", "it is not an object"),
    ],
)
def test_an_invalid_training_file_is_reported_and_not_quoted(
    ingested: Freshet, tmp_path: Path, name: str, content: str, why: str
) -> None:
    (tmp_path / name).write_text(content)

    answer = ingested("train", *FIT, "--config", str(tmp_path / name))

    assert answer.code == 2
    assert why in answer.err.replace("\n", " ")
    assert "secret" not in answer.err


def test_help_shows_the_defaults_of_the_contract(freshet: Freshet) -> None:
    help_text = " ".join(freshet("train", "--help", COLUMNS="200").out.split())

    assert f"Default: {TrainingConfig.model_fields['members'].default}, with --from" in help_text
    assert "--set" in help_text


HELD_OUT = "2005-10-01..2009-09-30"


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        ([*PERIODS, "--from", "nobody"], 3, "No model version 'nobody' is stored here"),
        ([*PERIODS, "--from", "nobody", "--judge-on", HELD_OUT], 3, "No model version 'nobody' is stored here"),
        ([*FIT, "--from", "PARENT"], 2, "validation_period: it is needed"),
        ([*PERIODS, "--from", "PARENT", "--set", "network.cells=8"], 2, "network: there is no such field"),
        ([*PERIODS, "--from", "PARENT", "--set", "expectile=0.5"], 2, "inputs and loss are those of its parent"),
        ([*PERIODS, "--from", "PARENT", "--architecture", "mclstm"], 2, "network: there is no such field"),
        ([*PERIODS, "--from", "PARENT", "--set", 'inputs.static=["p_mean"]'], 2, "inputs: there is no such field"),
        ([*PERIODS, "--from", "PARENT", "--protocol", "sequence-to-one"], 2, "schedule.kind: "),
        ([*PERIODS, "--from", "PARENT", "--set", "schedule.steps=0"], 2, "schedule.steps: "),
        ([*PERIODS, "--from", "PARENT", "--members", "3"], 2, "has 2 members"),
        ([*PERIODS, "--from", "PARENT", "--product", "daymet"], 2, "takes the forcing product synthetic, not daymet"),
        ([*FIT, "--validation-period", FIT[1], "--from", "PARENT"], 2, "choose separate periods"),
        ([*PERIODS, "--from", "PARENT", "--judge-on", "2005-03-31..2009-09-30"], 2, "took no part in its training"),
        ([*PERIODS, "--from", "PARENT", "--judge-on", "2005-10-01..2008-09-30"], 2, "holds 3 whole water years"),
        ([*PERIODS, "--from", "PARENT", "--judge-on", "later"], 2, "'later' is not a period"),
    ],
)
def test_an_impossible_fine_tuning_is_reported(worked: Freshet, arguments: list[str], code: int, sentence: str) -> None:
    (stored,) = worked("models", "list", "--json").json["models"]
    result = worked("train", *(stored["id"] if one == "PARENT" else one for one in arguments), "--json")

    assert result.code == code
    assert sentence in result.json["problem"]["detail"]
    assert worked("models", "list", "--json").json["models"] == [stored]
