"""`freshet observations`: a series as it is known, and as it was."""

from datetime import UTC, datetime, timedelta

import pytest

from records.database.engine import Database
from records.runs import runs
from records.series import revisions, series_writer
from testing.records import daily
from tests.freshet.conftest import Freshet

DAYS = "2005-09-28..2005-09-30"
READ = ("observations", "SYNTH-01", "--product", "synth", "--period", DAYS, "--units", "source", "--json")


def test_a_series_is_shown_as_it_is_known_and_as_it_was(ingested: Freshet) -> None:
    before = ingested(*READ).json
    assert (before["units"], before["time"]) == ({"discharge": "cfs"}, ["2005-09-28", "2005-09-29", "2005-09-30"])
    flows = ingested(*READ[:-3], *READ[-3:-1], "--units", "m3/s", "--json").json
    assert flows["units"] == {"discharge": "m3/s"}
    cfs = before["values"]["discharge"]
    assert flows["values"]["discharge"] == pytest.approx([value * 0.3048**3 for value in cfs], rel=1e-6)
    then, later = datetime.now(UTC), datetime.now(UTC) + timedelta(hours=1)
    database = Database(f"sqlite:///{ingested.data / 'freshet.sqlite'}")
    with database.transaction() as session:
        source = revisions.register_source(session, "later", "0" * 64, 1, later)
        series_writer.write(
            session, "SYNTH-01", "synth", "discharge", daily("2005-09-30", 5, 6, unit="cfs"), source, later
        )
    database.close()
    assert ingested(*READ).json["values"]["discharge"] == [*cfs[:2], 5.0]
    known = ingested(*READ, "--known-at", then.isoformat()).json
    assert (known["values"], known["flags"]) == (before["values"], before["flags"])
    table = ingested(*READ[:-1], "--csv").out.splitlines()
    assert (len(table), "discharge [cfs]" in table[0]) == (4, True)
    assert "0.142" in ingested("observations", "SYNTH-01", "--product", "synth").out
    nothing = ingested(*READ, "--known-at", "2001-01-01T00:00:00Z")
    assert (nothing.code, nothing.json["problem"]["kind"]) == (3, "no-observations")
    assert ingested(*READ, "--known-at", "yesterday").code == 2


def test_runs_are_listed_as_they_were_known(worked: Freshet) -> None:
    database = Database(f"sqlite:///{worked.data / 'freshet.sqlite'}")
    with database.reading() as session:
        (run,) = runs.list_runs(session)
    database.close()
    at = run.available_at
    assert [one["id"] for one in worked("runs", "--known-at", at.isoformat(), "--json").json["runs"]] == [run.id]
    assert worked("runs", "--known-at", (at - timedelta(seconds=1)).isoformat(), "--json").json["runs"] == []
