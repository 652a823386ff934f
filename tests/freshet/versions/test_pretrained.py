"""`freshet models export` and `install-pretrained`, and how their forecasts are described."""

import json
import shutil
from pathlib import Path

import pytest

from testing.records import instant
from tests.app.conftest import serving
from tests.freshet.conftest import BASINS, PERIODS, SMALL, Freshet

pytestmark = pytest.mark.extended

LEARNT, UNSEEN = BASINS[:2], BASINS[2]
NAME = "small-ensemble"
AT = "2005-05-02"


@pytest.fixture(scope="session")
def shelf(ingested_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shelf with an ensemble that learnt from two of the three basins."""
    folder = tmp_path_factory.mktemp("shelf")
    trainer = Freshet(Path(shutil.copytree(ingested_data, folder / "data")))
    chosen = [part for basin in LEARNT for part in ("--basin", basin)]
    trained = trainer("train", *PERIODS, *SMALL, *chosen, "--members", "2", "--json").json
    exported = trainer("models", "export", trained["version"], str(folder / "shelf" / NAME), "--json")
    assert (exported.code, exported.json["members"], exported.json["changed"]) == (0, [0, 1], True)
    again = trainer("models", "export", trained["version"], str(folder / "shelf" / NAME))
    assert (again.code, "Nothing changed" in again.err) == (0, True)
    return folder / "shelf"


def test_it_is_installed_once_and_forecasts_basins_that_it_never_saw(ingested: Freshet, shelf: Path) -> None:
    settings = {"FRESHET_PRETRAINED": str(shelf), "FRESHET_AS_OF": AT}
    first = ingested("models", "install-pretrained", "--promote", "--json", **settings)
    again = ingested("models", "install-pretrained", NAME, "--json", **settings)
    assert (first.code, first.json["already"], first.json["promoted"]) == (0, False, list(BASINS))
    assert (again.json["already"], again.json["version"]) == (True, first.json["version"])
    assert "installed already" in again.err
    promoted = ingested("models", "install-pretrained", "--promote", **settings)
    assert promoted.code == 0
    shown = " ".join((promoted.out + promoted.err).split())
    assert f"{NAME} is installed already, as version {first.json['version']}" in shown
    assert f"It is the current version of {len(BASINS)} basins already; no basin was added." in shown

    issued = ingested("forecast", **settings)
    (run,) = ingested("runs", "--json", **settings).json["runs"]
    note = ingested("runs", run["id"], "--basin", UNSEEN, "--json").json["training_note"]
    assert f"{UNSEEN} is not among the 2 basins that the version learnt from" in note
    assert note in issued.err.replace("\n", " ")
    assert LEARNT[0] not in issued.err.replace("Not calibrated", "")
    table = ingested("runs", run["id"]).out
    seen = [{"yes", "no"} & set(line.split()) for line in table.splitlines() if line.startswith("SYNTH")]
    assert seen == [{"yes"}, {"yes"}, {"no"}]

    with serving(f"sqlite:///{ingested.data / 'freshet.sqlite'}", instant(AT)) as client:
        for basin in BASINS:
            for answer in ("forecasts/latest", "storage", "water-balance"):
                result = client.get(f"/v1/basins/{basin}/{answer}").json()
                assert result["run"] == run["id"]
                assert result["seen_in_training"] is (basin in LEARNT)
                assert result["trained_on"] == result["product"] == "synthetic"
        listed = client.get(f"/v1/runs/{run['id']}").json()
        assert [one["seen_in_training"] for one in listed["basins"]] == [True, True, False]
        model = client.get(f"/v1/models/{run['version']}").json()
    assert model["pretrained"] == {"name": NAME, "content": first.json["content"]}
    assert (model["basins"], model["current_basins"]) == (list(LEARNT), list(BASINS))


def test_scores_report_whether_the_basin_was_trained_on(ingested: Freshet, shelf: Path) -> None:
    installed = ingested("models", "install-pretrained", "--json", FRESHET_PRETRAINED=str(shelf)).json
    own = ingested("evaluate", "--period", "2005-04-01..2005-09-30", "--json").json
    assert own["nse"]["basins"] == len(LEARNT)
    assert ingested("evaluate", "--period", "2005-04-01..2005-09-30", "--basin", UNSEEN).code == 0
    with serving(f"sqlite:///{ingested.data / 'freshet.sqlite'}") as client:
        for basin in BASINS:
            result = client.get(f"/v1/basins/{basin}/skill?version={installed['version']}").json()
            assert result["seen_in_training"] is (basin in LEARNT)
            assert (result["product"], result["trained_on"]) == ("synthetic", "synthetic")


def test_another_product_is_noted_with_every_forecast(ingested: Freshet, shelf: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(shelf / NAME, tmp_path / "other" / NAME)) / "version.json"
    content = json.loads(folder.read_text())
    content["config"]["inputs"]["product"] = "maurer_extended"
    folder.write_text(json.dumps(content))
    settings = {"FRESHET_PRETRAINED": str(tmp_path / "other"), "FRESHET_AS_OF": AT}

    installed = ingested("models", "install-pretrained", "--product", "synthetic", "--promote", **settings)
    issued = ingested("forecast", **settings)

    assert "It learnt from maurer_extended and will be driven by synthetic" in installed.err
    (run,) = ingested("runs", "--json", **settings).json["runs"]
    assert run["product"] == "synthetic"
    sentence = "It learnt from maurer_extended and is driven by synthetic."
    assert issued.err.replace("\n", " ").count(sentence) == len(BASINS)
    assert "synthetic  maurer_extended" in ingested("models", "list").out
    with serving(f"sqlite:///{ingested.data / 'freshet.sqlite'}", instant(AT)) as client:
        result = client.get(f"/v1/basins/{LEARNT[0]}/forecasts/latest").json()
        model = client.get(f"/v1/models/{run['version']}").json()
        whole = client.get(f"/v1/runs/{run['id']}").json()
    assert (result["product"], result["trained_on"], sentence in result["training_note"]) == (
        *("synthetic", "maurer_extended", True),
    )
    assert (model["product"], model["trained_on"], whole["trained_on"]) == (
        *("synthetic", "maurer_extended", "maurer_extended"),
    )


def test_without_its_forcing_it_serves_no_basin_and_gives_the_reason(ingested: Freshet, shelf: Path) -> None:
    arguments = ("models", "install-pretrained", "--product", "own_weather", "--promote", "--json")
    result = ingested(*arguments, FRESHET_PRETRAINED=str(shelf))
    assert (result.code, result.json["promoted"], sorted(result.json["left_out"])) == (0, [], list(BASINS))
    assert "has no precipitation, srad, tmax, tmin, vp of the forcing product own_weather" in result.err


def test_a_basin_that_it_never_saw_is_promoted_by_name(worked: Freshet, shelf: Path) -> None:
    installed = worked("models", "install-pretrained", "--promote", "--json", FRESHET_PRETRAINED=str(shelf)).json
    assert installed["promoted"] == []
    promoted = worked("models", "promote", installed["version"], "--basin", UNSEEN, "--reason", "to try it", "--json")
    assert promoted.json["current_basins"] == [UNSEEN]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("models", "install-pretrained", "nothing"), 3, f"No ensemble 'nothing' is shipped: choose one of {NAME}"),
        (("models", "export", "nothing", "folder"), 3, "No model version 'nothing'"),
    ],
)
def test_an_impossible_installation_or_export_is_reported(
    empty: Freshet, shelf: Path, arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    result = empty(*arguments, FRESHET_PRETRAINED=str(shelf))
    assert (result.code, sentence in result.err.replace("\n", " ")) == (code, True)


def test_an_exported_folder_is_installed_by_its_path(ingested: Freshet, shelf: Path, tmp_path: Path) -> None:
    installed = ingested("models", "install-pretrained", str(shelf / NAME), "--json")
    assert (installed.code, installed.json["name"]) == (0, NAME)
    missing = ingested("models", "install-pretrained", str(tmp_path), "--json")
    assert "or give a folder that `freshet models export` has written" in missing.json["problem"]["detail"]
