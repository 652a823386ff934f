"""Data that come late, twice, out of order or are revised: the states are those of what is known."""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hydrology.base.calendar import Day, Period, day
from hydrology.base.products import WEATHER
from hydrology.base.series import DailySeries
from hydrology.weather.bridge import BRIDGED, PRECIPITATION
from ingestion.feeds.base import Observations
from operations.basin_data.dataset import BasinForcing, load_forcings
from operations.basin_data.ingest import store
from operations.states.advance_states import advance
from operations.versions.load_networks import LoadedVersion, load_version
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.series import revisions
from records.versions import versions
from runtime.clock import Clock
from testing.country import BASINS
from testing.databases import copy_into
from testing.records import NOW
from testing.synthetic import archive as synthetic
from testing.work import work_of

pytestmark = pytest.mark.extended

Array = npt.NDArray[np.float32]

LENGTH = 24
STARTS = (day("2004-02-17"), day("2004-12-19"))  # across a 29 February, and across the 366th day of a year
some = settings(
    max_examples=10, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@dataclass
class Rivers:
    """A database with a version, and new basins that have no weather yet, all alike."""

    database: Database
    loaded: LoadedVersion
    attributes: Mapping[str, float]
    numbers: Iterator[int] = field(default_factory=lambda: count(1000))

    def basin(self) -> str:
        name = f"SYNTH-{next(self.numbers)}"
        with self.database.transaction() as session:
            basins.upsert(session, Basin(name, attributes=self.attributes))
        return name

    def report(self, basin: str, start: Day, values: Mapping[str, Array], at: Clock = Clock(NOW)) -> None:
        """Store the weather of some days, as a feed does."""
        shown = {
            name: DailySeries(start, numbers, np.zeros(len(numbers), np.uint8), WEATHER[name].unit)
            for name, numbers in values.items()
        }
        with self.database.transaction() as session:
            store(session, Observations(shown, "a file").as_data(basin, synthetic.PRODUCT), at)

    def known(self, basin: str, at: datetime) -> list[bytes]:
        """Return all that was known of the weather at an instant."""
        with self.database.reading() as session:
            then = [revisions.as_known_at(session, basin, synthetic.PRODUCT, name, at) for name in BRIDGED]
        return [
            b"".join((str(daily.start).encode(), daily.values.tobytes(), daily.flags.tobytes()))
            for daily in then
            if daily is not None
        ]

    def state(self, basin: str, t0: Day) -> str | None:
        """Return the hash of the state of a day, or None where the record does not reach it."""
        with self.database.reading() as session:
            forcing = load_forcings(session, [basin], self.loaded.config)[basin]
        if not isinstance(forcing, BasinForcing) or forcing.period.overlap(Period(t0, t0)) is None:
            return None
        advanced = advance(work_of(self.database, Clock(NOW)), self.loaded, {basin: forcing}, t0)[basin]
        assert advanced.problem is None
        assert advanced.state is not None
        return advanced.state.sha256


@pytest.fixture
def rivers(database_url: str, trained_file: Path) -> Iterator[Rivers]:
    """The country on either database."""
    if database_url.startswith("sqlite"):
        shutil.copy(trained_file, database_url.removeprefix("sqlite:///"))
    else:
        copy_into(trained_file, database_url)
    database = Database(database_url)
    with database.reading() as session:
        loaded = load_version(session, versions.newest(session).id)
        attributes = basins.get(session, BASINS[0]).attributes
    yield Rivers(database, loaded, attributes)
    database.close()


def weather(seed: int, length: int = LENGTH) -> dict[str, Array]:
    """Return weather of some days."""
    chance = np.random.default_rng(seed)
    rain = np.where(chance.random(length) < 0.4, chance.gamma(0.8, 9, length), 0)
    cold = chance.normal(4, 6, length)
    values = {
        PRECIPITATION: rain,
        "tmin": cold,
        "tmax": cold + chance.uniform(4, 12, length),
        "srad": chance.uniform(50, 300, length),
        "vp": chance.uniform(300, 1500, length),
    }
    return {name: numbers.astype(np.float32) for name, numbers in values.items()}


def part(values: Mapping[str, Array], first: int, last: int) -> dict[str, Array]:
    return {name: numbers[first : last + 1] for name, numbers in values.items()}


seeds, days, starts = st.integers(0, 10_000), st.integers(0, LENGTH - 1), st.sampled_from(STARTS)


def test_a_revised_day_changes_only_later_states_to_those_of_a_first_ingest(rivers: Rivers) -> None:
    @some
    @given(start=starts, seed=seeds, revised=days, more=st.floats(1, 80, width=32), t0s=st.sets(days, min_size=2))
    def holds(start: Day, seed: int, revised: int, more: float, t0s: set[int]) -> None:
        values = weather(seed)
        basin, twin = rivers.basin(), rivers.basin()
        rivers.report(basin, start, values)
        before = {t0: rivers.state(basin, start + t0) for t0 in sorted(t0s)}
        values[PRECIPITATION][revised] += np.float32(more)
        rivers.report(basin, start + revised, part(values, revised, revised))
        rivers.report(twin, start, values)
        after = {t0: rivers.state(basin, start + t0) for t0 in sorted(t0s)}
        assert after == {t0: rivers.state(twin, start + t0) for t0 in sorted(t0s)}
        assert {t0 for t0 in t0s if after[t0] != before[t0]} == {t0 for t0 in t0s if t0 >= revised}

    holds()


@dataclass(frozen=True)
class Reporting:
    """Some days of some variables, as reported by one of several contradicting sources."""

    first: int
    last: int
    seed: int
    names: tuple[str, ...]


@st.composite
def tellings(draw: st.DrawFn) -> list[Reporting]:
    """Return what comes, in any order and any number of times; every day of every variable comes at least once."""

    def reporting() -> Reporting:
        first, last = sorted((draw(days), draw(days)))
        names = draw(st.sampled_from([BRIDGED, (PRECIPITATION,), ("tmax", "tmin"), ("srad", "vp")]))
        return Reporting(first, last, draw(st.integers(0, 2)), tuple(names))

    middle = draw(days)
    whole = [Reporting(0, middle, 0, tuple(BRIDGED)), Reporting(middle, LENGTH - 1, 1, tuple(BRIDGED))]
    return draw(st.permutations([*(reporting() for _ in range(draw(st.integers(0, 5)))), *whole]))


def test_the_last_value_counts_however_late_repeated_or_out_of_order_data_arrive(rivers: Rivers) -> None:
    @some
    @given(start=starts, shown=tellings(), t0=days)
    def holds(start: Day, shown: list[Reporting], t0: int) -> None:
        result = [weather(seed) for seed in range(3)]
        final = {name: np.full(LENGTH, np.nan, np.float32) for name in BRIDGED}
        basin, twin = rivers.basin(), rivers.basin()
        for reporting in shown:
            values = {name: result[reporting.seed][name] for name in reporting.names}
            for _ in range(2):  # what comes twice changes nothing
                rivers.report(basin, start + reporting.first, part(values, reporting.first, reporting.last))
                rivers.state(basin, start + t0)
            for name, numbers in values.items():
                final[name][reporting.first : reporting.last + 1] = numbers[reporting.first : reporting.last + 1]
        rivers.report(twin, start, final)
        for at in (t0, LENGTH - 1):
            assert rivers.state(basin, start + at) == rivers.state(twin, start + at) is not None

    holds()


def test_what_was_known_at_an_instant_does_not_change(rivers: Rivers) -> None:
    @some
    @given(start=starts, shown=tellings(), steps=st.lists(st.integers(0, 2), min_size=7, max_size=7))
    def holds(start: Day, shown: list[Reporting], steps: list[int]) -> None:
        result, basin, at = [weather(seed) for seed in range(3)], rivers.basin(), NOW
        known: dict[datetime, list[bytes]] = {}
        for reporting, step in zip(shown, steps, strict=False):
            at += timedelta(seconds=step)  # several may come at the same instant
            values = {name: result[reporting.seed][name] for name in reporting.names}
            rivers.report(basin, start + reporting.first, part(values, reporting.first, reporting.last), Clock(at))
            known[at] = rivers.known(basin, at)
        assert {instant: rivers.known(basin, instant) for instant in known} == known
        assert rivers.known(basin, NOW - timedelta(seconds=1)) == []

    holds()
