"""No fault that the local server can play is left untried."""

from pathlib import Path

import pytest

from testing.feed_services.world import FAULTS, Fault

TESTS = [path.read_text() for path in Path(__file__).parent.glob("test_*.py") if path != Path(__file__)]


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_tested(fault: Fault) -> None:
    assert any(f'"{fault}"' in text for text in TESTS)
