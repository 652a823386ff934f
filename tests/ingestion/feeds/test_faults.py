"""No fault that the local server can play is left untried."""

from pathlib import Path

from testing.feed_services.world import FAULTS

FOLDERS = ("ingestion/feeds", "extensions/usgs", "extensions/openmeteo", "extensions/daymet", "app/basins")
TESTS = [path.read_text() for folder in FOLDERS for path in (Path(__file__).parents[2] / folder).glob("test_*.py")]


def test_every_fault_is_tested() -> None:
    assert [fault for fault in FAULTS if not any(f'"{fault}"' in text for text in TESTS)] == []
