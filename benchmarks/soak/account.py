"""The account of every answer and of every accepted job."""

import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select

from benchmarks.soak.clients import Answer
from records.database.engine import Database
from records.jobs import jobs
from records.runs.run_types import RUNS

MAKE_A_RUN = ("forecast", "what-if")
PATIENCE = 300.0  # seconds that the jobs have to end after the last was posted


def of_answers(answers: Sequence[Answer], windows: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Return the answers of each route by the class of their status, and which failed while no fault was under way.

    Args:
        windows: from when to when a fault was under way each time.
    """
    routes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for answer in answers:
        routes[answer.route][answer.in_words] += 1
    failed = [answer for answer in answers if answer.is_failure]
    unexplained = [each for each in failed if not any(each.started <= b and each.ended >= a for a, b in windows)]
    first = answers[0].started
    return {
        "all": len(answers),
        **Counter(answer.in_words for answer in answers),
        "failed_under_a_fault": len(failed) - len(unexplained),
        "failed_without_a_fault": [
            {"route": each.route, "status": each.status, "second": round(each.started - first, 1)}
            for each in unexplained
        ],
        "refused": sorted({f"{each.route}: {each.status}" for each in answers if each.in_words == "4xx"}),
        "routes": {route: dict(of_route) for route, of_route in sorted(routes.items())},
    }


def of_jobs(database: Database, accepted: Mapping[str, str]) -> dict[str, Any]:
    """Return how the accepted jobs ended, when they have: which of them were lost, and which were done twice."""
    _await_end(database, accepted)
    with database.reading() as session:
        stored = {job: jobs.get(session, job) for job in accepted}
        runs = Counter(session.scalars(select(RUNS.c.request_key)).all())
    ends: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for job, what in accepted.items():
        ends[what][stored[job].status] += 1
    created = {job: runs[job] for job, what in accepted.items() if what in MAKE_A_RUN}
    return {
        "accepted": len(accepted),
        "ends": {what: dict(of_kind) for what, of_kind in sorted(ends.items())},
        "attempts": dict(sorted(Counter(job.attempt for job in stored.values()).items())),
        "problems": dict(Counter(f"{job.kind}: {job.problem}" for job in stored.values() if job.status == "failed")),
        "lost": sum(job.status != "succeeded" for job in stored.values())
        + sum(not number for number in created.values()),
        "doubled": sum(number > 1 for number in created.values()),
    }


def _await_end(database: Database, accepted: Mapping[str, str]) -> None:
    end, open_jobs = time.monotonic() + PATIENCE, set(accepted)
    while open_jobs and time.monotonic() < end:
        with database.reading() as session:
            open_jobs -= {job for job in open_jobs if jobs.get(session, job).status in jobs.ENDED}
        time.sleep(0.5)
