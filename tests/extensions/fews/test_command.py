"""`freshet fews`, with the run file of docs/do/fews.md as it is printed."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from hydrology.base.calendar import Period
from records.database.engine import Database
from testing.files.fews import moment, pi_xml, weather
from tests.freshet.conftest import BASINS, Freshet

PAGE = Path(__file__).parents[3] / "extensions" / "fews" / "fews.md"
DAYS = Period.parse("2003-10-01..2005-05-10")


def levels(folder: Path) -> list[str]:
    """Return the levels of the diagnostics."""
    return [line.attrib["level"] for line in ElementTree.parse(folder / "log" / "diag.xml").getroot()]


@pytest.fixture
def module(worked: Freshet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that Delft-FEWS has exported to, which is where the command is called."""
    folder = tmp_path / "module"
    (folder / "in").mkdir(parents=True)
    (folder / "state").mkdir()
    database = Database(f"sqlite:///{worked.data / 'freshet.sqlite'}")
    given = {basin: weather(database, basin, DAYS) for basin in BASINS}
    database.close()
    (folder / "in" / "forcing.xml").write_text(pi_xml({None: given}, DAYS.first))
    (folder / "state" / "state.xml").write_text(
        '<State xmlns="http://www.wldelft.nl/fews/PI" version="1.2"><stateId>warm</stateId>'
        f'<dateTime {moment(DAYS.first)}/><stateLoc type="file"><readLocation>state/warm</readLocation>'
        "<writeLocation>state/warm</writeLocation></stateLoc></State>"
    )
    (content,) = re.findall(r"```xml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (folder / "run.xml").write_text(content)
    monkeypatch.chdir(folder)
    return folder


def test_the_run_of_the_document(worked: Freshet, module: Path) -> None:
    (command,) = re.findall(r"```sh\nfreshet (.*?)\n```", PAGE.read_text())
    done = worked(*command.split(), "--json")
    assert done.code == 0, done.err
    assert done.json["locations"] == list(BASINS)
    assert (done.json["period"], done.json["t0"]) == (str(DAYS), "2005-04-30")
    assert done.json["written"] == [str(module / path) for path in ("out/flow.xml", "out/flow.nc", "state/warm")]
    assert all(Path(path).stat().st_size for path in done.json["written"])
    assert levels(module) == ["2", "3"]  # there was no state yet


def test_some_locations_without_flow(worked: Freshet, module: Path) -> None:
    forcing = module / "in" / "forcing.xml"
    forcing.write_text(forcing.read_text().replace(BASINS[1], "SYNTH-99"))
    done = worked("fews", "run.xml")
    assert done.code == 6
    assert "Left out: SYNTH-99: No basin 'SYNTH-99' is stored here" in done.err.replace("\n", " ")
    assert sorted(levels(module)) == ["1", "2", "3"]


def test_a_failure_before_the_run_is_in_the_diagnostics_too(worked: Freshet, module: Path) -> None:
    done = worked("fews", "run.xml", FRESHET_DATA=str(module / "nowhere"))
    assert done.code == 5
    assert levels(module) == ["0"]
    (module / "run.xml").write_text("<Run/>")
    assert worked("fews", "run.xml").code == 4
