"""Weather that is the mean of several products: derived once, and again with every change of one of them."""

import numpy as np
import pytest

from hydrology.base.calendar import Period, day
from hydrology.base.series import DailySeries, Flag
from ingestion.base import BasinData, SourceFile, SourceSeries
from operations.basin_data.ingest import IngestResult, store
from operations.weather.fuse import NothingToFuse, fuse
from records.basins import basins
from records.database.engine import Database
from records.feeds.feeds import ProductConflict
from records.series import series
from testing.country import BASINS, CLOCK
from testing.work import work_of

ONE = BASINS[0]
LIVE, OTHER, BOTH = "synthetic", "other", "both"
DAYS = Period.parse("2003-01-01..2003-01-10")
FILE = SourceFile("other.csv", "1" * 64, 1)


def rain_of(database: Database, product: str, days: Period = DAYS) -> DailySeries:
    with database.reading() as session:
        found = series.read(session, ONE, product, "precipitation", days)
    assert found is not None
    return found


def bring(database: Database, values: np.ndarray, first: str = str(DAYS.first), basin: str = ONE) -> IngestResult:
    rain = DailySeries(day(first), values.astype(np.float32), np.zeros(len(values), np.uint8), "mm/day")
    data = BasinData(basin=basin, areas={OTHER: 2e8}, series=(SourceSeries(OTHER, "precipitation", rain, FILE),))
    with database.transaction() as session:
        return store(session, data, CLOCK)


@pytest.fixture
def fused(trained_store: Database) -> Database:
    bring(trained_store, np.full(len(DAYS), 8.0))
    fuse(work_of(trained_store, CLOCK), BOTH, [LIVE, OTHER])
    return trained_store


def test_it_is_the_mean_where_both_are_known_and_filled_elsewhere(fused: Database) -> None:
    live, both = rain_of(fused, LIVE), rain_of(fused, BOTH)
    np.testing.assert_allclose(both.values, (live.values + 8) / 2, rtol=1e-6)
    assert not (both.flags & Flag.FILLED).any()
    year = Period.parse("2002-01-01..2002-12-31")
    np.testing.assert_array_equal(rain_of(fused, BOTH, year).values, rain_of(fused, LIVE, year).values)
    assert (rain_of(fused, BOTH, year).flags & Flag.FILLED != 0).all()


def test_a_basin_without_one_of_the_products_has_no_mean_until_its_first_day_comes(fused: Database) -> None:
    other = BASINS[1]
    with fused.reading() as session:
        assert series.basins_with(session, BASINS, BOTH, ["precipitation"]) == {ONE}
    bring(fused, np.full(1, 4.0), basin=other)
    with fused.reading() as session:
        live, both = (series.read(session, other, product, "precipitation") for product in (LIVE, BOTH))
    assert live is not None
    assert both is not None
    assert both.period == live.period
    filled = both.flags & Flag.FILLED != 0
    assert list(both.period.days[~filled]) == [DAYS.first]


def test_its_area_is_that_of_its_first_product(fused: Database) -> None:
    with fused.reading() as session:
        areas = basins.get(session, ONE).areas
    assert areas[BOTH] == areas[LIVE] != areas[OTHER]


def test_what_comes_later_is_fused_in_the_same_transaction(fused: Database) -> None:
    outcome = bring(fused, np.array([4.0, 2.0]), "2003-01-10")
    assert (outcome.new_days, outcome.changed_days) == (1, 1 + 2)  # of the product; and both days of the mean
    days = Period.parse("2003-01-10..2003-01-11")
    both = rain_of(fused, BOTH, days)
    np.testing.assert_allclose(both.values, (rain_of(fused, LIVE, days).values + np.array([4.0, 2.0])) / 2, rtol=1e-6)
    assert not (both.flags & Flag.FILLED).any()


def test_derived_again_nothing_is_stored(fused: Database) -> None:
    _, outcomes = fuse(work_of(fused, CLOCK), BOTH, [LIVE, OTHER])
    assert [(one.basin, one.status) for one in outcomes] == [(ONE, "unchanged")]


def test_the_parts_of_a_product_never_change(fused: Database) -> None:
    work = work_of(fused, CLOCK)
    with pytest.raises(ProductConflict, match="is the mean of synthetic and other"):
        fuse(work, BOTH, [OTHER, LIVE])
    with pytest.raises(ProductConflict, match="holds data of another origin"):
        fuse(work, OTHER, [LIVE, "third"])
    with pytest.raises(ProductConflict, match="both is itself a mean"):
        fuse(work, "further", [LIVE, BOTH])


def test_nothing_is_defined_without_weather(trained_store: Database) -> None:
    work = work_of(trained_store, CLOCK)
    with pytest.raises(NothingToFuse, match="No basin has weather of synthetic and two"):
        fuse(work, BOTH, [LIVE, "two"])
    bring(trained_store, np.full(1, 4.0))
    fuse(work, BOTH, [LIVE, OTHER])  # the name is still free
