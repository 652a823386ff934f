"""Past issues of a feed are stored as they were issued: whole, once, and known from their own time on."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from hydrology.base.calendar import Period
from hydrology.base.errors import InvalidInput
from ingestion.feeds.base import FeedProblem
from operations.feeds.fetch import FetchCallbacks
from operations.weather.import_forecasts import MAX_FAILED, PastIssues, fetch_past_issues
from records.database.work import Progress
from records.weather import weather_issues
from runtime.clock import Clock
from testing.feed_services import meteo
from testing.feed_services.reply import as_json
from testing.work import work_of
from tests.ingestion.feeds.conftest import COAST, DAKOTA, MAINE, PLACES
from tests.operations.feeds.test_feeds import ARCHIVE, FORECAST, Office, office

pytestmark = pytest.mark.extended

__all__ = ["office"]

DAYS = 12
RUNS = DAYS - 1  # that of yesterday is the feed's own


class Cancelled(Exception):  # noqa: N818 - not a fault
    """Somebody asked to stop."""


def nothing(*_: Any) -> None:
    """Show nothing to anybody."""


def fetched(at: Office, days: int = DAYS, show: Progress = nothing) -> PastIssues:
    clock, listener = Clock(at.world.now), FetchCallbacks(pause=nothing)
    return fetch_past_issues(work_of(at.database, clock, at.settings, progress=show), "ahead", days, listener=listener)


def stored(at: Office) -> dict[datetime, set[str]]:
    with at.database.reading() as session:
        return weather_issues.stored_basins(session, "open-meteo", "ecmwf_ifs", datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture(autouse=True)
def _feed(office: Office) -> None:
    office.add("ahead", FORECAST)


def test_a_season_of_past_runs_is_stored_and_nothing_is_fetched_twice(office: Office) -> None:
    done = fetched(office)
    assert (done.stored, done.before, done.missing, done.failed, done.stopped) == (RUNS, 0, [], {}, None)
    assert [str(began.date()) for began in sorted(stored(office))] == [
        str(each) for each in Period.parse("2026-11-10..2026-11-20").days
    ]
    assert all(basins == set(PLACES) for basins in stored(office).values())
    before, requests = office.content(), len(office.world.requests)
    again = fetched(office)
    assert (again.stored, again.before, requests, len(office.world.requests)) == (0, RUNS, RUNS, RUNS)
    assert office.content() == before


def test_a_past_run_is_known_from_its_own_time_on_and_shows_that_it_was_fetched_later(office: Office) -> None:
    fetched(office)
    began = datetime(2026, 11, 15, tzinfo=UTC)
    days = Period.parse("2026-11-15..2026-11-24")
    with office.database.reading() as session:
        of_day_before, issue = (
            weather_issues.get(session, weather_issues.newest(session, [MAINE], at, days)[MAINE])
            for at in (began + timedelta(hours=5), began + timedelta(hours=6))
        )
        values = weather_issues.read(session, issue.id, MAINE, began + timedelta(hours=6))
    assert (of_day_before.reference_time, issue.reference_time) == (began - timedelta(days=1), began)
    assert issue.created_at > issue.reference_time
    assert values.issue.available_time == began + timedelta(hours=6)
    assert (issue.operational, issue.licence) == (True, "CC BY 4.0")
    assert np.isfinite(values.values["precipitation"]).all()


@pytest.mark.parametrize("stop_at", [0, 4])
def test_a_cancelled_fetch_leaves_whole_runs_and_goes_on(office: Office, stop_at: int) -> None:
    def stop(done: int, total: int, _began: str) -> None:
        assert total == RUNS
        if done == stop_at:
            raise Cancelled

    with pytest.raises(Cancelled):
        fetched(office, show=stop)
    assert [*stored(office).values()] == [set(PLACES)] * stop_at
    done = fetched(office)
    assert (done.stored, done.before) == (RUNS - stop_at, stop_at)
    assert len(office.world.requests) == RUNS


def test_a_run_that_the_service_does_not_have_is_left_out(office: Office) -> None:
    office.world.missing_runs = {"2026-11-12T00:00", "2026-11-13T00:00"}
    done = fetched(office)
    assert (done.stored, [began.day for began in done.missing], done.failed) == (RUNS - 2, [13, 12], {})
    office.world.missing_runs = set()
    assert fetched(office).stored == 2


def test_a_service_whose_limit_is_used_up_is_left_alone(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    reason = "Daily API request limit exceeded. Please try again tomorrow."
    right, refused = meteo.answer, as_json({"error": True, "reason": reason}, 429)
    answered: list[int] = []

    def limited(*asked: Any) -> Any:
        answered.append(1)
        return right(*asked) if len(answered) <= 4 else refused

    monkeypatch.setattr(meteo, "answer", limited)
    done = fetched(office)
    assert (done.stored, len(answered)) == (4, 4 + MAX_FAILED)
    assert done.stopped is not None
    assert reason in done.stopped
    monkeypatch.setattr(meteo, "answer", right)
    assert (fetched(office).stored, {len(basins) for basins in stored(office).values()}) == (RUNS - 4, {len(PLACES)})


def test_a_basin_with_impossible_weather_lacks_the_run_and_the_others_have_it(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = meteo._place

    def spoilt(*asked: Any) -> dict[str, Any]:
        answer = place(*asked)
        if asked[3] == 1:  # the second place
            answer["daily"]["temperature_2m_max"] = [200.0 for _ in answer["daily"]["time"]]
        return answer

    monkeypatch.setattr(meteo, "_place", spoilt)
    done = fetched(office)
    assert done.stored == RUNS
    assert done.failed.keys() == {DAKOTA}
    assert "tmax" in done.failed[DAKOTA]
    assert all(basins == {MAINE, COAST} for basins in stored(office).values())


def test_what_the_feed_brought_itself_stays(office: Office) -> None:
    office.fetch("ahead")
    mine = stored(office)
    assert len(mine) == 1
    office.world.now += timedelta(days=5)
    assert fetched(office).before == 1
    with office.database.reading() as session:
        ids = [issue.id for issue in weather_issues.list_issues(session, office.world.now)]
        live = weather_issues.read(session, ids[-1], MAINE, office.world.now)
    assert str(live.first) == "2026-11-19"  # it begins before its run


def test_other_feeds_have_no_past_issues_and_too_much_is_refused(office: Office) -> None:
    office.add("past", ARCHIVE)
    with pytest.raises(InvalidInput, match="of the adapter open-meteo-archive has no past issues"):
        fetch_past_issues(work_of(office.database, Clock(office.world.now), office.settings), "past", DAYS)
    with pytest.raises(FeedProblem, match="weighs 5997 calls"):
        fetched(office, days=2000)
    assert (office.world.requests, stored(office)) == ([], {})
