"""`freshet schedules`: created, followed, left, removed."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tests.freshet.conftest import Freshet

DAILY = ("--kind", "forecast", "--cron", "30 6 * * *", "--timezone", "America/Denver")


def listed(freshet: Freshet) -> list[dict[str, object]]:
    found: list[dict[str, object]] = freshet("schedules", "list", "--json").json["schedules"]
    return found


def test_a_schedule_is_stored_with_its_next_run(empty: Freshet) -> None:
    created = empty("schedules", "add", "daily", *DAILY, "--params", '{"horizon": 10}', "--json").json

    assert listed(empty) == [created]
    assert created["job"] == {"kind": "forecast", "params": {"horizon": 10}}
    assert (created["enabled"], created["last_run_at"]) == (True, None)
    following = datetime.fromisoformat(created["next_run_at"])
    there = following.astimezone(ZoneInfo("America/Denver"))
    assert (there.hour, there.minute) == (6, 30)
    assert 0 <= (following - datetime.now(UTC)).total_seconds() + 60 <= 25 * 3600 + 60
    assert f"{following:%Y-%m-%d %H:%M}" in empty("schedules", "list").out


def test_a_schedule_is_left_and_followed_again(empty: Freshet) -> None:
    created = empty("schedules", "add", "daily", *DAILY, "--json").json

    left = empty("schedules", "disable", "daily", "--json").json
    again = empty("schedules", "disable", created["id"], "--json").json
    assert (left["enabled"], left["next_run_at"]) == (False, None)
    assert again == left == listed(empty)[0]

    followed = empty("schedules", "enable", "daily", "--json").json
    assert (followed["enabled"], followed["revision"]) == (True, created["revision"] + 2)
    assert followed["next_run_at"] >= created["next_run_at"]
    assert {name: followed[name] for name in ("cron", "timezone", "job", "created_at")} == {
        name: created[name] for name in ("cron", "timezone", "job", "created_at")
    }


def test_a_schedule_is_removed_by_name_or_id(empty: Freshet) -> None:
    empty("schedules", "add", "one", *DAILY)
    other = empty("schedules", "add", "other", *DAILY, "--json").json

    assert empty("schedules", "remove", "one").code == 0
    assert [one["name"] for one in listed(empty)] == ["other"]
    assert empty("schedules", "remove", other["id"]).code == 0
    assert listed(empty) == []


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (["--cron", "whenever"], "'whenever' is not a cron line"),
        (["--cron", "0 0 31 2 *"], "'0 0 31 2 *' is not a cron line"),
        (["--timezone", "Mars/Olympus"], "'Mars/Olympus' is not a time zone"),
        (["--kind", "member"], "There is no kind of job member: choose one of ingest"),
        (["--params", '{"horzion": 3}'], "params.horzion: there is no such field"),
        (["--params", '{"horizon": "3"}'], "params.horizon: input should be a valid integer"),
        (["--kind", "training", "--params", '{"config": 5}'], "params.config: "),
        (["--params", "{"], "--params is not JSON"),
        (["--params", "[]"], "--params is not a JSON object"),
    ],
)
def test_an_impossible_schedule_is_reported(empty: Freshet, changes: list[str], sentence: str) -> None:
    result = empty("schedules", "add", "daily", *DAILY, *changes, "--json")

    assert result.code == 2
    assert sentence in result.json["problem"]["detail"]
    assert listed(empty) == []


def test_a_taken_name_and_an_unknown_schedule_are_reported(empty: Freshet) -> None:
    empty("schedules", "add", "daily", *DAILY)

    taken = empty("schedules", "add", "daily", *DAILY, "--json")
    none = empty("schedules", "enable", "weekly", "--json")

    assert (taken.code, taken.json["problem"]["kind"]) == (2, "schedule-conflict")
    assert (none.code, none.json["problem"]["kind"]) == (3, "unknown-schedule")
