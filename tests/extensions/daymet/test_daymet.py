"""Daymet's single pixel."""

import numpy as np
import pytest

from extensions.daymet.feed import DaymetFeed, _table
from hydrology.base.calendar import Period
from hydrology.base.series import Flag
from ingestion.feeds.base import FeedProblem
from ingestion.feeds.http import Broken
from testing.feed_services.world import Fault
from tests.ingestion.feeds.conftest import MAINE, PLACES, Live, gauge, observed, why

YEARS = "2024-01-01..2025-12-31"


def feed(live: Live) -> DaymetFeed:
    return DaymetFeed(live.service())


@pytest.mark.parametrize("faults", [(), ("daymet-8-lead-lines",)])
def test_the_table_is_found_below_six_or_eight_lines_of_words(live: Live, faults: tuple[Fault, ...]) -> None:
    live.today(*faults)
    for basin, given in live.fetch(feed(live), YEARS).items():
        weather = observed(given).variables
        assert set(weather) == {"precipitation", "tmax", "tmin", "srad", "vp", "daylength", "swe"}
        rain = weather["precipitation"]
        known = rain.flags == 0
        np.testing.assert_allclose(
            rain.values[known], gauge(basin).weather["precipitation"].over(rain.period).values[known]
        )
        assert 30_000 < weather["daylength"].values[0] < 36_000


def test_a_leap_year_has_its_29_february_and_its_31_december_is_filled(live: Live) -> None:
    rain = observed(live.fetch(feed(live), YEARS)[MAINE]).variables["precipitation"]
    assert [str(at) for at in rain.days[rain.flags != 0]] == ["2024-12-31"]
    filled = rain.over(Period.parse("2024-12-29..2024-12-31"))
    assert (filled.values[2], filled.flags[2]) == (filled.values[:2].mean(), Flag.FILLED)
    assert str(rain.period) == YEARS
    leap = int((np.datetime64("2024-02-29") - rain.start).astype(int))
    assert rain.values[leap] == gauge(MAINE).weather["precipitation"].over(rain.period).values[leap]


@pytest.mark.parametrize("days", ["2024-12-31..2024-12-31", "2024-12-30..2025-01-02", "2024-06-01..2024-12-31"])
def test_the_filled_day_is_the_same_whichever_days_are_asked_for(live: Live, days: str) -> None:
    whole = observed(live.fetch(feed(live), YEARS)[MAINE]).variables
    for name, series in observed(live.fetch(feed(live), days)[MAINE]).variables.items():
        assert str(series.period) == days
        np.testing.assert_array_equal(series.values, whole[name].over(series.period).values)


def test_a_place_outside_is_reported_in_the_words_of_the_service(live: Live) -> None:
    live.today("daymet-400")
    answers = live.fetch(feed(live), YEARS)
    assert set(answers) == set(PLACES)
    assert "Daymet Tile was not found" in why(answers[MAINE])


TABLE = "year,yday,dayl (s),prcp (mm/day),srad (W/m^2),swe (kg/m^2),tmax (deg c),tmin (deg c),vp (Pa)\n"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "words\n",
        f"{TABLE}2023,1,33000\n",
        f"{TABLE}2023,366,1,1,1,1,1,1,1\n",
        f"{TABLE}inf,1,1,1,1,1,1,1,1\n",
        TABLE.replace("yday", "yday?") + "2023,1,1,1,1,1,1,1,1\n",
        TABLE + "2" * 200_000 + ",1,1,1,1,1,1,1,1\n",
    ],
)
def test_a_table_that_is_not_whole_is_broken(body: str) -> None:
    with pytest.raises(Broken):
        _table(body.encode())


def test_a_column_of_another_unit_is_refused() -> None:
    with pytest.raises(FeedProblem, match=r"lacks tmax \(deg c\)"):
        _table(TABLE.replace("tmax (deg c)", "tmax (K)").encode())
