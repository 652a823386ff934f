"""Freshet after ten years of daily runs of 500 basins: 10 members, 31 traces x 10 days, once a month other years x 30.

Every issue day the product's own functions store states, a weather forecast, a run and the job that ran it, all of them
like those of real calibrated forecasts: their values times a factor that is drawn for each basin and day, which leaves
how they compress. What 500 basins would leave in ten years takes hours to make. So the 3 652 issue days are of a share
of the basins (`--basins`), and two are of all 500: that which today's prune takes, and today's. The tables of runs and
jobs then have their full length, and the latest forecasts of 500 basins are sought behind ten years of runs. What was
observed is stored for one basin and year. `whole_gb` is what grows with the basins, in the mean of a basin and day,
times 500 and the days, and what grows with the runs alone, once. The weather of the past that a basin begins with is
not in it.

The rules of retention are applied every MONTH of days, and at the end, which leaves the same as every day. `prune` is
of a day of all 500 basins. Times are CPU seconds of this process; ratios are medians of pairs taken in turn in this
store and in one that has seen today alone. `again` asks a service that has answered the same before.
"""

import tempfile
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.speed.warm_forecast import CLOCK
from benchmarks.years.asking import answered, seconds
from benchmarks.years.store import Store, opened
from records.upkeep.integrity import check, page_faults

BASINS, SHARE = 500, 2
DAYS = 3652
YEAR, MONTH = 365, 28
OF_RUNS = ("runs", "jobs", "job_events", "weather_issues", "pruned", "audit")
"""The tables that grow by rows a run, however many basins it is of."""


def measure(basins: int = SHARE) -> dict[str, Any]:
    """Return bytes and CPU seconds.

    Args:
        basins: the share of the basins whose every issue day is stored.
    """
    now = CLOCK.now()
    with tempfile.TemporaryDirectory() as folder:
        years = opened(Path(folder) / "years", BASINS)
        day = years.copied(Path(folder) / "day")
        day.issue_day(now, day.names)
        result = _sizes(years, now, basins)
        outlived = now - timedelta(days=years.settings.retain_members_days + 1)
        years.issue_day(outlived, years.names[basins:])
        years.issue_day(now, years.names)
        result |= {
            "answers": answered(years, day),
            "prune_seconds": seconds(lambda: years.prune(now)),
            "prune_of_nothing_seconds": seconds(lambda: years.prune(now)),
            "store_bytes": sum(years.sizes.values()),
            "doctor_seconds": seconds(lambda: page_faults(years.database, quick=True)),
            "check_seconds": seconds(lambda: check(years.database, now).require()),
        }
        for store in (years, day):
            store.database.close()
    return {"shape": f"{DAYS} issue days of {basins} basins, the last of {BASINS}", **result}


def _sizes(store: Store, now: datetime, basins: int) -> dict[str, Any]:
    """Let the years pass but for today; return what they leave."""
    issue_days = [now - timedelta(days=before) for before in range(DAYS - 1, 0, -1)]
    started = _total(store)
    for at in issue_days[:YEAR]:
        store.observe(at, store.names[-1])
    observed = (_total(store) - started) / YEAR
    before, by_year = store.sizes, []
    for number, at in enumerate(issue_days, start=1):
        store.issue_day(at, store.names[:basins])
        if number % MONTH == 0 or at is issue_days[-1]:
            store.prune(at)
        if number % YEAR == 0:
            by_year.append(_grown(store.sizes, before, of_runs=False) / basins)
    of_runs, of_basins = (_grown(store.sizes, before, of_runs=which) for which in (True, False))
    forecast = of_basins / basins / len(issue_days)
    return {
        "bytes_per_basin_day": {"observed": observed, "forecast": forecast},
        "bytes_per_basin_after_each_year": by_year,
        "bytes_of_runs_and_jobs": of_runs,
        "bytes_by_table": {name: size - before[name] for name, size in store.sizes.items() if size > before[name]},
        "whole_gb": ((observed + forecast) * BASINS * DAYS + of_runs) / 1e9,
    }


def _total(store: Store) -> int:
    return sum(store.sizes.values())


def _grown(sizes: Mapping[str, int], before: Mapping[str, int], *, of_runs: bool) -> int:
    """Return by how many bytes the tables of runs have grown, or all others."""
    return sum(size - before[name] for name, size in sizes.items() if (name in OF_RUNS) == of_runs)
