"""Tables that somebody lays down."""

from pathlib import Path, PosixPath

import numpy as np
import pytest

from hydrology.base.series import Flag
from ingestion.base import Files
from ingestion.feeds.files import FilesFeed
from tests.ingestion.feeds.conftest import COAST, MAINE, Live, observed, why

HEADER = "basin,date,precipitation_mm_per_day,discharge_cfs\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "laid down"
    folder.mkdir()
    (folder / "1.csv").write_text(f"{HEADER}{MAINE},2026-11-18,1,10\n{MAINE},2026-11-19,2,20\n{COAST},2026-11-19,,5\n")
    (folder / "2.csv").write_text(
        f"{HEADER}{MAINE},2026-11-19,3,30\n{MAINE},2026-11-21,4,40\n{MAINE},2026-11-22,5,50\n"
    )
    (folder / "notes.txt").write_text("not a table")
    return folder


def test_a_later_file_counts_and_a_day_that_has_not_ended_waits(live: Live, folder: Path) -> None:
    answers = live.fetch(FilesFeed([folder], "own"))
    flow = observed(answers[MAINE]).variables["discharge"]
    np.testing.assert_array_equal(flow.values, [10, 30, np.nan, 40])
    assert flow.flags.tolist() == [0, 0, Flag.ABSENT, 0]
    assert set(observed(answers[COAST]).variables) == {"discharge"}


def test_weather_and_discharge_are_stored_under_their_own_products(live: Live, folder: Path) -> None:
    data = observed(live.fetch(FilesFeed([folder], "own"))[MAINE]).as_data(MAINE, "own")
    assert {series.variable: series.product for series in data.series} == {"precipitation": "own", "discharge": "usgs"}


def test_an_unusable_table_stops_the_ingest_of_all_tables(live: Live, folder: Path) -> None:
    (folder / "3.csv").write_text(f"{HEADER}{COAST},2026-11-19,wet,5\n")
    for given in live.fetch(FilesFeed([folder], "own")).values():
        assert "3.csv, line 2: precipitation_mm_per_day is not a number" in why(given)


def test_no_table_at_all_is_reported(live: Live, tmp_path: Path) -> None:
    assert "There are 0 tables" in why(live.fetch(FilesFeed([tmp_path], "own"))[MAINE])


def test_a_table_outside_the_folders_of_jobs_is_not_read(live: Live, folder: Path, tmp_path: Path) -> None:
    inside = tmp_path / "incoming"
    inside.mkdir()
    answers = live.fetch(FilesFeed([folder], "own", Files((inside,))))
    assert "is not in a folder that jobs read from" in why(answers[MAINE])


def test_a_folder_that_is_not_there_is_reported(live: Live, tmp_path: Path) -> None:
    assert "cannot be read" in why(live.fetch(FilesFeed([tmp_path / "nowhere"], "own"))[MAINE])


class Vanishing(PosixPath):
    """A folder that is removed as soon as it was found."""

    def is_dir(self) -> bool:
        is_there = super().is_dir()
        self.rmdir()
        return is_there


def test_a_folder_that_vanishes_is_reported_for_every_basin(live: Live, tmp_path: Path) -> None:
    folder = Vanishing(tmp_path / "vanishing")
    folder.mkdir()
    for given in live.fetch(FilesFeed([folder], "own")).values():
        assert f"{folder}: cannot be read (No such file or directory); check that it exists" in why(given)
