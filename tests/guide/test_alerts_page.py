"""docs/do/alerts.md: its table is that of the code, and its lines check a signature."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from standardwebhooks import WebhookVerificationError

from hydrology.alerts import ENDS_AFTER, LADDERS, RARE_YEARS, STEADY, WINDOW_DAYS
from hydrology.base.calendar import STALE_AFTER_DAYS
from operations.alerts.deliver import ANSWER_SECONDS
from records.alerts.dispatch import LEASE
from records.alerts.signatures import secret, signed_headers

PAGE = (Path(__file__).parents[2] / "docs" / "do" / "alerts.md").read_text()
SENT = datetime(2026, 11, 23, 6, tzinfo=UTC)
BODY = '{"type":"alert.ends","data":{"event":"a","why":"Über."}}'.encode()
NEW, OLD, ANOTHER = (secret(b"key", "subscription", generation) for generation in (3, 2, 1))


def function(name: str) -> Callable[..., Any]:
    """Return a function of the page."""
    (code,) = [code for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if f"def {name}(" in code]
    names: dict[str, Any] = {}
    exec(code, names)
    return cast(Callable[..., Any], names[name])


def test_the_code_of_the_page_distinguishes_a_good_signature_from_a_bad_or_old_one() -> None:
    check, now = function("is_from_freshet"), SENT.timestamp()
    headers = signed_headers([NEW, OLD], "a", SENT, BODY)
    for good in (NEW, OLD):
        assert check(headers, BODY, good, now + 299)
        assert not check(headers, BODY, good, now + 301)
        assert not check(headers, BODY + b" ", good, now)
        for changed in ({"webhook-timestamp": str(int(now) + 1000)}, {"webhook-id": "b"}):
            assert not check(headers | changed, BODY, good, now + 1000)
            assert not check(headers | changed, BODY, good, now)
    assert not check(headers, BODY, ANOTHER, now)
    assert not check(headers | {"webhook-timestamp": "soon", "webhook-signature": "é"}, BODY, NEW, now)
    assert not check(signed_headers([], "a", SENT, BODY), BODY, NEW, now)


def test_the_code_of_the_page_with_the_specifications_library_returns_the_change() -> None:
    change_of, now = function("change_of"), datetime.now(UTC)
    headers = signed_headers([NEW, OLD], "a", now, BODY)
    assert change_of(headers, BODY, NEW) == change_of(headers, BODY, OLD) == {"event": "a", "why": "Über."}
    old = signed_headers([NEW], "a", now - timedelta(minutes=6), BODY)
    for sent, body, key in ((headers, BODY + b" ", NEW), (headers, BODY, ANOTHER), (old, BODY, NEW)):
        with pytest.raises(WebhookVerificationError):
            change_of(sent, body, key)


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
