"""Wherever several basins can be named, a file of them can be."""

from pathlib import Path

import pytest

from freshet.cli.commands import commands, loaded
from tests.freshet.conftest import BASINS, Freshet


@pytest.mark.extended
def test_every_command_that_takes_several_basins_takes_a_file_of_them() -> None:
    taking = {}
    for words in commands():
        options = {name: one for one in loaded(words).params for name in one.opts}
        if "--basin" in options and getattr(options["--basin"], "multiple", False):
            taking[words] = "--basins-file" in options
        else:
            assert "--basins-file" not in options
    assert {"train", "evaluate", "models promote", "models combine", "ingest camels", "archive"} <= taking.keys()
    assert all(taking.values()), taking


def test_the_basins_of_a_file_are_added_to_those_named(worked: Freshet, tmp_path: Path) -> None:
    (tmp_path / "basins.txt").write_text("SYNTH-01 # the first\n")
    named = ("--basins-file", str(tmp_path / "basins.txt"), "--basin", "SYNTH-03")
    done = worked("evaluate", "--period", "2005-04-01..2005-09-30", *named)
    assert (done.code, [name in done.out for name in BASINS]) == (0, [True, False, True])
    (version,) = (one["id"] for one in worked("models", "list", "--json").json["models"])
    (tmp_path / "basins.txt").write_text("01013500\n")
    unknown = worked("models", "promote", version, "--reason", "a test", *named)
    assert (unknown.code, "USGS-01013500" in unknown.err) == (3, True)
    (tmp_path / "basins.txt").write_text("\n")
    empty = worked("evaluate", "--period", "2004-10-01..2005-03-31", *named)
    assert (empty.code, "names none" in empty.err) == (2, True)
