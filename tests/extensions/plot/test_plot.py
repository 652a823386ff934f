"""`freshet plot` draws the plume of a run, in the terminal and as a picture."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.freshet.conftest import Freshet

BASIN = "SYNTH-01"


def test_the_terminal_shows_the_observed_days_and_the_days_ahead(worked: Freshet) -> None:
    result = worked("plot", BASIN, "--days", "5")

    rows = [line for line in result.out.splitlines() if line.startswith("200")]
    assert result.code == 0
    assert len(rows) == 5 + 10
    assert all("●" in row and "┃" not in row for row in rows[:5])
    assert all("┃" in row for row in rows[5:])
    assert any("░" in row for row in rows[5:])  # two members may agree on a day
    assert result.out.startswith(f"{BASIN}")


def test_the_plot_shows_the_run_as_discharge(worked: Freshet) -> None:
    (listed,) = worked("runs", "--json").json["runs"]
    run = worked("runs", listed["id"], "--json").json
    forecast = worked("runs", listed["id"], "--basin", BASIN, "--json").json

    drawn = worked("plot", BASIN, "--run", run["id"], "--json").json

    assert (drawn["unit"], drawn["run"], drawn["t0"]) == ("m3/s", run["id"], run["t0"])
    assert drawn["forecast"]["0.5"] == pytest.approx(forecast["discharge"]["median"], rel=1e-6)
    assert drawn["observed"]["time"][19] == run["t0"]


def test_flow_after_the_clocks_day_is_not_shown(worked: Freshet) -> None:
    run = worked("forecast", "--t0", "2004-02-28", "--basin", BASIN, "--json").json["runs"][0]["run"]

    shown = {
        clock: worked("plot", BASIN, "--run", run, "--json", FRESHET_AS_OF=clock).json["observed"]
        for clock in ("2004-03-02T12:00Z", "2004-06-01T12:00Z")
    }

    known = {clock: sum(flow is not None for flow in observed["discharge"]) for clock, observed in shown.items()}
    assert known == {"2004-03-02T12:00Z": 22, "2004-06-01T12:00Z": 30}


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_a_picture_is_written_by_the_end_of_its_name(worked: Freshet, tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"plume.{ending}"

    result = worked("plot", BASIN, "--to", str(file))

    assert result.code == 0
    assert str(file) in result.out
    if ending == "png":
        assert file.read_bytes().startswith(b"\x89PNG")
    else:
        assert ElementTree.parse(file).getroot().tag.endswith("svg")


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        ((BASIN, "--to", "plume.gif"), 2, "--to plume.gif is not a picture: end its name with .png or .svg."),
        (("SYNTH-09",), 3, "SYNTH-09"),
        ((BASIN, "--run", "none"), 3, "none"),
        ((BASIN, "--to", "/no/folder/plume.png"), 4, "/no/folder/plume.png cannot be used"),
    ],
)
def test_an_impossible_plot_is_reported(worked: Freshet, arguments: tuple[str, ...], code: int, sentence: str) -> None:
    result = worked("plot", *arguments)

    assert result.code == code
    assert sentence in result.err
