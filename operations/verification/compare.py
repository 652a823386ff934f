"""Compares versions with each other and with published scores, on the same basins and days.

The scores of each version's ensemble mean are compared, evaluated anew from the stored data. A day that one of the
networks skips is scored for none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import structlog
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, first_texts
from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem, InvalidInput
from operations.basin_data.basins import chosen
from operations.basin_data.dataset import skipped_days
from operations.verification.comparison_result import ByBasin, comparison_result
from operations.verification.evaluate import evaluate
from operations.versions.learnt_days import require_held_out, version_to_score
from operations.versions.stages import single
from records.basins import basins as basin_records
from records.database.work import Work
from records.verification import comparisons
from records.versions import versions

log = structlog.get_logger()

MAX_VERSIONS = 20


@dataclass(frozen=True, slots=True)
class Compared:
    comparison: comparisons.Comparison
    already: bool


def compare(
    work: Work, version_ids: Sequence[str], period: Period, wanted: Sequence[str] = (), *, owner: str | None = None
) -> Compared:
    """Compare versions with the first of them over a period, and store the comparison.

    The same versions, days, basins and scores, published ones included, give the same stored comparison. By default the
    basins are those that every version was trained for. Scores are stored only for versions of the owner, an operator's
    key. Days that were used in a training are refused.
    """
    with work.database.reading() as session:
        compared = _versions(session, version_ids, period)
        basins = chosen(session, wanted) if wanted else _common_basins(session, compared)
    evaluated = _evaluate(work, compared, period, basins, owner)
    scored = evaluated.basins(basins, period)
    with work.database.reading() as session:
        found = (session, compared, period, scored, evaluated.scores, evaluated.left_out)
        result = single("comparison", lambda: comparison_result(*found))
    new = comparisons.NewComparison(
        first_day=period.first,
        last_day=period.last,
        versions=tuple(version.id for version in compared),
        basins=tuple(scored),
        result=result,
        owner=owner,
    )
    with work.database.transaction() as session:
        comparison, is_new = comparisons.store(session, new, work.clock.wall())
    log.info("compare.done", comparison=comparison.id, versions=len(compared), basins=len(scored), new=is_new)
    return Compared(comparison, already=not is_new)


def _versions(session: Session, ids: Sequence[str], period: Period) -> list[versions.Version]:
    if not 1 <= len(ids) <= MAX_VERSIONS:
        raise InvalidInput(f"{len(ids)} versions cannot be compared: name 1 to {MAX_VERSIONS}.")
    if len(set(ids)) < len(ids):
        raise InvalidInput("A version is named twice: name each once.")
    compared = [versions.get(session, version) for version in ids]
    for version in compared:
        judged = version_to_score(session, version, period)
        if judged.id != version.id:
            raise InvalidInput(f"{version.id} has fitted days of {period}: name its twin {judged.id} in its place.")
        require_held_out(version, period)
    return compared


def _common_basins(session: Session, compared: Sequence[versions.Version]) -> list[str]:
    common = set.intersection(*(set(version.basins) for version in compared))
    basins = basin_records.known(session, sorted(common))
    if not basins:
        raise DataProblem(
            "The versions were trained for no basin in common that is stored here: name the basins to compare them in."
        )
    return basins


@dataclass(frozen=True, slots=True)
class _Evaluated:
    scores: Mapping[str, ByBasin]
    left_out: Mapping[str, Absent]

    def basins(self, basins: Sequence[str], period: Period) -> list[str]:
        scored = sorted(basin for basin in basins if basin not in self.left_out)
        if not scored:
            raise DataProblem(f"No basin can be compared over {period}. {first_texts(self.left_out)}")
        return scored


def _evaluate(
    work: Work, compared: Sequence[versions.Version], period: Period, basins: Sequence[str], owner: str | None
) -> _Evaluated:
    with work.database.reading() as session:
        skipped = skipped_days(session, compared, basins, period)
    total = len(compared) * len(basins)
    scores: dict[str, ByBasin] = {}
    left_out: dict[str, Absent] = {}
    for at, version in enumerate(compared):
        counting_on = replace(work, progress=partial(_count_on, work, at * len(basins), total))
        stored = owner is None or version.owner == owner
        evaluation = evaluate(counting_on, version.id, period, basins, without=skipped, stored=stored)
        scores[version.id] = {skill.basin: skill.scores for skill in evaluation.basins}
        left_out |= evaluation.left_out
    return _Evaluated(scores, left_out)


def _count_on(work: Work, before: int, total: int, done: int, _total: int, _detail: str) -> None:
    work.show(before + done, total)
