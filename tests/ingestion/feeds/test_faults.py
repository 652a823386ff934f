"""No fault that the local server can play is left untried."""

from pathlib import Path

from testing.feed_services.world import FAULTS

TESTS = [path.read_text() for path in Path(__file__).parent.glob("test_*.py") if path != Path(__file__)]


def test_every_fault_is_tested() -> None:
    assert [fault for fault in FAULTS if not any(f'"{fault}"' in text for text in TESTS)] == []
