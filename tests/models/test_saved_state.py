"""States that somebody hands in again."""

from typing import Any

import pytest

from models import checkpoint
from models.saved_state import Owner, UnusableState, parse

NOT_REACHED: Any = None
HEADER = {"form": 1, "weights": "0" * 64, "product": "daymet", "day": "2005-09-30", "spin_up_days": [400]}


@pytest.mark.parametrize("changes", [{"product": "day\x7fmet"}, {"basins": ["USGS-0101350\x1b[2J"]}])
def test_a_state_whose_names_cannot_be_shown_is_refused_without_them(changes: dict[str, object]) -> None:
    header = HEADER | {"basins": ["USGS-01013500"], "content": "0" * 64} | changes
    with pytest.raises(UnusableState, match="cannot be read") as refusal:
        parse(checkpoint.dump({}, header), Owner("0" * 64, "maurer"), NOT_REACHED)
    assert str(refusal.value).isprintable()
