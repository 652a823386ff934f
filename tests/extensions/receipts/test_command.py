"""`freshet reproduce`: a stored run computed again."""

import pytest

from models.nets.compiled import loader
from tests.freshet.conftest import Freshet

ASKED = ("forecast", "--basin", "SYNTH-01", "--basin", "SYNTH-02", "--t0", "2004-03-10", "--json")


def test_a_run_has_the_stored_bits_or_the_cause_is_shown(worked: Freshet, monkeypatch: pytest.MonkeyPatch) -> None:
    run = worked(*ASKED).json["runs"][0]["run"]
    same = worked("reproduce", run, "--json")
    assert (same.code, same.json["reproduced"], list(same.json["basins"])) == (0, 2, ["SYNTH-01", "SYNTH-02"])
    assert same.json["program"]["run"] == same.json["program"]["here"]
    assert "bit-equal" in worked("reproduce", run, "--basin", "SYNTH-02").out
    monkeypatch.setattr(loader, "library", lambda: None)
    other = worked("reproduce", run, "--json")
    assert (other.code, other.json["reproduced"]) == (4, 0)
    assert "program: another program computed the run" in other.err
    (first, *_) = other.json["basins"]["SYNTH-01"]["different"]
    assert (first["causes"], first["unit"]) == (["program"], "mm")
    assert "different" in worked("reproduce", run).out


@pytest.mark.parametrize("asked", [["none"], ["RUN", "--basin", "SYNTH-03"]])
def test_what_is_not_stored_is_reported(worked: Freshet, asked: list[str]) -> None:
    run = worked(*ASKED).json["runs"][0]["run"]
    assert worked("reproduce", *[run if part == "RUN" else part for part in asked]).code == 3
