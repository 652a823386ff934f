"""Seasons, their volumes, what was observed of them and what is normal."""

import numpy as np
import pytest

from hydrology.base.calendar import Period, day
from hydrology.base.errors import InvalidInput
from hydrology.base.units import Area, mm_per_day_to_m3s
from hydrology.climatology.normals import MIN_YEARS
from hydrology.climatology.volumes import (
    EXCEEDED_PERCENT,
    MELT,
    Normal,
    Observed,
    Season,
    default_season,
    exceeded,
    million_m3,
    normal,
)

RECORD = Period(day("1980-01-01"), day("1999-12-31"))


def test_a_season_is_read_as_it_is_written() -> None:
    assert Season.parse("04-01..07-31") == MELT
    assert str(MELT) == "04-01..07-31"


@pytest.mark.parametrize("text", ["", "04-01", "4-1..7-31", "04-01..02-29", "13-01..02-01", "04-01...07-31", "a..b"])
def test_text_that_is_not_a_season_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"write MM-DD\.\.MM-DD"):
        Season.parse(text)


@pytest.mark.parametrize(
    ("season", "t0", "first", "last"),
    [
        ("04-01..07-31", "1990-02-01", "1990-04-01", "1990-07-31"),
        ("04-01..07-31", "1990-07-30", "1990-04-01", "1990-07-31"),
        ("04-01..07-31", "1990-07-31", "1991-04-01", "1991-07-31"),
        ("11-01..03-31", "1990-02-01", "1989-11-01", "1990-03-31"),
        ("11-01..03-31", "1990-03-31", "1990-11-01", "1991-03-31"),
        ("01-01..12-31", "1990-12-31", "1991-01-01", "1991-12-31"),
    ],
)
def test_the_reported_season_is_the_next_that_has_not_ended(season: str, t0: str, first: str, last: str) -> None:
    assert Season.parse(season).after(day(t0)) == Period(day(first), day(last))


@pytest.mark.parametrize(
    ("snow", "t0", "season"),
    [
        (0.5, "1990-10-01", "04-01..07-31"),
        (0.49, "1990-01-31", "02-01..04-30"),
        (None, "1990-02-10", "02-01..04-30"),
        (None, "1991-11-30", "12-01..02-28"),
        (0.0, "1990-10-15", "10-01..12-31"),
    ],
)
def test_snowy_basins_report_the_melt_season_and_others_three_months(snow: float | None, t0: str, season: str) -> None:
    assert str(default_season(snow, day(t0))) == season


def test_the_volume_of_a_path_is_what_its_days_discharge() -> None:
    """One member whose flow is known as m3/s: the sum of its days' seconds."""
    area = Area("given", 2.5e9)
    path = np.random.default_rng(0).gamma(2.0, 1.0, (1, 1, 40))
    seconds = (mm_per_day_to_m3s(path[0, 0, 3:33], area=area) * 86_400).sum()
    depths = exceeded(path, slice(3, 33))
    np.testing.assert_allclose(depths, path[0, 0, 3:33].sum())
    np.testing.assert_allclose(million_m3(depths, area), seconds / 1e6)


def test_volumes_fall_with_their_chance_and_none_is_negative() -> None:
    paths = np.random.default_rng(1).gamma(0.3, 2.0, (10, 28, 90))
    depths = exceeded(paths, slice(0, 90))
    assert len(depths) == len(EXCEEDED_PERCENT)
    assert (np.diff(depths) <= 0).all()
    assert (depths >= 0).all()
    sums = paths.sum(axis=-1).ravel()
    np.testing.assert_allclose([(sums > depth).mean() for depth in depths], np.array(EXCEEDED_PERCENT) / 100, atol=0.01)


def test_members_count_by_their_weights_with_all_their_traces() -> None:
    paths = np.random.default_rng(1).gamma(2.0, size=(2, 40, 9))
    weighted = exceeded(paths, slice(0, 9), np.array([0.999, 0.001]))
    np.testing.assert_allclose(weighted, exceeded(paths[:1], slice(0, 9)), rtol=0.05)
    np.testing.assert_allclose(exceeded(paths, slice(0, 9), np.array([0.5, 0.5])), exceeded(paths, slice(0, 9)))


def test_days_that_were_not_observed_are_named_and_not_guessed() -> None:
    period = Period(day("1990-04-01"), day("1990-04-04"))
    seen = Observed.of(period, np.array([1.0, np.nan, 3.0, np.nan]))
    assert seen.depth == 4.0
    assert [str(missing) for missing in seen.missing] == ["1990-04-02", "1990-04-04"]


def test_the_normal_is_of_the_other_years_that_were_observed_whole() -> None:
    years = RECORD.days.astype("datetime64[Y]").astype(int) + 1970
    flow = (years - 1979).astype(float)
    flow[RECORD.days == day("1983-05-05")] = np.nan
    shown = MELT.beginning_in(1990)
    found = normal(flow, RECORD, MELT, shown)
    assert isinstance(found, Normal)
    assert found.years == tuple(year for year in range(1980, 2000) if year not in (1983, 1990))
    depths = [122.0 * (year - 1979) for year in found.years]
    assert (found.mean, found.median) == pytest.approx((np.mean(depths), np.median(depths)))


def test_few_years_have_no_normal() -> None:
    record = Period(day("1990-01-01"), day("1999-12-31"))
    found = normal(np.ones(len(record)), record, MELT, MELT.beginning_in(1999))
    assert str(found) == f"04-01..07-31 was observed whole in 9 other years, and a normal takes {MIN_YEARS} of them."


def test_a_season_over_the_turn_of_the_year_is_of_the_year_that_it_begins_in() -> None:
    flow = np.ones(len(RECORD))
    found = normal(flow, RECORD, Season.parse("11-01..03-31"), Period(day("1985-11-01"), day("1986-03-31")))
    assert isinstance(found, Normal)
    assert found.years == tuple(year for year in range(1980, 1999) if year != 1985)
    assert found.mean == pytest.approx(151, abs=0.5)
