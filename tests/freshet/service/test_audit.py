"""`freshet audit` lists what was changed from the command line, and by whom."""

import getpass
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.freshet.conftest import PERIODS, SMALL, Freshet

HELD_OUT = "2005-04-01..2005-09-30"


def test_every_change_by_the_command_line_leaves_a_trace(tmp_path: Path) -> None:
    freshet = Freshet(tmp_path)
    key = freshet("keys", "make", "river office", "--json").json
    freshet("keys", "revoke", key["id"])
    freshet("schedules", "add", "daily", "--kind", "forecast", "--cron", "0 6 * * *")
    freshet("schedules", "disable", "daily")
    freshet("schedules", "remove", "daily")
    changes = freshet("audit", "--json").json["changes"]
    assert [change["action"] for change in changes] == [
        "schedule deleted",
        "schedule changed",
        "schedule created",
        "key revoked",
        "key created",
    ]
    assert {change["who"] for change in changes} == {f"command line ({getpass.getuser()})"}
    assert key["token"] not in freshet("audit").out
    assert freshet("audit", "--limit", "1", "--json").json["changes"] == changes[:1]
    assert freshet("audit", "--before", str(changes[2]["seq"]), "--json").json["changes"] == changes[3:]


@pytest.fixture
def changes(worked: Freshet) -> Callable[[int], list[dict[str, Any]]]:
    """The entries of the trail after a number of changes, the oldest first."""

    def after(seq: int) -> list[dict[str, Any]]:
        newest_first = worked("audit", "--json").json["changes"]
        return [change for change in newest_first[::-1] if change["seq"] > seq]

    return after


def test_computations_of_the_command_line_leave_a_trace(
    worked: Freshet, changes: Callable[[int], list[dict[str, Any]]]
) -> None:
    before = changes(0)
    version = worked("models", "list", "--json").json["models"][0]["id"]
    assert [(change["action"], change["subject"]) for change in before] == [
        ("data ingested", "basins"),
        ("job run", "training"),
        ("job run", "forecast"),
    ]
    assert before[1]["detail"]["params"]["config"]["members"] == 2
    assert before[2]["detail"] == {"params": {}}

    period = "2004-10-01..2005-03-31"
    other = worked("train", *PERIODS, *SMALL, "--seed", "7", "--json").json["version"]
    worked("evaluate", "--period", period, "--version", version)
    worked("compare", "--version", version, "--version", other, "--period", HELD_OUT)
    added = changes(before[-1]["seq"])
    assert [(change["action"], change["subject"]) for change in added] == [
        ("job run", "training"),
        ("job run", "evaluation"),
        ("job run", "comparison"),
    ]
    assert added[1]["detail"] == {"params": {"period": period, "version": version}}
    assert added[2]["detail"] == {"params": {"versions": [version, other], "period": HELD_OUT}}
    assert {change["who"] for change in [*before, *added]} == {f"command line ({getpass.getuser()})"}


def test_work_that_changes_nothing_or_fails_leaves_none(
    worked: Freshet, changes: Callable[[int], list[dict[str, Any]]]
) -> None:
    last = changes(0)[-1]["seq"]
    assert worked("evaluate", "--period", "1990-10-01..1991-09-30").code != 0
    assert worked("forecast", "--t0", "1990-10-01").code != 0
    assert changes(last) == []
