"""What is normal on a day is what other years had around the same day of theirs."""

from collections.abc import Iterator
from datetime import date, timedelta

import numpy as np
import numpy.typing as npt
import pytest

from hydrology.base.calendar import Period, as_date, day
from hydrology.climatology.normals import LEVELS, MIN_DAYS, MIN_YEARS, normal_means, normals

RECORD = Period.parse("1979-12-20..2005-02-03")
FLOW = np.random.default_rng(4).gamma(0.5, 10, len(RECORD)).astype(np.float32)
GAPS = np.where(np.random.default_rng(5).random(len(RECORD)) < 0.3, np.nan, FLOW).astype(np.float32)
GAPS[4000:4200] = np.nan


def windows(values: npt.NDArray[np.float32], at: date) -> Iterator[list[float]]:
    """Yield the values of each other year within a week of a day, written out with dates."""
    of_days = dict(zip([as_date(one) for one in RECORD.days], values.tolist(), strict=True))
    for year in range(as_date(RECORD.first).year, as_date(RECORD.last).year + 1):
        leap = year % 4 == 0  # as every fourth year of the record is
        centre = date(year, 3, 1) if (at.month, at.day) == (2, 29) and not leap else at.replace(year=year)
        around = [of_days.get(centre + timedelta(days), np.nan) for days in range(-7, 8)]
        known = [value for value in around if np.isfinite(value)]
        if year != at.year and len(known) >= MIN_DAYS:
            yield known


@pytest.mark.parametrize("values", [FLOW, GAPS])
@pytest.mark.parametrize("at", ["1990-07-14", "1991-01-02", "2000-02-29", "2001-02-28", "1980-12-31", "2030-03-01"])
def test_normals_are_those_of_other_years_windows(values: npt.NDArray[np.float32], at: str) -> None:
    other_years = list(windows(values, date.fromisoformat(at)))
    together = np.concatenate(other_years)
    of_day = normals(values, RECORD, np.array([day(at)]))
    assert of_day.years.tolist() == [len(other_years)]
    assert of_day.mean[0] == pytest.approx(together.mean())
    np.testing.assert_allclose(of_day.quantiles[:, 0], np.quantile(together, LEVELS), rtol=1e-6)


def test_a_day_does_not_enter_its_own_normal() -> None:
    at = int((day("1990-07-14") - RECORD.first).astype(int))
    wet = FLOW.copy()
    wet[at - 7 : at + 8] = 1e6
    days = np.array([day("1990-07-14"), day("1991-07-14")])
    before, after = normals(FLOW, RECORD, days).mean, normals(wet, RECORD, days).mean
    assert after[0] == before[0]
    assert after[1] > 1000 * before[1]


def test_a_year_counts_with_more_than_half_of_its_days() -> None:
    days = Period.parse("2001-01-01..2012-12-31")
    june = np.full(len(days), np.nan)
    for year in range(2001, 2012):
        first = int((day(f"{year}-06-08") - days.first).astype(int))
        june[first : first + (8 if year < 2011 else 7)] = year
    of_june = normals(june, days, np.array([day("2012-06-15"), day("2001-06-15")]))
    assert of_june.years.tolist() == [MIN_YEARS, MIN_YEARS - 1]
    assert of_june.mean[0] == np.mean(range(2001, 2011))
    assert np.isnan(of_june.mean[1])
    assert np.isnan(of_june.quantiles[:, 1]).all()
    assert np.isfinite(of_june.quantiles[:, 0]).all()


def test_a_record_without_values_has_no_normal() -> None:
    of_days = normals(np.full(len(RECORD), np.nan), RECORD, RECORD.days[:3])
    assert of_days.years.tolist() == [0, 0, 0]
    assert np.isnan(of_days.mean).all()


def test_many_records_at_once_have_the_means_of_each() -> None:
    days = Period.parse("2004-12-20..2005-01-10").days
    together = normal_means(np.stack([FLOW, GAPS, np.full_like(FLOW, np.nan)]), RECORD, days)
    for values, means in zip((FLOW, GAPS), together, strict=False):
        np.testing.assert_array_equal(means, normals(values, RECORD, days).mean)
    assert np.isnan(together[2]).all()
