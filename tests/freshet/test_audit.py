"""`freshet audit` tells what was changed from the command line, and by whom."""

import getpass
from pathlib import Path

from tests.freshet.conftest import Freshet


def test_every_change_by_the_command_line_leaves_a_trace(tmp_path: Path) -> None:
    freshet = Freshet(tmp_path / "data")
    key = freshet("keys", "make", "river office", "--json").json
    freshet("keys", "revoke", key["id"])
    freshet("schedules", "add", "daily", "--kind", "forecast", "--cron", "0 6 * * *")
    freshet("schedules", "disable", "daily")
    freshet("schedules", "remove", "daily")
    changes = freshet("audit", "--json").json["changes"]
    assert [change["action"] for change in changes] == [
        "schedule deleted",
        "schedule changed",
        "schedule made",
        "key revoked",
        "key made",
    ]
    assert {change["who"] for change in changes} == {f"command line ({getpass.getuser()})"}
    assert key["token"] not in freshet("audit").out
    assert freshet("audit", "--limit", "1", "--json").json["changes"] == changes[:1]
    assert freshet("audit", "--before", str(changes[2]["seq"]), "--json").json["changes"] == changes[3:]
