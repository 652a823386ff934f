"""`freshet train`: the training that is asked for, or a sentence why not."""

import shutil
from pathlib import Path

import pytest

from tests.freshet.conftest import BASINS, PERIODS, SMALL, Freshet

FIT = PERIODS[:2]


def test_a_version_is_trained_once(ingested: Freshet) -> None:
    first = ingested("train", *PERIODS, *SMALL, "--label", "small", "--json")
    again = ingested("train", *PERIODS, *SMALL, "--label", "other", "--json")

    assert (first.code, first.json["already"], again.json["already"]) == (0, False, True)
    assert first.json["version_id"] == again.json["version_id"]
    assert first.json["promoted"] == first.json["basins"] == list(BASINS)
    assert "member 0: 6 of 6" in first.err
    assert "keeps the label 'small'" in again.err
    same = ingested("train", *PERIODS, *SMALL, "--label", "small", "--json")
    assert [one.err.count("keeps") for one in (first, same)] == [0, 0]
    kept = ingested("models", "show", first.json["version_id"], "--json").json
    assert (kept["label"], kept["config"]["network"]["cells"]) == ("small", 4)


def test_the_basins_of_a_file_and_of_options_are_trained_on(ingested: Freshet, tmp_path: Path) -> None:
    (tmp_path / "basins.txt").write_text("SYNTH-03\n\n  SYNTH-01 \n")

    said = ingested(
        "train", *FIT, *SMALL, "--basins-file", str(tmp_path / "basins.txt"), "--basin", "SYNTH-01", "--json"
    )

    assert sorted(said.json["basins"]) == ["SYNTH-01", "SYNTH-03"]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--train-period", "2001"], 2, "'2001' is not a period"),
        (["--train-period", "2004-01-01..2003-01-01"], 2, "ends before it begins"),
        (["--train-period", "2004-01-01..2004-02-30"], 2, "'2004-02-30' is not a day"),
        ([*FIT, "--validation-period", "never"], 2, "'never' is not a period"),
        (["--train-period", "1980-01-01..1981-12-31"], 4, "does not cover 1980-01-01..1981-12-31"),
        (["--train-period", "2004-01-01..2004-02-01"], 4, "No training window"),
        ([*FIT, "--basin", "01013500"], 3, "No basin 'USGS-01013500' is kept here"),
        ([*FIT, "--product", "daymet"], 4, "forcing product daymet"),
        ([*FIT, "--epochs", "3"], 2, "--epochs does not belong to the protocol windows"),
        ([*FIT, "--protocol", "sequence-to-one", "--learning-rate", "0.1"], 2, "--learning-rate does not belong"),
        ([*FIT, "--cells", "1"], 2, "--cells: "),
        ([*FIT, "--members", "0"], 2, "--members: "),
        ([*FIT, "--steps", "0"], 2, "--steps: "),
        ([*FIT, "--learning-rate", "nan"], 2, "--learning-rate: "),
        ([*FIT, "--expectile", "1"], 2, "--expectile: "),
        ([*FIT, "--averaging", "1"], 2, "--averaging: "),
        ([*FIT, "--output-gate-bias", "nan"], 2, "--output-gate-bias"),
        ([*FIT, "--seed", "-1"], 2, "--seed"),
        ([*FIT, "--warmup-days", "1" + "0" * 30], 2, "--warmup-days"),
        ([*FIT, "--device", "abacus"], 2, "--device abacus is no device of this machine"),
        ([*FIT, "--device", "cuda:99"], 2, "--device cuda:99 is no device of this machine"),
        ([*FIT, "--basins-file", "/no/such/file"], 2, "/no/such/file cannot be read (No such file or directory)"),
    ],
)
def test_what_cannot_be_trained_is_told(ingested: Freshet, arguments: list[str], code: int, sentence: str) -> None:
    said = ingested("train", *arguments, "--json")

    assert said.code == code
    assert sentence in said.err
    assert said.json["problem"]["detail"] in said.err
    assert ingested("models", "list", "--json").json == {"versions": []}


@pytest.mark.parametrize(("content", "why"), [(b"\xff\xfe\x00", "it is not UTF-8 text"), (b" \n\n", "names none")])
def test_a_list_of_basins_that_says_nothing_is_no_list_of_all(
    ingested: Freshet, tmp_path: Path, content: bytes, why: str
) -> None:
    (tmp_path / "basins.txt").write_bytes(content)

    said = ingested("train", *FIT, *SMALL, "--basins-file", str(tmp_path / "basins.txt"))

    assert said.code == 2
    assert why in said.err


def test_nothing_is_trained_on_nothing(freshet: Freshet) -> None:
    said = freshet("train", *FIT)

    assert said.code == 2
    assert "freshet ingest camels --from" in said.err


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
    assert ingested("models", "show", chosen.json["version_id"], "--json").json["product"] == "synthetic"


def test_a_training_by_the_published_recipe(ingested: Freshet) -> None:
    as_published = ("--embedding", "0", "--expectile", "0.5", "--averaging", "0", "--precision", "float32")
    version = ingested("train", *FIT, *SMALL, *as_published, "--json").json["version_id"]
    config = ingested("models", "show", version, "--json").json["config"]
    assert config["network"]["embedding"] == 0
    assert (config["expectile"], config["averaging"], config["precision"]) == (0.5, 0, "float32")


HELD_OUT = "2005-10-01..2009-09-30"


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        ([*PERIODS, "--from", "nobody"], 3, "No model version 'nobody' is kept here"),
        ([*PERIODS, "--from", "nobody", "--judge-on", HELD_OUT], 3, "No model version 'nobody' is kept here"),
        ([*FIT, "--from", "PARENT"], 2, "needs --validation-period"),
        ([*PERIODS, "--from", "PARENT", "--cells", "8"], 2, "--cells does not belong to a fine-tuning"),
        ([*PERIODS, "--from", "PARENT", "--expectile", "0.5"], 2, "--expectile does not belong to a fine-tuning"),
        ([*PERIODS, "--from", "PARENT", "--architecture", "mclstm"], 2, "--architecture does not belong"),
        ([*PERIODS, "--from", "PARENT", "--attribute", "p_mean"], 2, "--attribute does not belong"),
        ([*PERIODS, "--from", "PARENT", "--protocol", "windows"], 2, "--protocol does not belong"),
        ([*PERIODS, "--from", "PARENT", "--steps", "0"], 2, "--steps: "),
        ([*PERIODS, "--from", "PARENT", "--members", "3"], 2, "has 2 members"),
        ([*PERIODS, "--from", "PARENT", "--product", "daymet"], 2, "takes the forcing product synthetic, not daymet"),
        ([*FIT, "--validation-period", FIT[1], "--from", "PARENT"], 2, "choose periods apart"),
        ([*PERIODS, "--from", "PARENT", "--judge-on", "2005-03-31..2009-09-30"], 2, "took no part in its training"),
        ([*PERIODS, "--from", "PARENT", "--judge-on", "2005-10-01..2008-09-30"], 2, "holds 3 whole water years"),
        ([*PERIODS, "--from", "PARENT", "--judge-on", "later"], 2, "'later' is not a period"),
    ],
)
def test_what_cannot_be_fine_tuned_is_told(worked: Freshet, arguments: list[str], code: int, sentence: str) -> None:
    (kept,) = worked("models", "list", "--json").json["versions"]
    said = worked("train", *(kept["id"] if one == "PARENT" else one for one in arguments), "--json")

    assert said.code == code
    assert sentence in said.json["problem"]["detail"]
    assert worked("models", "list", "--json").json["versions"] == [kept]
