"""A process that is killed leaves a transaction whole or not at all."""

import subprocess
import sys

import numpy as np
import pytest

from records.database.engine import Database
from records.series import series
from records.versions import versions
from testing.records import BASIN, a_basin, contents

pytestmark = pytest.mark.extended

WRITER = """
import sys
from records.series import series_writer
from records.database.engine import Database
from testing.records import BASIN, NOW, a_basin, a_source, daily
database = Database(sys.argv[1])
for turn in range(1, 1_000_000):
    with database.transaction() as session:
        a_basin(session)
        for variable in ("precipitation", "tmax"):
            year = daily("1999-01-01", *[turn] * 730)
            series_writer.write(session, BASIN, "maurer", variable, year, a_source(session), NOW)
    print(turn, flush=True)
"""

HALF_A_VERSION = """
import sys, time
from records.database.engine import Database
from testing.records import BASIN, a_basin, a_member, a_version
database = Database(sys.argv[1])
with database.transaction() as session:
    a_basin(session)
    a_version(session, a_member(0), a_member(1), basins=(BASIN,))
    print("written", flush=True)
    time.sleep(600)
"""


def _killed_after(script: str, url: str, line: str) -> None:
    with subprocess.Popen([sys.executable, "-c", script, url], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for result in process.stdout:
            if result.strip() == line:
                break
        process.kill()
        assert process.wait(30) == -9, "it ended before it was killed"


def test_a_killed_writer_leaves_all_series_at_one_of_its_turns(database: Database) -> None:
    _killed_after(WRITER, database.url, "5")
    with database.reading() as session:
        stored = [series.read(session, BASIN, "maurer", variable) for variable in ("precipitation", "tmax")]
    values = {float(value) for part in stored if part is not None for value in np.unique(part.values)}
    assert len(values) == 1
    assert values.pop() >= 5


def test_a_version_of_a_killed_process_is_not_there_and_the_next_writer_does_not_wait(database: Database) -> None:
    with database.reading() as session:
        before = contents(session)
    _killed_after(HALF_A_VERSION, database.url, "written")
    with database.transaction() as session:
        assert contents(session) == before
        assert versions.list_versions(session) == []
        a_basin(session)
