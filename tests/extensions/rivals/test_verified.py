"""A rival's forecasts are judged beside the own ones of the same days, by the same code, and never mixed into them."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
import xarray as xr
from HydroErr import nse
from scores.continuous import mae

from extensions.rivals.comparison import RivalScore, compare
from extensions.rivals.reading import RivalFlows
from extensions.rivals.section import drawn
from extensions.rivals.storing import add
from hydrology.base.absent import Absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem, InvalidInput
from hydrology.base.units import area_by, mm_per_day_to_m3s
from hydrology.verification.forecasts import CALIBRATED, beside_rival, of_rival
from operations.basin_data.dataset import load_discharge
from operations.verification.verify_issued import verify
from records.basins import basins
from records.database.engine import Database
from records.forecasts import latest
from records.verification import lead_scores, rivals
from records.versions import versions
from runtime.clock import Clock
from testing.country import BASINS
from testing.work import work_of
from tests.app.conftest import serving
from tests.operations.forecasting.test_past_forecasts import ISSUE_DAYS, SETTLED, WEATHER, lived, lived_file

pytestmark = pytest.mark.extended

__all__ = ["lived", "lived_file"]

LEADS = 4
ISSUED = ISSUE_DAYS.days[3:33] + 2
"""The days on which the rival issues: some of those on which the service does, two days after its T0."""
FIRST_LEAD = 2
"""The own lead of the day of the issue."""
RIVAL = "nwm"


def observed(store: Database, basin: str) -> Array:
    """Return the flow of the rival's days, (issues, leads), mm/day."""
    with store.reading() as session:
        version = versions.newest(session)
        flow = load_discharge(session, basin, version.area_products, Period(ISSUED[0], ISSUED[-1] + LEADS - 1))
    assert not isinstance(flow, Absent)
    return np.lib.stride_tricks.sliding_window_view(flow.astype(float), LEADS)


def forecasts(store: Database) -> dict[str, Array]:
    """Return what a rival has with errors that grow with the lead, (issues, leads), mm/day."""
    random = np.random.default_rng(4)
    errors = random.lognormal(0.02, 0.05 * np.arange(1, LEADS + 1), (len(BASINS), len(ISSUED), LEADS))
    return {basin: observed(store, basin) * errors[at] for at, basin in enumerate(BASINS)}


def added(store: Database) -> dict[str, Array]:
    every = forecasts(store)
    with store.reading() as session:
        products = versions.newest(session).area_products
        areas = {basin: area_by(basins.get(session, basin).areas, products) for basin in BASINS}
    flows = {
        (basin, issued): mm_per_day_to_m3s(flow[None], area=area).astype(np.float32)
        for basin, of_basin in every.items()
        if (area := areas[basin]) is not None
        for issued, flow in zip(ISSUED, of_basin, strict=True)
    }
    add(work_of(store, SETTLED), RIVAL, "A rival of this test.", RivalFlows("forecasts", 1, flows))
    return every


def compared(store: Database) -> list[RivalScore]:
    with store.reading() as session:
        version = versions.newest(session).id
    verify(work_of(store, SETTLED), version)
    with store.reading() as session:
        return [*compare(session, version, [RIVAL])]


def test_its_scores_are_those_of_independent_libraries(lived: Database) -> None:
    every = added(lived)
    compared(lived)
    for basin, flow in every.items():
        with lived.reading() as session:
            rows = lead_scores.of_basin(session, versions.newest(session).id, basin)
        came = observed(lived, basin)
        of_rivals = {row.lead: row for row in rows if row.forecaster == of_rival(RIVAL) and row.weather == WEATHER}
        assert set(of_rivals) == set(range(FIRST_LEAD, FIRST_LEAD + LEADS))
        for lead, row in of_rivals.items():
            theirs, seen = flow[:, lead - FIRST_LEAD].astype(np.float32), came[:, lead - FIRST_LEAD]
            assert row.scores.n == len(ISSUED)
            expected = float(mae(xr.DataArray(theirs), xr.DataArray(seen)))
            assert row.scores.crps_mm_per_day == pytest.approx(expected, rel=1e-5)
            assert row.scores.nse_of_median == pytest.approx(nse(theirs, seen), rel=1e-5)
            assert row.scores.coverage_90 is None


def test_the_own_forecasts_are_judged_on_its_days_alone(lived: Database) -> None:
    added(lived)
    found = [one for one in compared(lived) if one.weather == WEATHER and one.metric == "crps_mm_per_day"]
    assert [one.lead for one in found] == list(range(FIRST_LEAD, FIRST_LEAD + LEADS))
    with lived.reading() as session:
        version = versions.newest(session).id
        rows = lead_scores.of_forecasters(session, version, [of_rival(RIVAL), beside_rival(RIVAL), CALIBRATED])
    by_key = {(row.forecaster, row.basin_id, row.lead): row.scores for row in rows if row.weather == WEATHER}
    for one in found:
        theirs, own = (
            [by_key[name, basin, one.lead].crps_mm_per_day or 0.0 for basin in BASINS]
            for name in (of_rival(RIVAL), beside_rival(RIVAL))
        )
        differences = np.array(theirs, float) - np.array(own, float)
        assert one.forecasts == len(ISSUED) * len(BASINS)
        assert (one.theirs.median, one.own.median) == (np.median(theirs), np.median(own))
        assert one.difference.median == np.median(differences)
        assert (one.difference.better, one.difference.worse) == ((differences < 0).sum(), (differences > 0).sum())
        assert one.difference.p is None  # of three basins no p can be small
        own_n = {by_key[beside_rival(RIVAL), basin, one.lead].n for basin in BASINS}
        assert own_n == {len(ISSUED)}
        assert by_key[CALIBRATED, BASINS[0], one.lead].n == len(ISSUE_DAYS)


def test_it_changes_no_forecast(lived: Database) -> None:
    with lived.reading() as session:
        before = [latest.latest(session, basin, SETTLED.now()).basin.summary for basin in BASINS]
    added(lived)
    compared(lived)
    with lived.reading() as session:
        assert [latest.latest(session, basin, SETTLED.now()).basin.summary for basin in BASINS] == before


def test_its_newest_file_dates_it(lived: Database) -> None:
    added(lived)
    with lived.reading() as session:
        first = rivals.get(session, RIVAL).added_at
    later = Clock(SETTLED.now() + timedelta(days=1))
    flows = {(BASINS[0], ISSUED[0]): np.ones((1, LEADS), np.float32)}
    add(work_of(lived, later), RIVAL, "A rival of this test.", RivalFlows("forecasts", 1, flows))
    with lived.reading() as session:
        assert rivals.get(session, RIVAL).added_at > first
        after = rivals.flows_of(session, RIVAL, BASINS[0], list(ISSUED))
    assert len(after) == len(ISSUED)
    np.testing.assert_array_equal(after[ISSUED[0]], flows[BASINS[0], ISSUED[0]])


def test_once_removed_it_is_verified_no_more(lived: Database) -> None:
    added(lived)
    assert compared(lived)
    with lived.transaction() as session:
        rivals.remove(session, RIVAL)
    assert compared(lived) == []


def test_another_kind_under_its_name_and_basins_not_stored_are_refused(lived: Database) -> None:
    added(lived)
    flow = np.ones((1, 3), np.float32)
    simulated = RivalFlows("simulation", 1, {(BASINS[0], ISSUED[0]): flow})
    with pytest.raises(InvalidInput, match="give them another name"):
        add(work_of(lived, SETTLED), RIVAL, "Another.", simulated)
    with pytest.raises(DataProblem, match="No basin of rival other is stored here"):
        add(
            work_of(lived, SETTLED),
            "other",
            "Another.",
            RivalFlows("forecasts", 1, {("USGS-99999999", ISSUED[0]): flow}),
        )
    done = add(
        work_of(lived, SETTLED),
        "other",
        "Another.",
        RivalFlows("forecasts", 1, {**simulated.flows, ("USGS-99999999", ISSUED[0]): flow}),
    )
    assert (done.basins, set(done.left_out)) == (1, {"USGS-99999999"})


def test_its_flows_are_drawn_beside_a_forecast_of_the_same_day_on_request(lived: Database) -> None:
    every = added(lived)
    with lived.reading() as session:
        shown = latest.latest(session, BASINS[0], SETTLED.now())
        found = drawn(session, shown, "mm/day")
        assert drawn(session, replace(shown, run=replace(shown.run, issued_at=SETTLED.now())), "mm/day") == {}
    assert list(found) == [RIVAL]
    assert [str(day) for day in found[RIVAL]] == [str(ISSUED[-1] + ahead) for ahead in range(LEADS)]
    assert list(found[RIVAL].values()) == pytest.approx(every[BASINS[0]][-1].tolist(), rel=1e-5)
    with serving(lived.url, SETTLED.now()) as client:
        pages = [client.get(f"/basins/{BASINS[0]}", params=asked).text for asked in ({}, {"drawn": "rivals"})]
    assert ['value="rivals" checked' in page for page in pages] == [False, True]
    assert [f'"label": "{RIVAL}"' in page or f'"label":"{RIVAL}"' in page for page in pages] == [False, True]
