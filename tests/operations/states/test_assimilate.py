"""Assimilated flow changes the water at T0, and the ledger books what it changes."""

import numpy as np
import numpy.typing as npt
import pytest

from hydrology.base.calendar import Period, day
from jobspec.jobs.forecasting import ForecastParams
from models.ensemble import ArrayMap, Ensemble
from operations.basin_data.dataset import BasinForcing, load_forcing
from operations.forecasting.forecast import forecast
from operations.forecasting.plans import NothingToForecast
from operations.states.changed_states import WINDOW_DAYS, increments
from operations.versions.load_networks import LoadedVersion, load_version
from records.database.engine import Database
from records.runs import run_arrays
from records.runs.runs import RunRequest
from records.versions import versions
from testing.country import BASINS, CLOCK
from testing.work import work_of
from tests.operations.conftest import Copies
from tests.operations.what_if.test_what_if import ask, base_of, hashes, reported, terms

WINDOW = Period(day("2004-03-01"), day("2004-03-10"))
T0 = "2004-03-10"


@pytest.fixture
def loaded(trained_store: Database) -> LoadedVersion:
    with trained_store.reading() as session:
        return load_version(session, versions.newest(session).id)


def computed(
    trained_store: Database, ensemble: Ensemble
) -> tuple[BasinForcing, list[ArrayMap], npt.NDArray[np.floating]]:
    """Return a basin's record, the states before the window, and each member's discharge in it."""
    with trained_store.reading() as session:
        record = load_forcing(session, BASINS[0], ensemble.config)
    assert isinstance(record, BasinForcing)
    forcing = record.forcing
    _, before = ensemble.simulate(forcing.over(Period(forcing.first, WINDOW.first - 1)), None, ("discharge",))
    outputs, _ = ensemble.simulate(forcing.over(WINDOW), before, ("discharge",))
    return record, before, outputs["discharge"][:, 0]


def test_flow_as_computed_asks_for_no_change(trained_store: Database, loaded: LoadedVersion) -> None:
    record, before, discharge = computed(trained_store, loaded.ensemble)
    window = record.forcing.over(WINDOW)
    for member in range(len(discharge)):
        changes = increments(loaded.ensemble, window, before, discharge[member : member + 1].astype(float), 1.0)
        assert not changes[member][1].any()


@pytest.mark.parametrize("share", [0.2, 5.0])
def test_more_flow_asks_for_more_water_and_less_for_less(
    trained_store: Database, loaded: LoadedVersion, share: float
) -> None:
    record, before, discharge = computed(trained_store, loaded.ensemble)
    for member in range(len(discharge)):
        observed = share * discharge[member : member + 1].astype(float)
        state, change = increments(loaded.ensemble, record.forcing.over(WINDOW), before, observed, 1.0)[member]
        assert np.sign(change.sum()) == np.sign(share - 1)
        assert (state["c"] + change >= 0).all()


def test_the_ledger_books_what_each_member_gets(trained_store: Database) -> None:
    run = ask(trained_store, {"assimilate": True})
    (series, ledgers), (base, of_base) = reported(trained_store, run.id), reported(trained_store, base_of(run))
    booked = (series["cells_at_t0"].values - base["cells_at_t0"].values.astype(np.float64)).sum(axis=1)
    assert (booked != 0).all()
    np.testing.assert_allclose(terms(ledgers, "assimilation"), booked, rtol=1e-5)
    assert terms(ledgers, "precipitation") == terms(of_base, "precipitation")
    assert all(ledger.closes for ledger in ledgers)
    assert not any("assimilation" in ledger.terms for ledger in of_base)


def test_an_increment_comes_beside_it(trained_store: Database) -> None:
    run = ask(trained_store, {"assimilate": True, "increment": {"mm": 10.0}}, weather="climatology")
    series, ledgers = reported(trained_store, run.id)
    assert terms(ledgers, "increment") == [10.0, 10.0]
    assert {"assimilation", "increment"} < set(series[run_arrays.LEDGER].axes["entry"])
    assert all(ledger.closes for ledger in ledgers)


def test_it_is_the_same_from_any_stored_state(trained_store: Database) -> None:
    first = ask(trained_store, {"assimilate": True})
    for t0 in ("2004-02-25", "2004-02-29"):
        forecast(
            work_of(trained_store, CLOCK), RunRequest(ForecastParams.model_validate({"basins": [BASINS[0]], "t0": t0}))
        )
    assert hashes(reported(trained_store, ask(trained_store, {"assimilate": True}).id)[0]) == hashes(
        reported(trained_store, first.id)[0]
    )


def test_a_record_that_begins_within_the_window_is_reported(trained_store: Database) -> None:
    with pytest.raises(NothingToForecast, match=f"begins on 2000-10-01, and {WINDOW_DAYS} days before T0 are needed"):
        ask(trained_store, {"assimilate": True}, t0="2000-10-08")


def test_a_network_whose_cells_hold_no_water_cannot(copies: Copies) -> None:
    database, version = copies("lstm")
    with pytest.raises(NothingToForecast, match="do not hold water"):
        ask(database, {"assimilate": True}, version=version)
