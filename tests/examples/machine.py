"""What differs between machines and runs, and is fixed in the examples of the API."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import count
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from runtime.clock import Clock

STARTED_AT = datetime(2026, 11, 20, 14, 30, tzinfo=UTC)
STEP = timedelta(seconds=1)
DIGITS = 4
"""Significant digits of a number in an example: the rest depends on the processor."""
FIXED: dict[str, Any] = {
    "program": "torch 2.13.0+cpu for AVX512, recurrence avx512",
    "address": "192.0.2.7",
    "machines": ["2 x AMD EPYC"],
    "training_seconds": 12.5,
    "secret": "freshet_webhook_not-a-secret-but-a-placeholder-for-the-example",
    # Unaccounted water is rounding noise, another one on each processor.
    "residual": 0.0,
    "relative": 0.0,
    "worst_relative_residual": 0.0,
}
"""Values of fields that depend on the machine, by the field's name."""
_HASH = re.compile(r"\b[0-9a-f]{64}\b")


class Machine:
    """A clock that advances step by step, and numbered identifiers."""

    def __init__(self) -> None:
        self.now = STARTED_AT
        self._numbers = count(1)

    def step(self) -> datetime:
        """Advance the clock, and return its time."""
        self.now += STEP
        return self.now

    def token_hex(self, size: int) -> str:
        """Return the next number, in as many bytes."""
        return f"{next(self._numbers):0{2 * size}x}"


@contextmanager
def fixed_machine() -> Iterator[Machine]:
    """Replace the machine's clock and the random part of identifiers."""
    machine = Machine()
    with (
        patch.object(Clock, "wall", lambda _clock: machine.now),
        patch("records.database.checksums.secrets", SimpleNamespace(token_hex=machine.token_hex)),
    ):
        yield machine


def fixed(answer: Any) -> Any:
    """Return an answer with fixed values for what depends on the machine, and numbers rounded."""
    return _fixed(None, answer)


def _fixed(name: str | None, value: Any) -> Any:
    if name in FIXED and value is not None:
        return FIXED[name]
    if isinstance(value, dict):
        return {key: _fixed(key, one) for key, one in value.items()}
    if isinstance(value, list):
        return [_fixed(None, one) for one in value]
    return float(f"{value:.{DIGITS}g}") + 0.0 if isinstance(value, float) else value  # no -0.0


def with_numbered_hashes(examples: Any) -> Any:
    """Return examples whose hashes are those of the order in which they first occur."""
    text = json.dumps(examples)
    numbers = {found: str(number) for number, found in enumerate(dict.fromkeys(_HASH.findall(text)))}
    return json.loads(_HASH.sub(lambda found: sha256(numbers[found[0]].encode()).hexdigest(), text))
