"""Observed discharge, as it is used to train, fit and verify."""

import numpy as np
import pytest

from hydrology.base.absent import Absent
from hydrology.base.calendar import Period
from hydrology.base.reasons import Reason
from operations.basin_data.dataset import load_discharge
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.series import series_writer
from testing.records import BASIN, NOW, a_source, daily


@pytest.mark.parametrize("second", [np.nan, 2.0])
def test_days_without_any_observed_value_have_no_discharge(database: Database, second: float) -> None:
    with database.transaction() as session:
        basins.upsert(session, Basin(BASIN, BASIN, 47.25, -68.5))
        flow = daily("2008-01-01", np.nan, second, 3.0, unit="mm/day")
        series_writer.write(session, BASIN, "usgs", "discharge", flow, a_source(session), NOW)
        found = load_discharge(session, BASIN, ["maurer"], Period.parse("2008-01-01..2008-01-02"))
    assert isinstance(found, Absent)
    reason = Reason.NO_DISCHARGE_OBSERVED if np.isnan(second) else Reason.NO_PRODUCT_AREA
    assert found.code == reason.name.lower()
