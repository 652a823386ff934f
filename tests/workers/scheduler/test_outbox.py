"""The service sends alert changes by itself, whatever is killed on the way, and beside forecasts."""

import time
from collections.abc import Callable, Iterator

import pytest

from hydrology.base.absent import absent
from hydrology.base.reasons import Reason
from jobspec.subscriptions import NewSubscription
from records.access import keys
from records.alerts import alert_changes, deliveries, subscriptions
from records.alerts.alert_changes import Change, NewChange
from records.alerts.deliveries import Delivery
from records.versions import versions
from runtime.settings import Settings
from testing.country import BASINS
from testing.jobs.processes import PATIENCE, Shop, end
from testing.webhook_receiver import LATE, Receiver, receiving

pytestmark = pytest.mark.extended


def put_out(shop: Shop, *receivers: Receiver) -> Change:
    """Subscribe receivers, and store a change for them."""
    at = shop.clock.wall()
    with shop.database.transaction() as session:
        key, _ = keys.make(session, "office", "operator", None, at)
        for receiver in receivers:
            subscriptions.create(session, NewSubscription(url=receiver.url), key.id, at, Settings())
        version = versions.newest(session).id
        new = NewChange(kind="promotion", at=at, basin_id=BASINS[0], version_id=version, why="Another version.")
        change = alert_changes.record_message(session, [new], at)[0]
    assert change is not None
    return change


def standing(shop: Shop) -> list[Delivery]:
    with shop.database.reading() as session:
        return deliveries.page(session)


def until(shop: Shop, holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    last = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < last, (shop.settings.data / "parts.log").read_text()
        time.sleep(0.05)


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """A receiver that the workers' settings allow; it hangs until it is released."""
    with receiving(Receiver(hung_up=PATIENCE)) as started:
        monkeypatch.setenv("FRESHET_WEBHOOK_HOSTS", "{}:{}".format(*started.host))
        yield started


def test_a_change_is_sent_though_the_worker_that_sends_it_is_killed(sqlite_shop: Shop, receiver: Receiver) -> None:
    shop = sqlite_shop
    receiver.answers = lambda: LATE
    change = put_out(shop, receiver)
    first = shop.worker("delivery")
    until(shop, lambda: bool(receiver.requests))
    end(first)
    receiver.answers = lambda: 204
    shop.worker("delivery")
    until(shop, lambda: standing(shop)[0].status != "pending")
    (delivered,) = standing(shop)
    assert delivered.status == "delivered"
    with shop.database.reading() as session:
        failures = [attempt.failure for attempt in deliveries.attempts_of(session, delivered.id)]
    assert failures == [absent(Reason.SENDER_LOST), None]
    assert [request.headers["webhook-id"] for request in receiver.requests] == [change.id] * 2


def test_a_receiver_that_hangs_delays_no_forecast(sqlite_shop: Shop, receiver: Receiver) -> None:
    shop = sqlite_shop
    receiver.answers = lambda: LATE
    put_out(shop, receiver)
    shop.worker("delivery")
    shop.worker("default")
    until(shop, lambda: bool(receiver.requests))
    assert shop.ended(shop.post("forecast", basins=[BASINS[0]], horizon=2).id).status == "succeeded"
    (waiting,) = standing(shop)
    assert waiting.status == "pending"
