"""The cells that a command computes are those that the service stores."""

import io
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from records.database.engine import Database
from records.runs import states
from records.versions import versions
from tests.app.conftest import serving
from tests.freshet.conftest import Freshet

BASIN = "SYNTH-01"


def test_command_and_api_show_what_the_states_hold(worked: Freshet, tmp_path: Path) -> None:
    url = f"sqlite:///{worked.data / 'freshet.sqlite'}"
    database = Database(url)
    with database.reading() as session:
        version = versions.newest(session).id
        stored = states.page(session, version, BASIN, before=None, limit=1000)
    database.close()
    picture = tmp_path / "cells.svg"
    first = str(min(state.day for state in stored))
    last = str(max(state.day for state in stored))
    options = ("--member", "1", "--period", f"{first}..{last}", "--to", str(picture))
    done = worked("cells", BASIN, *options, "--csv")
    computed = pd.read_csv(io.StringIO(done.out), index_col="time", parse_dates=True)
    with serving(url) as client:
        asked = {"member": "1", "start": first, "end": last}
        answer = client.get(f"/v1/basins/{BASIN}/cells", params=asked | {"format": "parquet"})
        newest = client.get(f"/v1/basins/{BASIN}/cells").json()
        beyond = client.get(f"/v1/basins/{BASIN}/cells", params={"start": "2020-01-01"})
        other = client.get(f"/v1/basins/{BASIN}/cells", params={"member": "7"})
    served = pd.read_parquet(io.BytesIO(answer.content)).set_index("time")
    served.index = pd.to_datetime(served.index)
    cells = [f"cell_{number}" for number in range(4)]
    of_csv = [f"{name} [mm]" for name in cells]
    assert len(computed) == int((np.datetime64(last) - np.datetime64(first)).astype(int)) + 1
    assert sorted(served.index) == sorted(pd.Timestamp(str(state.day)) for state in stored)
    for state in stored:
        at, water = pd.Timestamp(str(state.day)), state.arrays["c"][1]
        assert computed.loc[at, of_csv].tolist() == pytest.approx(water.tolist(), rel=1e-6)
        assert served.loc[at, cells].tolist() == computed.loc[at, of_csv].tolist()
        assert served.loc[at, "total"] == pytest.approx(water.sum(), rel=1e-6)
    assert newest["member"] == "0"
    assert newest["time"][-1] == last
    assert (beyond.status_code, beyond.json()["type"].rpartition("/")[2]) == (404, "no-cells")
    assert "has no member 7: choose one of 0, 1." in other.json()["detail"]
    assert ElementTree.parse(picture).getroot().tag.endswith("svg")


def test_what_cannot_be_shown_is_refused(worked: Freshet) -> None:
    outside = worked("cells", BASIN, "--period", "1990-01-01..1990-12-31")
    assert (outside.code, "choose days among them" in outside.err) == (4, True)
    picture = worked("cells", BASIN, "--to", "cells.txt")
    assert (picture.code, "end its name with .png or .svg" in picture.err) == (2, True)
