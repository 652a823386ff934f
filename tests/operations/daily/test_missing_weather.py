"""A day without an input: forecasts go on, labelled, and states are as if nothing had been missing."""

import shutil
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from extensions.receipts.reproduce import reproduce
from hydrology.alerts import WINDOW_DAYS
from hydrology.base.absent import Absent
from hydrology.base.calendar import MAX_GAP_DAYS, Day, Period, day
from hydrology.weather.bridge import BRIDGED
from jobspec.jobs.data import BridgeFit
from jobspec.levels import NewThreshold
from operations.alerts.decide_alerts import decide
from operations.daily.daily_forecasts import DailyRequest, Newest, issue_newest
from operations.verification.calibrate import calibrate
from operations.weather.fit_bridges import fit
from records.alerts import alerts
from records.database.engine import Database
from records.forecasts.latest import Latest, latest
from records.levels import basin_levels
from records.runs import runs, states
from records.runs.filled_note import filled_note
from records.runs.run_summary import RunChange
from records.runs.run_weather import FilledWeather
from records.runs.runs import MAX_DAYS_BEFORE
from records.series import series_writer
from records.versions import promotions
from runtime.clock import Clock
from testing.country import BASINS
from testing.late_archive import LateArchive
from testing.synthetic.archive import PRODUCT
from testing.work import work_of

HORIZON, BASIN = 6, BASINS[0]
START = datetime(2005, 5, 1, 14, tzinfo=UTC)
"""The first issue day: all days before it are known."""
WARMER = (-1.0, 0.0, 1.0)


class Service:
    """A store that is forecast every day, and the archive of its days."""

    def __init__(self, database: Database) -> None:
        self.database, self.now = database, START
        self.archive = LateArchive.take(database, PRODUCT, BASINS, self.yesterday)

    @property
    def yesterday(self) -> Day:
        return day(self.now.date()) - 1

    def go_on(
        self,
        *,
        weather: bool = True,
        flow: bool = True,
        ahead: bool = True,
        variables: Sequence[str] | None = None,
        days: int = 1,
        climatology: bool = False,
    ) -> Newest:
        """Go on by a day, bring what comes, and forecast."""
        self.now += timedelta(days=1)
        self.archive.bring(
            self.database,
            Clock(self.now),
            Period(self.yesterday - (days - 1), self.yesterday),
            weather=weather,
            flow=flow,
            variables=variables,
        )
        if ahead:
            self.archive.forecast(self.database, self.now, self.yesterday + 1, HORIZON, warmer=WARMER)
        return self.issue(climatology=climatology)

    def issue(self, *, climatology: bool = False) -> Newest:
        return issue_newest(
            work_of(self.database, Clock(self.now)), BASINS, DailyRequest(HORIZON, climatology=climatology)
        )

    def newest(self, basin: str = BASIN) -> Latest:
        with self.database.reading() as session:
            return latest(session, basin, self.now)

    def filled(self) -> tuple[FilledWeather, ...]:
        return self.newest().basin.summary.filled_weather

    def state(self, at: Day) -> str | None:
        with self.database.reading() as session:
            version = promotions.current(session, [BASIN])[BASIN]
            stored = states.get(session, version, BASIN, at)
            return None if stored is None else stored.sha256


@pytest.fixture
def here(trained_store: Database) -> Service:
    return Service(trained_store)


def calibrated(here: Service) -> None:
    """Fit the errors of the version."""
    with here.database.reading() as session:
        version = promotions.current(session, [BASIN])[BASIN]
    calibrate(work_of(here.database, Clock(here.now)), version, BASINS, Period.parse("2003-10-01..2005-04-30"))


def labels(filled: Sequence[FilledWeather]) -> list[tuple[str, str | None, str, str]]:
    return [(one.source, one.reference_day, one.first, one.last) for one in filled]


def test_without_a_fault_nothing_is_filled(here: Service) -> None:
    assert len(here.go_on().issued) == 1
    run = here.newest().run
    assert (str(run.t0), run.horizon_days, run.filled_days, here.filled()) == ("2005-05-01", HORIZON, 0, ())
    assert here.issue().issued == []


def test_late_weather_is_that_of_the_forecasts_of_the_days_before(here: Service) -> None:
    here.go_on()
    for missing in (1, 2, 3, 4, 5):
        assert here.go_on(weather=False).failed == {}
        run = here.newest().run
        assert (str(run.t0), run.filled_days, run.horizon_days) == ("2005-05-01", missing, HORIZON + missing)
        of_each = [f"2005-05-0{one + 1}" for one in range(1, missing + 1)]
        assert labels(here.filled()) == [("forecast", one, one, one) for one in of_each]
        assert run.weather is not None
        assert str(run.weather.reference_time.date()) == f"2005-05-0{missing + 2}"
        assert not run.t0_stale
    assert here.issue().issued == []


def test_filled_days_have_the_weather_and_the_skill_of_their_source(here: Service) -> None:
    here.go_on()
    here.go_on(weather=False)
    found = here.newest()
    (label,) = here.filled()
    assert found.run.weather is not None
    first = {name: values[0] for name, values in found.run.weather.skill.correlations.items()}
    assert label.correlations == {name: [pytest.approx(value, abs=1e-3)] for name, value in first.items()}
    with here.database.reading() as session:
        rain = runs.series_of(session, found.run.id, BASIN, ["precipitation"])["precipitation"].values
    came = here.archive.values(BASIN, Period.parse("2005-05-02..2005-05-08"))["precipitation"]
    assert rain.tolist() == [came.tolist()] * len(WARMER)  # the amounts are the same in every trace


def test_what_is_observed_of_a_day_is_used(here: Service) -> None:
    here.go_on()
    here.go_on(variables=("precipitation", "discharge"))
    observed, forecast = here.filled()
    assert (observed.source, observed.name, [*observed.correlations.items()]) == (
        "product",
        PRODUCT,
        [("precipitation", [1.0])],
    )
    assert (forecast.source, {*forecast.correlations}) == ("forecast", {*BRIDGED} - {"precipitation"})
    assert filled_note(here.filled(), here.newest().run.weather_until) == (
        "Srad, tmax, tmin, vp of 2 May are not observed yet: they are the forecast of that day."
    )


def test_a_second_product_goes_before_a_forecast_through_its_bridge(here: Service) -> None:
    second = "second"
    whole = Period.parse("2001-10-01..2005-05-20")
    with here.database.transaction() as session:
        for name in BASINS:
            for variable, one in here.archive.series[name, PRODUCT].items():
                values = one.over(whole).values * np.float32(1.25 if variable == "precipitation" else 1)
                series_writer.write(
                    session, name, second, variable, replace(one.over(whole), values=values), 1, here.now
                )
    here.go_on()
    fit(work_of(here.database, Clock(here.now)), "like-it", BridgeFit.model_validate({"from": second, "to": PRODUCT}))
    here.go_on(weather=False)
    (label,) = here.filled()
    assert (label.source, label.name, label.first) == ("bridge", second, "2005-05-02")
    assert label.correlations["precipitation"][0] > 0.95
    found = here.newest()
    with here.database.reading() as session:
        rain = runs.series_of(session, found.run.id, BASIN, ["precipitation"])["precipitation"].values
    came = here.archive.values(BASIN, Period.parse("2005-05-02..2005-05-02"))["precipitation"]
    assert rain[0, 0] == pytest.approx(came[0], rel=0.1, abs=0.05)
    (receipt,) = reproduce(work_of(here.database), found.run.id, [BASIN]).basins
    assert receipt.reproduced


def test_a_better_source_leads_to_a_new_forecast(here: Service) -> None:
    here.go_on()
    here.go_on(weather=False)
    today = Period(here.yesterday, here.yesterday)
    here.archive.bring(here.database, Clock(here.now), today, variables=["precipitation"])
    assert len(here.issue().issued) == 1
    assert [one.source for one in here.filled()] == ["product", "forecast"]
    here.archive.bring(here.database, Clock(here.now), today)
    assert len(here.issue().issued) == 1
    assert (here.newest().run.filled_days, here.filled()) == (0, ())


@pytest.mark.extended
@pytest.mark.parametrize("days", [1, 3, 10])
def test_states_after_an_outage_are_those_without_one(
    here: Service, trained_file: Path, tmp_path: Path, days: int
) -> None:
    database = Database(f"sqlite:///{shutil.copy(trained_file, tmp_path / 'whole.sqlite')}")
    whole = Service(database)
    for number in range(days + 3):
        failing = 1 <= number <= days
        whole.go_on()
        assert here.go_on(weather=not failing, days=days + 1 if number == days + 1 else 1).failed == {}
        assert here.newest().run.issued_at == here.now
        if number == days + 1:
            assert isinstance(here.newest().basin.summary.change, RunChange) == (days < MAX_DAYS_BEFORE)
    for at in Period(here.yesterday - days - 1, here.yesterday).days:
        assert here.state(at) in (whole.state(at), None)
    assert here.state(here.yesterday) == whole.state(here.yesterday) is not None
    database.close()


def test_an_older_forecast_is_used_as_far_as_it_reaches(here: Service) -> None:
    here.go_on()
    for missing in (1, 2, 3):
        here.go_on(ahead=False)
        run = here.newest().run
        assert (run.forcing_kind, run.horizon_days, run.filled_days) == ("supplied", HORIZON - missing, 0)
    here.go_on(ahead=False)
    assert (here.newest().run.forcing_kind, here.newest().run.horizon_days) == ("climatology", HORIZON)


@pytest.mark.extended
def test_other_years_fill_what_nothing_else_does_where_an_operator_allows_it(here: Service) -> None:
    here.go_on()
    here.go_on(ahead=False, climatology=True)
    found = here.newest()
    assert (found.run.forcing_kind, found.run.horizon_days) == ("supplied", HORIZON)
    (label,) = here.filled()
    assert (label.source, label.first, label.last) == ("climatology", "2005-05-08", "2005-05-08")
    assert {value for of in label.correlations.values() for value in of} == {0.0}
    assert (found.basin.summary.traces or 0) >= len(WARMER)
    for _ in range(6):
        here.go_on(weather=False, ahead=False, climatology=True)
    last = here.newest().run
    assert (last.forcing_kind, last.filled_days, last.issued_at) == ("climatology", 6, here.now)


def test_without_any_source_a_basin_has_the_usual_fallback_and_then_a_reason(here: Service) -> None:
    here.go_on()
    outcomes = [here.go_on(weather=False, ahead=False) for _ in range(6)]
    assert [len(one.issued) for one in outcomes] == [1, 1, 1, 0, 0, 0]
    assert {reason.code for one in outcomes[3:] for reason in one.late.values()} == {"record_stale"}


@pytest.mark.extended
def test_an_outage_that_is_too_long_ends_the_forecasts(here: Service) -> None:
    here.go_on()
    for _ in range(MAX_GAP_DAYS):
        assert len(here.go_on(weather=False).issued) == 1
    done = here.go_on(weather=False)
    assert done.issued == []
    assert {reason.code for reason in done.late.values()} == {"record_stale"}


@pytest.mark.extended
def test_the_last_observed_flow_grows_older_while_flow_is_missing(here: Service) -> None:
    calibrated(here)
    here.go_on()
    for missing in range(1, 11):
        here.go_on(flow=False)
        found = here.newest()
        used = found.basin.summary.calibration
        assert not isinstance(used, Absent)
        assert (used.last_flow_day, str(found.run.t0)) == ("2005-05-01", str(day("2005-05-01") + missing))


def test_flow_observed_after_t0_corrects_a_forecast_whose_weather_is_late(here: Service) -> None:
    calibrated(here)
    here.go_on()
    for missing in (1, 2, 3):
        here.go_on(weather=False)
        found = here.newest()
        used = found.basin.summary.calibration
        assert not isinstance(used, Absent)
        assert (str(found.run.t0), used.last_flow_day) == ("2005-05-01", str(here.yesterday))
        with here.database.reading() as session:
            flow = runs.series_of(session, found.run.id, BASIN, ["discharge"])["discharge"].values
        assert used.simulated_mm == pytest.approx(flow.mean(axis=(0, 1))[missing - 1], rel=1e-5)
        assert used.last_flow_mm is not None
        receipt = reproduce(work_of(here.database), found.run.id)
        assert receipt.reproduced == len(BASINS)


def test_flow_that_comes_after_a_forecast_gives_another_from_the_same_state(here: Service) -> None:
    calibrated(here)
    here.go_on()
    here.go_on(flow=False)
    before = here.newest()
    assert here.issue().issued == []
    here.now += timedelta(hours=2)
    of_day = Period(here.yesterday, here.yesterday)
    here.archive.bring(here.database, Clock(here.now), of_day, weather=False, flow=True)
    (run,) = here.issue().issued
    after = here.newest()
    used = after.basin.summary.calibration
    assert not isinstance(used, Absent)
    assert (after.run.id, after.run.t0, used.last_flow_day) == (run.id, before.run.t0, str(here.yesterday))
    assert after.basin.state_hash == before.basin.state_hash
    here.now += timedelta(hours=2)
    here.archive.bring(here.database, Clock(here.now), of_day, weather=False, flow=True)  # the same again
    assert here.issue().issued == []


def test_a_filled_run_computed_again_has_the_stored_bits_after_the_right_data_came(here: Service) -> None:
    here.go_on()
    here.go_on(weather=False)
    here.go_on(variables=("precipitation",))
    run = here.newest().run
    here.go_on(days=3)
    receipt = reproduce(work_of(here.database), run.id)
    assert receipt.reproduced == len(BASINS)


@pytest.mark.extended
def test_alerts_are_decided_on_filled_weather_of_the_days_to_come(here: Service) -> None:
    calibrated(here)
    with here.database.transaction() as session:
        basin_levels.put(session, BASIN, NewThreshold(name="trickle", discharge=0.0001, direction="rising"), here.now)
    here.go_on()
    for _ in range(5):
        here.go_on(weather=False)
        decide(work_of(here.database, Clock(here.now)), BASINS)
        with here.database.reading() as session:
            standing = alerts.standings(session, [BASIN])[BASIN]
        assert (standing.run_id, standing.reason) == (here.newest().run.id, None)
        assert standing.window_days == min(HORIZON, WINDOW_DAYS)
