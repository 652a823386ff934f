"""`freshet alerts`: listed, shown with their reason, and sent."""

from pathlib import Path

import pytest

from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from jobspec.subscriptions import NewSubscription
from records.access import keys
from records.alerts import settle_alerts, subscriptions
from records.alerts.alerts import LevelChance
from records.database.engine import Database
from runtime.settings import Settings
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_run
from testing.webhook_receiver import Receiver, receiving
from tests.freshet.conftest import Freshet


def opened(data: Path) -> Database:
    return Database(f"sqlite:///{data / 'freshet.sqlite'}")


def bankfull(chance: float) -> LevelChance:
    return LevelChance(
        calibration="fitted",
        level="bankfull",
        kind=None,
        return_period_years=None,
        direction="rising",
        discharge=210.0,
        chance=chance,
    )


def settle(data: Path, chance: float | Absent) -> None:
    """Decide a level by a run of a version of its own."""
    database = opened(data)
    with database.transaction() as session:
        a_basin(session)
        run = a_run(session, a_promoted_version(session))
        chances = chance if isinstance(chance, Absent) else [bankfull(chance)]
        settle_alerts.settle(session, BASIN, run, 10, chances, settle_alerts.DecisionTime(NOW, NOW))
    database.close()


def test_alerts_are_listed_and_shown_with_the_rule(empty: Freshet) -> None:
    settle(empty.data, 0.8)
    (alert,) = empty("alerts", "list", "--json").json["alerts"]
    assert (alert["basin"], alert["level"], alert["severity"]) == (BASIN, "bankfull", "warning")
    shown = empty("alerts", "show", "01013500")
    assert "Warning begins: a chance of 0.8 reaches 0.7" in shown.out
    (change,) = empty("alerts", "changes", BASIN, "--json").json["changes"]
    assert (change["kind"], change["severity"], change["why"]) == ("begins", "warning", alert["why"])


def test_an_undecidable_alert_gives_the_reason(empty: Freshet) -> None:
    settle(empty.data, 0.8)
    settle(empty.data, absent(Reason.FAILED, message="It was not calibrated."))
    shown, result = empty("alerts", "show", BASIN), empty("alerts", "show", BASIN, "--json")
    assert "could not decide, and the alerts stay as they were: It was not calibrated." in shown.err
    assert result.json["reason"] == "It was not calibrated."
    assert result.json["levels"][0]["severity"] == "warning"


def test_a_basin_without_forecasts_gives_the_reason(empty: Freshet) -> None:
    database = opened(empty.data)
    with database.transaction() as session:
        a_basin(session)
    database.close()
    assert "No forecast has decided" in empty("alerts", "show", BASIN).err
    assert empty("alerts", "show", "USGS-99999999").code == 3


@pytest.mark.parametrize(("status", "code", "counted"), [(204, 0, {"delivered": 1}), (500, 6, {"pending": 1})])
def test_changes_are_sent_to_their_subscribers(empty: Freshet, status: int, code: int, counted: dict[str, int]) -> None:
    with receiving(Receiver(lambda: status)) as receiver:
        database = opened(empty.data)
        with database.transaction() as session:
            key, _ = keys.make(session, "office", "operator", None, NOW)
            subscriptions.create(session, NewSubscription(url=receiver.url), key.id, NOW, Settings())
        database.close()
        settle(empty.data, 0.8)
        result = empty("alerts", "deliver", "--json", FRESHET_WEBHOOK_HOSTS="{}:{}".format(*receiver.host))
    assert (result.code, result.json["deliveries"], len(receiver.requests)) == (code, counted, 1)


def test_a_template_that_is_not_text_is_refused_by_name(empty: Freshet, tmp_path: Path) -> None:
    file = tmp_path / "template.json"
    file.write_bytes("f\xfcr".encode("latin-1"))
    key = empty("keys", "make", "office", "--json").json["id"]
    given = ("--key", key, "--url", "https://rivers.example/hook", "--template", str(file))
    refused = empty("subscriptions", "add", *given)
    assert refused.code == 2
    assert f"{file} cannot be read (it is not UTF-8 text)" in refused.err
    assert empty("keys", "make", "office", "--days", "9999999").code == 2


def test_receivers_are_added_listed_and_removed_and_a_change_is_printed_as_cap(empty: Freshet) -> None:
    settle(empty.data, 0.8)
    key = empty("keys", "make", "office", "--json").json["id"]
    refused = empty("subscriptions", "add", "--key", key, "--email", "duty@rivers.example")
    assert "FRESHET_SMTP_HOST" in refused.err
    added = empty(
        "subscriptions", "add", "--key", key, "--url", "https://rivers.example/hook", "--basin", BASIN, "--json"
    )
    assert added.json["secret"].startswith("whsec_")
    (listed,) = empty("subscriptions", "list", "--json").json["subscriptions"]
    assert (listed["id"], listed["basins"]) == (added.json["id"], [BASIN])
    assert "is not paused" in empty("subscriptions", "resume", listed["id"]).err
    assert empty("subscriptions", "deliveries", "--json").json == {"deliveries": [], "next": None}
    empty("subscriptions", "remove", listed["id"])
    assert empty("subscriptions", "list", "--json").json == {"subscriptions": []}
    (change,) = empty("alerts", "changes", BASIN, "--json").json["changes"]
    assert f"<identifier>freshet-{change['event']}</identifier>" in empty("alerts", "cap", change["event"]).out
