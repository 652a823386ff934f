"""A forecast from stored states beside running the year before T0 again: 447 basins x 10 members x 10 days.

`rerun_over_warm` is of the networks alone, in the service's own blocks: 365 days up to T0 from an empty store and the
10 days after it, over the 10 days from the stored states of T0. Each block of basins is a pair, taken in turn, its warm
time the mean of several, and the ratio is the median of the pairs. With no cost but that of the days it would be 37.5.

`stored_cpu_seconds` is of the whole forecast, from reading 29 years of forcing a basin to the committed run with its
basins, quantiles, members and ledgers in SQLite, with the states of T0 stored. `next_day_cpu_seconds` is of the same
where the newest states are of the day before: they are advanced by a day and stored too.

Synthetic basins, an untrained ensemble of the default network, one thread; CPU seconds of this process.
"""

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.speed.country import PERIOD, PRODUCT, SyntheticCountry
from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, Period
from hydrology.water.ledger import FLOWS
from hydrology.water.storage import SPIN_UP_DAYS
from ingestion.base import Source
from jobspec.jobs.forecasting import ForecastParams
from jobspec.network import MCLSTMConfig
from jobspec.training import Cosine, InputsConfig, TrainingConfig, WindowsConfig
from models.ensemble import GROUP, ArrayMap, Ensemble
from models.forcing import Forcing
from models.networks import build
from operations.basin_data.dataset import load_forcing, stacked
from operations.basin_data.ingest import ingest
from operations.forecasting.forecast import forecast
from operations.states.advance_states import member_states
from operations.versions.load_networks import load_version
from records.database.engine import Database
from records.runs import states
from records.runs.runs import RunRequest
from records.runs.tables import NewState
from runtime.clock import Clock
from testing.training import train
from testing.work import work_of

BASINS, MEMBERS, HORIZON, YEAR = 447, 10, 10, 365
ROUNDS, WARM_RUNS, SPIN_UP = 3, 5, 30
TRAINED_ON = 8  # basins: the weights stay nearly as they were drawn, and no speed depends on them

CLOCK = Clock()


def measure() -> dict[str, Any]:
    """Return the ratio of the networks' time, and the CPU seconds of forecasts with everything stored."""
    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{folder}/freshet.sqlite")
        database.migrate()
        country = SyntheticCountry(BASINS)
        names = country.basins()
        begin = PERIOD.last - HORIZON - ROUNDS
        version = prepare(database, country, PRODUCT, begin)
        whole: dict[str, list[float]] = {"next_day": [], "stored": []}
        for days in range(1, ROUNDS + 1):
            for found in whole.values():  # the first stores the states that the second finds
                found.append(cpu_seconds(partial(_issue, database, version, names, begin + days)))
        blocks = list(_blocks(database, version, names, begin + ROUNDS))
        database.close()
    return {
        "shape": f"{BASINS} basins x {MEMBERS} members x {HORIZON} days, {MCLSTMConfig().cells} cells, 1 thread",
        **{f"{name}_cpu_seconds": statistics.median(found) for name, found in whole.items()},
        **_computing(blocks),
    }


def prepare(database: Database, country: Source, product: str, day: Day) -> str:
    """Store the basins, a version of a product and every basin's states of a day, and return the version."""
    ingest(work_of(database, CLOCK), country)
    return add_version(database, country.basins(), day, inputs=InputsConfig(product=product), members=MEMBERS)


def add_version(database: Database, names: list[str], day: Day, **settings: Any) -> str:
    """Store a version that is trained for a step, and every basin's states of a day, and return the version.

    Args:
        settings: of its training.
    """
    config = TrainingConfig(
        train_period=Period.parse("2000-10-01..2001-09-30"),
        windows=WindowsConfig(spinup_days=10, loss_days=10, batch=4),
        schedule=Cosine(steps=1),
        **settings,
    )
    version = train(work_of(database, CLOCK), config, names[:TRAINED_ON]).version_id
    state = build(config.network, config.inputs, seed=0).empty_state(1)
    empty = {name: np.repeat(values.numpy(), config.members, axis=0) for name, values in state.items()}
    with database.transaction() as session:
        for name in names:  # a chain that begins a month ago: from the record's first day it would take an hour
            new = NewState(
                version_id=version,
                basin_id=name,
                day=day - SPIN_UP,
                product=config.inputs.product,
                arrays=empty,
                inputs_hash="",
                spin_up_days=SPIN_UP_DAYS + 1,
                sums=dict.fromkeys(FLOWS, np.zeros(config.members)),
            )
            states.put(session, [new], CLOCK.wall())
    _issue(database, version, names, day)
    return version


def _issue(database: Database, version: str, names: list[str], t0: Day) -> None:
    (run,) = forecast(
        work_of(database, CLOCK),
        RunRequest(ForecastParams(basins=list(names), horizon=HORIZON, t0=t0, version=version)),
    )
    if run.status != "issued":
        raise SystemExit(f"Only {run.status}: {run.reason}")


@dataclass(frozen=True, slots=True)
class _Block:
    """Some basins, as many as the service computes at a time, from a year before T0 to the end of the horizon."""

    ensemble: Ensemble
    forcing: Forcing
    stored: list[ArrayMap] | None
    year: Period
    ahead: Period

    def warm(self) -> None:
        """Run the days after T0 from the stored states."""
        self._look_ahead(self.stored)

    def rerun(self) -> None:
        """Run the year before them too, from an empty store."""
        _, last = self.ensemble.simulate(self.forcing.over(self.year), None, ("discharge", "loss"))
        self._look_ahead(last)

    def _look_ahead(self, start: list[ArrayMap] | None) -> None:
        self.ensemble.simulate(self.forcing.over(self.ahead), start, ("discharge", "loss", "storage"))


def _blocks(database: Database, version: str, names: list[str], t0: Day) -> Iterator[_Block]:
    year, ahead = Period(t0 - YEAR + 1, t0), Period(t0 + 1, t0 + HORIZON)
    with database.reading() as session:
        loaded = load_version(session, version)
        for first in range(0, len(names), GROUP):
            forcings, stored = [], []
            for name in names[first : first + GROUP]:
                found = load_forcing(session, name, loaded.config)
                assert not isinstance(found, Absent)
                forcings.append(found.forcing.over(Period(year.first, ahead.last)))
                stored.append(states.get(session, version, name, t0))
            start = member_states(stored, MEMBERS)
            yield _Block(loaded.ensemble, stacked(forcings), start, year, ahead)


def _computing(blocks: list[_Block]) -> dict[str, Any]:
    blocks[0].warm()
    warm, rerun = zip(
        *((cpu_seconds(block.warm, WARM_RUNS), cpu_seconds(block.rerun)) for block in blocks), strict=True
    )
    paired = [long / short for short, long in zip(warm, rerun, strict=True)]
    return {
        "computing_cpu_seconds": {"warm": sum(warm), "rerun": sum(rerun)},
        "ratios": {"rerun_over_warm": statistics.median(paired)},
        "spread": {"rerun_over_warm": [min(paired), max(paired)], "pairs": len(paired)},
    }


def cpu_seconds(work: Callable[[], object], runs: int = 1) -> float:
    """Return the CPU seconds of some work, the mean of a number of runs."""
    started = time.process_time()
    for _ in range(runs):
        work()
    return (time.process_time() - started) / runs
