"""Versions beside each other and beside what others have published, on the same basins and the same days.

What is compared are the scores of each version's members' mean, evaluated anew from what is kept now. A day that one
of the networks skips is scored for none.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import structlog
from sqlalchemy.orm import Session

from hydrology import printed_scores as printed
from hydrology.calendar import Period
from hydrology.errors import DataProblem, InvalidInput
from hydrology.paired import MEANINGS, difference, quartiles
from hydrology.pairs import Score
from hydrology.scores import SCORES
from jobspec.training import TrainingConfig
from models.networks import build
from operations.basins import chosen, unique
from operations.dataset import skipped_days
from operations.evaluate import evaluate
from operations.heldout import require_held_out
from records import basins as basin_records
from records import benchmark_scores, comparisons, versions
from records.clock import Clock
from records.engine import Database

log = structlog.get_logger()

MOST_VERSIONS = 20

ByBasin = Mapping[str, Mapping[str, Score]]
"""Scores by basin and metric."""
OnBasins = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison that is kept, and whether it was kept before."""

    comparison: comparisons.Comparison
    already: bool


def compare(
    database: Database,
    clock: Clock,
    version_ids: Sequence[str],
    period: Period,
    wanted: Sequence[str] = (),
    on_basins: OnBasins = lambda _done, _total: None,
) -> Compared:
    """Hold versions against the first of them over a period, and keep the comparison.

    The same versions, days, basins and scores, published ones included, give the same kept comparison.

    Args:
        wanted: the basins; those that every version was trained for where none is named.
        on_basins: gets how many basins are evaluated, over all versions, of how many.

    Raises:
        UnknownVersion, UnknownBasin: one of them is not kept.
        InvalidInput: a version is named twice, too many or none are, or the days are not held out of a training.
        DataProblem: no basin has the scores of every version.
    """
    with database.reading() as session:
        compared = _versions(session, version_ids, period)
        basins = chosen(session, wanted) if wanted else _common(session, compared)
    scores, left_out = _all_scores(database, clock, compared, period, basins, on_basins)
    served = sorted(basin for basin in basins if basin not in left_out)
    if not served:
        raise DataProblem(f"No basin can be compared over {period}. {' '.join(list(left_out.values())[:3])}")
    with database.reading() as session:
        result = _result(session, compared, period, served, scores) | {"left_out": left_out}
    new = comparisons.NewComparison(
        first_day=period.first, last_day=period.last, versions=tuple(scores), basins=tuple(served), result=result
    )
    with database.transaction() as session:
        comparison, made = comparisons.keep(session, new, clock.wall())
    log.info("compare.done", comparison=comparison.id, versions=len(scores), basins=len(served), new=made)
    return Compared(comparison, already=not made)


def _versions(session: Session, ids: Sequence[str], period: Period) -> list[versions.Version]:
    if not 1 <= len(ids) <= MOST_VERSIONS:
        raise InvalidInput(f"{len(ids)} versions cannot be compared: name 1 to {MOST_VERSIONS}.")
    if len(set(ids)) < len(ids):
        raise InvalidInput("A version is named twice: name each once.")
    found = [versions.get(session, one) for one in ids]
    for one in found:
        require_held_out(one, period)
    return found


def _common(session: Session, compared: Sequence[versions.Version]) -> list[str]:
    common = basin_records.known(session, sorted(set.intersection(*(set(one.basins) for one in compared))))
    if not common:
        raise DataProblem(
            "The versions were trained for no basin in common that is kept here: name the basins to compare them in."
        )
    return common


def _all_scores(
    database: Database,
    clock: Clock,
    compared: Sequence[versions.Version],
    period: Period,
    basins: Sequence[str],
    on_basins: OnBasins,
) -> tuple[dict[str, ByBasin], dict[str, str]]:
    """Return the scores of each version, all of the same days, and why a basin cannot be compared."""
    configs = [TrainingConfig.model_validate(one.config) for one in compared]
    with database.reading() as session:
        skipped = skipped_days(session, configs, basins, period)
    total = len(compared) * len(basins)
    scores: dict[str, ByBasin] = {}
    left_out: dict[str, str] = {}
    for at, version in enumerate(compared):
        show = _counting_on(on_basins, at * len(basins), total)
        done = evaluate(database, clock, version.id, period, basins, show, without=skipped)
        scores[version.id] = {one.basin: one.scores for one in done.basins}
        left_out |= done.left_out
    return scores, left_out


def _counting_on(on_basins: OnBasins, before: int, total: int) -> OnBasins:
    return lambda done, _total: on_basins(before + done, total)


def _result(
    session: Session,
    compared: Sequence[versions.Version],
    period: Period,
    basins: Sequence[str],
    scores: Mapping[str, ByBasin],
) -> dict[str, Any]:
    values = {
        metric: {version: [found[basin][metric].value for basin in basins] for version, found in scores.items()}
        for metric in SCORES
    }
    models, why_none = _published(session, period, basins, scores[compared[0].id])
    return {
        "versions": [_described(session, one) for one in compared],
        "scores": [_metric(metric, of_versions) for metric, of_versions in values.items()],
        "published_models": models,
        "published_table": _table(period, basins),
        "values": values,
        "missing": {} if models else {"published_models": why_none},
    }


def _described(session: Session, version: versions.Version) -> dict[str, Any]:
    config = TrainingConfig.model_validate(version.config)
    network = build(config.network, config.inputs, seed=0, basins=len(version.basins))
    logs = versions.logs_of(session, version.id).values()
    seconds = [one["seconds"] for one in logs if one.get("seconds") is not None]
    machines = unique(one["machine"] for one in logs if one.get("machine") is not None)
    timed = len(seconds) == len(logs)
    missing = {} if timed else {"training_seconds": "not recorded"}
    if version.label is None:
        missing["label"] = "Nobody has named it."
    return {
        "id": version.id,
        "label": version.label,
        "architecture": version.architecture,
        "conserving": version.conserving,
        "product": version.product,
        "members": len(version.members),
        "parameters": sum(one.numel() for one in network.parameters()),
        "training_seconds": float(sum(seconds)) if timed else None,
        "machines": machines,
        "missing": missing,
    }


def _metric(metric: str, of_versions: Mapping[str, Sequence[float | None]]) -> dict[str, Any]:
    """Return what a score says of the versions in the basins where every one has a value."""
    meaning = MEANINGS[metric]
    whole = [row for row in zip(*of_versions.values(), strict=True) if None not in row]
    columns = dict(zip(of_versions, zip(*whole, strict=True) if whole else [()] * len(of_versions), strict=True))
    first, *others = columns
    return {
        "metric": metric,
        "unit": meaning.unit,
        "perfect": meaning.perfect,
        "n": len(whole),
        "lacking": len(of_versions[first]) - len(whole),
        "versions": [{"version": version, **_cuts(column)} for version, column in columns.items()],
        "differences": [
            {"version": other, **asdict(difference(columns[other], columns[first], perfect=meaning.perfect))}
            for other in others
        ],
    }


def _cuts(values: Sequence[float]) -> dict[str, float | None]:
    cuts = quartiles(values)
    return {"p25": cuts.p25, "median": cuts.median, "p75": cuts.p75}


def _published(
    session: Session, period: Period, basins: Sequence[str], first: ByBasin
) -> tuple[list[dict[str, Any]], str]:
    """Return the published models on the same basins and days beside the first version, or why there is none."""
    found = []
    publications = benchmark_scores.publications(session)
    for publication in publications:
        rows = benchmark_scores.list_scores(
            session, publication.source, period=period, basins=basins, metrics=[*SCORES]
        )
        pairs: dict[str, dict[str, list[tuple[float, float]]]] = {}
        for row in rows:
            ours = first[row.basin_id][row.metric].value
            if row.value is not None and ours is not None:
                pairs.setdefault(row.model, {}).setdefault(row.metric, []).append((row.value, ours))
        found += [
            {
                "model": model,
                "source": publication.source,
                "citation": publication.citation,
                "scores": [_beside(metric, of_metric[metric]) for metric in SCORES if metric in of_metric],
            }
            for model, of_metric in pairs.items()
        ]
    if publications:
        return found, f"No published score that is kept is of {period} and of these basins."
    return found, "No published scores are kept: ingest them (freshet ingest benchmarks)."


def _beside(metric: str, pairs: Sequence[tuple[float, float]]) -> dict[str, Any]:
    theirs, ours = zip(*pairs, strict=True)
    return {
        "metric": metric,
        "n": len(pairs),
        **_cuts(theirs),
        "first": _cuts(ours),
        "difference": asdict(difference(theirs, ours, perfect=MEANINGS[metric].perfect)),
    }


def _table(period: Period, basins: Sequence[str]) -> dict[str, Any]:
    comparable = printed.is_comparable(period, basins)
    of = f"{printed.BASINS} basins over {printed.PERIOD}, on the weather product {printed.PRODUCT}"
    return {
        "comparable": comparable,
        "note": f"The same basins and period: {of}." if comparable else f"Other basins or period: it is of {of}.",
        "first_day": str(printed.PERIOD.first),
        "last_day": str(printed.PERIOD.last),
        "basins": printed.BASINS,
        "product": printed.PRODUCT,
        "models": [asdict(one) for one in printed.TABLE],
    }
