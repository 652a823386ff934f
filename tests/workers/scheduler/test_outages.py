"""Through outages of feed, worker, scheduler and database no day stays without an issue, and operators are notified."""

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta

import pytest

from hydrology.base.calendar import day
from jobspec.subscriptions import NewSubscription
from records.access import keys
from records.alerts import subscriptions
from testing.country import BASINS
from testing.jobs.in_process import InProcessJobs
from testing.jobs.outages import STATED_AT, Outcome, ReplayedService, drawn
from testing.webhook_receiver import Receiver, receiving
from tests.operations.live import FORECAST, station

FIRST = datetime(2005, 6, 1, tzinfo=UTC)
DAYS, OUTAGES, SEED = 20, 8, 52


@pytest.fixture
def outcome(live_jobs: InProcessJobs, monkeypatch: pytest.MonkeyPatch) -> Iterator[Outcome]:
    """The end of some replayed days with drawn outages."""
    with (
        station(live_jobs.database, live_jobs.settings.data) as at,
        receiving(Receiver(lambda: 204)) as receiver,
    ):
        at.add("ahead", FORECAST)
        for name, value in at.environment.items():
            if name != "FRESHET_AS_OF":
                monkeypatch.setenv(name, value)
        settings = live_jobs.settings.model_copy(
            update={"webhook_hosts": (receiver.host,), "issues_complete_by": time(STATED_AT)}
        )
        with live_jobs.database.transaction() as session:
            key = keys.make(session, "duty", "admin", None, FIRST)[0].id
            new = NewSubscription(url=receiver.url, about="issues")
            subscriptions.create(session, new, key, FIRST, settings)
        outages = drawn(SEED, FIRST, DAYS, OUTAGES)
        yield ReplayedService(settings, at.world, outages, BASINS).replay(FIRST, DAYS)


@pytest.mark.extended
def test_no_day_stays_without_an_issue_and_late_ones_are_marked_and_noticed(outcome: Outcome) -> None:
    days = {str(day(FIRST.date()) + ahead) for ahead in range(DAYS)}
    assert (outcome.missing, {str(issue.day) for issue in outcome.issues}) == ([], days)
    assert outcome.late == days - outcome.on_time
    assert outcome.late  # the draw has some
    assert outcome.late_as_latest == 0
    assert outcome.incomplete
    for stated in outcome.incomplete:
        known = [one for one in outcome.notices if one.at <= stated + timedelta(minutes=10)]
        assert known
        assert known[-1].causes
    assert outcome.notices[-1].causes == ""
    assert outcome.alarms  # some outage of the feeds' service lasts for two days
    for name in {one.alarm for one in outcome.alarms}:
        kinds = [one.kind for one in outcome.alarms if one.alarm == name]
        assert kinds == ["begins", "ends"] * (len(kinds) // 2)
