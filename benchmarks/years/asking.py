"""What is asked of a store that its years could make slow, and how long each takes: CPU seconds of this process."""

import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fastapi import Request

from app.exports.answers import Responder
from app.exports.formats import JSON
from app.forecasts.discharge import Representation
from app.forecasts.endpoints import read_latest_forecast, read_latest_forecasts
from app.forecasts.run_schemas import summaries
from app.http.conditional import ResponseCache
from app.http.limits.costs import Budget
from app.jobs.posting import job_answer
from app.outlooks.today import AllBasins
from app.service.status import read_status
from benchmarks.speed.warm_forecast import CLOCK
from benchmarks.years.store import Store
from records.access.keys import Key
from records.jobs import jobs
from records.runs.runs import list_runs

PAGE = 100
ROUNDS, ROUNDS_OF_ALL = 200, 9
KEY = Key("0" * 22, "a benchmark", "admin", CLOCK.now(), None, None)

Question = Callable[[Store], object]


def _latest(store: Store, rendered: ResponseCache | None = None) -> object:
    with store.database.reading() as session:
        at, answer = CLOCK.now(), Responder(session, JSON)
        return read_latest_forecast(
            session, rendered or ResponseCache(), answer, store.names[0], Representation("m3/s", False, at), at
        )


def _latest_of_all(store: Store, rendered: ResponseCache | None = None) -> object:
    with store.database.reading() as session:
        at, answer = CLOCK.now(), Responder(session, JSON)
        return read_latest_forecasts(
            session,
            rendered or ResponseCache(),
            answer,
            store.names,
            Representation("m3/s", False, at),
            at,
            budget=_Unlimited(Request({"type": "http"})),
        )


class _Unlimited(Budget):
    """What a request may ask for without a rate limit."""

    def charge(self, values: int) -> None:
        """Charge nothing."""


def _again(ask: Callable[[Store, ResponseCache], object]) -> Question:
    """Return the same question, asked of a service that has answered it before."""
    rendered: defaultdict[Path, ResponseCache] = defaultdict(ResponseCache)
    return lambda store: ask(store, rendered[store.file])


def _status(store: Store) -> object:
    with store.database.reading() as session:
        return read_status(session, store.database, AllBasins(store.database), CLOCK, store.settings)


def _jobs(store: Store) -> object:
    with store.database.reading() as session:
        return [job_answer(job, KEY) for job in jobs.list_jobs(session, limit=PAGE)]


def _runs(store: Store) -> object:
    with store.database.reading() as session:
        return summaries(list_runs(session, available_by=CLOCK.now(), limit=PAGE))


QUESTIONS: Mapping[str, tuple[Question, int]] = {
    "latest": (_latest, ROUNDS),
    "latest_again": (_again(_latest), ROUNDS),
    "latest_of_all": (_latest_of_all, ROUNDS_OF_ALL),
    "latest_of_all_again": (_again(_latest_of_all), ROUNDS_OF_ALL),
    "status": (_status, ROUNDS_OF_ALL),
    "jobs": (_jobs, ROUNDS_OF_ALL),
    "runs": (_runs, ROUNDS_OF_ALL),
}
"""What is asked, and how often."""


def answered(years: Store, day: Store) -> dict[str, dict[str, Any]]:
    """Return how long each question takes in a store of years and in one of a day, asked in turn, and the ratio."""
    return {name: _compared(question, rounds, years, day) for name, (question, rounds) in QUESTIONS.items()}


def seconds(work: Callable[[], object]) -> float:
    """Return the CPU seconds that some work takes."""
    started = time.process_time()
    work()
    return time.process_time() - started


def _compared(question: Question, rounds: int, years: Store, day: Store) -> dict[str, Any]:
    for store in (years, day):
        question(store)
    pairs = [(seconds(lambda: question(years)), seconds(lambda: question(day))) for _ in range(rounds)]
    of_years, of_day = zip(*pairs, strict=True)
    ratios = [long / short for long, short in pairs]
    return {
        "seconds": statistics.median(of_years),
        "seconds_after_a_day": statistics.median(of_day),
        "ratio": statistics.median(ratios),
        "quartiles": statistics.quantiles(ratios, n=4)[::2],
    }
