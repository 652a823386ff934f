"""docs/do/alerts.md: its table is that of the code, and its lines check a signature."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from hydrology.base.staleness import STALE_AFTER_DAYS
from hydrology.extremes.alerting import ENDS_AFTER, LADDERS, RARE_YEARS, STEADY, WINDOW_DAYS
from operations.alerts.deliver import ANSWER_SECONDS
from records.alerts.deliveries import LEASE
from records.alerts.webhook_signature import signature

PAGE = (Path(__file__).parents[2] / "docs" / "do" / "alerts.md").read_text()
SENT = datetime(2026, 11, 23, 6, tzinfo=UTC)
BODY = '{"event":"a","why":"Über."}'.encode()


def is_from_freshet() -> Callable[[str, bytes, str, float], bool]:
    """Return the function of the page."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    return cast(Callable[[str, bytes, str, float], bool], names["is_from_freshet"])


def test_the_code_of_the_page_distinguishes_a_good_signature_from_a_bad_or_old_one() -> None:
    check, now = is_from_freshet(), SENT.timestamp()
    header = signature(["new", "old"], SENT, BODY)
    for secret in ("new", "old"):
        assert check(header, BODY, secret, now + 299)
        assert not check(header, BODY, secret, now + 301)
        assert not check(header, BODY + b" ", secret, now)
        later = header.replace(str(int(now)), str(int(now) + 1000))
        assert not check(later, BODY, secret, now + 1000)
    assert not check(header, BODY, "another", now)
    assert not check(signature([], SENT, BODY), BODY, "new", now)


def test_the_table_is_that_of_the_code() -> None:
    rows = re.findall(r"^\|.*\| (advisory|watch|warning) \| (.*) \| (\d) \| (.*) \| (\d) \|$", PAGE, re.MULTILINE)
    steps = [step for steps in LADDERS.values() for step in steps]
    shown = [(row[0], float(row[1]), int(row[2]), float(row[3]), int(row[4])) for row in rows]
    assert shown == [(step.severity, step.begins_at, step.begins_after, step.ends_below, ENDS_AFTER) for step in steps]
    words = " ".join(PAGE.split())
    assert f"of {RARE_YEARS} years and more" in words
    assert f"first {WINDOW_DAYS} days" in words
    assert f"more than {STALE_AFTER_DAYS} days behind" in words
    assert f"within {STEADY}" in words
    assert f"within {ANSWER_SECONDS:g} seconds" in words
    assert LEASE.total_seconds() > ANSWER_SECONDS
