"""Compares versions with each other and with published scores, on the same basins and days.

The scores of each version's ensemble mean are compared, evaluated anew from the stored data. A day that one of the
networks skips is scored for none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Self

import structlog
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent, first_texts
from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem, InvalidInput
from hydrology.base.reasons import Reason
from hydrology.scores import comparisons as printed
from hydrology.scores.comparisons import MEANINGS, difference, quartiles
from hydrology.scores.score_types import Score
from hydrology.scores.scores import SCORES
from models.networks import build
from operations.basin_data.basins import chosen, unique
from operations.basin_data.dataset import skipped_days
from operations.verification.evaluate import EvaluatedPart, conclude, evaluate_part
from operations.versions.learnt_days import require_held_out, version_to_score
from records.basins import basins as basin_records
from records.database.stored import as_values
from records.database.work import Work
from records.verification import comparisons
from records.verification.comparisons import (
    ComparedQuartiles,
    ComparedScore,
    ComparedVersion,
    ComparisonResult,
    PublishedModel,
    PublishedScore,
    PublishedTable,
    VersionDifference,
    VersionQuartiles,
)
from records.verification.scores import Publication, publications, published_scores
from records.versions import versions

log = structlog.get_logger()

MAX_VERSIONS = 20


@dataclass(frozen=True, slots=True)
class _Evaluated:
    """The scores of versions by basin and metric, and the basins that all are scored in."""

    versions: Sequence[versions.Version]
    period: Period
    basins: Sequence[str]
    scores: Mapping[str, Mapping[str, Mapping[str, Score]]]
    left_out: Mapping[str, Absent]


@dataclass(frozen=True, slots=True)
class ComparedPart:
    """The outcome of a part of a comparison: of each version's evaluation, or why there is none."""

    versions: dict[str, EvaluatedPart]
    left_out: dict[str, Absent] = field(default_factory=dict)

    @classmethod
    def failed(cls, names: Sequence[str], reason: Absent) -> Self:
        """Return the outcome of a part that failed."""
        return cls({}, dict.fromkeys(names, reason))


def compare(
    work: Work, version_ids: Sequence[str], period: Period, wanted: Sequence[str] = (), *, owner: str | None = None
) -> comparisons.Comparison:
    """Compare versions with the first of them over a period, and store the comparison.

    The same versions, days, basins and scores, published ones included, give the same stored comparison. By default the
    basins are those that every version was trained for. Scores are stored only for versions of the owner, an operator's
    key. Days that were used in a training are refused.
    """
    basins = basins_to_compare(work, version_ids, period, wanted)
    part = compare_part(work, version_ids, period, basins, owner=owner)
    return conclude_comparison(work, version_ids, period, [(basins, part)], owner=owner)


def basins_to_compare(
    work: Work, version_ids: Sequence[str], period: Period, wanted: Sequence[str] = ()
) -> Sequence[str]:
    """Return the basins to compare versions in, after checking that these can be compared."""
    with work.database.reading() as session:
        compared = _versions(session, version_ids, period)
        common = set.intersection(*(set(version.basins) for version in compared))
        basins = chosen(session, wanted) if wanted else basin_records.known(session, sorted(common))
    if not basins:
        raise DataProblem(
            "The versions were trained for no basin in common that is stored here: name the basins to compare them in."
        )
    return basins


def compare_part(
    work: Work, version_ids: Sequence[str], period: Period, basins: Sequence[str], *, owner: str | None = None
) -> ComparedPart:
    """Evaluate the versions in a part of the basins."""
    with work.database.reading() as session:
        compared = _versions(session, version_ids, period)
        skipped = skipped_days(session, compared, basins, period)
    total = len(compared) * len(basins)
    done: dict[str, EvaluatedPart] = {}
    for at, version in enumerate(compared):
        counting_on = replace(work, progress=partial(_count_on, work, at * len(basins), total))
        stored = _is_stored(version, owner)
        done[version.id] = evaluate_part(counting_on, version.id, period, basins, without=skipped, stored=stored)
    return ComparedPart(done)


def conclude_comparison(
    work: Work,
    version_ids: Sequence[str],
    period: Period,
    parts: Sequence[tuple[Sequence[str], ComparedPart]],
    *,
    owner: str | None = None,
) -> comparisons.Comparison:
    """Store the comparison whose parts are done, each with its basins."""
    basins = [basin for names, _ in parts for basin in names]
    with work.database.reading() as session:
        compared = _versions(session, version_ids, period)
    scores: dict[str, Mapping[str, Mapping[str, Score]]] = {}
    left_out = {basin: reason for _, part in parts for basin, reason in part.left_out.items()}
    for version in compared if len(left_out) < len(basins) else ():
        of_version = [part.versions[version.id] for _, part in parts if version.id in part.versions]
        evaluation = conclude(work, version.id, period, basins, of_version, stored=_is_stored(version, owner))
        scores[version.id] = {skill.basin: skill.scores for skill in evaluation.basins}
        left_out |= evaluation.left_out
    scored = sorted(basin for basin in basins if basin not in left_out)
    if not scored:
        raise DataProblem(f"No basin can be compared over {period}. {first_texts(left_out)}")
    evaluated = _Evaluated(compared, period, scored, scores, left_out)
    with work.database.reading() as session:
        result = _result(session, evaluated)
    new = comparisons.NewComparison(
        first_day=period.first,
        last_day=period.last,
        versions=tuple(version.id for version in compared),
        basins=tuple(evaluated.basins),
        result=result,
        owner=owner,
    )
    with work.database.transaction() as session:
        comparison, is_new = comparisons.store(session, new, work.clock.wall())
    log.info("compare.done", comparison=comparison.id, versions=len(compared), basins=len(new.basins), new=is_new)
    return comparison


def _is_stored(version: versions.Version, owner: str | None) -> bool:
    return owner is None or version.owner == owner


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


def _count_on(work: Work, before: int, total: int, done: int, _total: int, _detail: str) -> None:
    work.show(before + done, total)


def _result(session: Session, evaluated: _Evaluated) -> ComparisonResult:
    values = {
        metric: {
            version: tuple(by_basin[basin][metric].value for basin in evaluated.basins)
            for version, by_basin in evaluated.scores.items()
        }
        for metric in SCORES
    }
    stored = publications(session)
    models = [model for one in stored for model in _published(session, evaluated, one)]
    missing = {}
    if not models and stored:
        missing["published_models"] = absent(Reason.NO_PUBLISHED_SCORE_THERE, period=str(evaluated.period))
    elif not models:
        missing["published_models"] = absent(Reason.NO_PUBLISHED_SCORES)
    return ComparisonResult(
        versions=tuple(_compared_version(session, version) for version in evaluated.versions),
        scores=tuple(_compared_score(metric, of_versions) for metric, of_versions in values.items()),
        published_models=tuple(models),
        published_table=_published_table(evaluated.period, evaluated.basins),
        values=values,
        left_out=evaluated.left_out,
        missing=missing,
    )


def _compared_version(session: Session, version: versions.Version) -> ComparedVersion:
    with_members = [versions.get(session, part.version) for part in version.parts]
    logs = [log for one in with_members for _, log in versions.seeds_and_logs(session, one.id).values()]
    seconds = [log["seconds"] for log in logs if log.get("seconds") is not None]
    timed = len(seconds) == len(logs)
    missing = {} if timed else {"training_seconds": absent(Reason.TRAINING_NOT_TIMED)}
    if version.label is None:
        missing["label"] = absent(Reason.NOT_NAMED)
    return ComparedVersion(
        id=version.id,
        label=version.label,
        architecture=version.architecture,
        conserving=version.conserving,
        product=version.product,
        members=version.member_count,
        parameters=sum(map(_parameters, with_members)),
        training_seconds=float(sum(seconds)) if timed else None,
        machines=tuple(unique(log["machine"] for log in logs if log.get("machine") is not None)),
        missing=missing,
    )


def _parameters(version: versions.Version) -> int:
    config = version.training
    network = build(config.network, config.inputs, seed=0, basins=len(version.basins))
    return sum(parameter.numel() for parameter in network.parameters())


def _compared_score(metric: str, of_versions: Mapping[str, Sequence[float | None]]) -> ComparedScore:
    meaning = MEANINGS[metric]
    rows = [
        [value for value in row if value is not None]
        for row in zip(*of_versions.values(), strict=True)
        if None not in row
    ]
    columns = {version: [row[at] for row in rows] for at, version in enumerate(of_versions)}
    first, *others = columns
    return ComparedScore(
        metric=metric,
        unit=meaning.unit,
        perfect=meaning.perfect,
        n=len(rows),
        lacking=len(of_versions[first]) - len(rows),
        versions=tuple(VersionQuartiles(version=version, **_cuts(column)) for version, column in columns.items()),
        differences=tuple(
            VersionDifference(
                version=other, **as_values(difference(columns[other], columns[first], perfect=meaning.perfect))
            )
            for other in others
        ),
    )


def _cuts(values: Sequence[float]) -> dict[str, float | None]:
    return as_values(quartiles(values), "n")


def _published(session: Session, evaluated: _Evaluated, publication: Publication) -> list[PublishedModel]:
    period, basins, first = evaluated.period, evaluated.basins, evaluated.scores[evaluated.versions[0].id]
    rows = published_scores(session, publication.source, period=period, basins=basins, metrics=[*SCORES])
    pairs: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for row in rows:
        ours = first[row.basin_id][row.metric].value
        if row.value is not None and ours is not None:
            pairs.setdefault(row.model, {}).setdefault(row.metric, []).append((row.value, ours))
    return [
        PublishedModel(
            model=model,
            source=publication.source,
            citation=publication.citation,
            scores=tuple(_published_score(metric, of_metric[metric]) for metric in SCORES if metric in of_metric),
        )
        for model, of_metric in pairs.items()
    ]


def _published_score(metric: str, pairs: Sequence[tuple[float, float]]) -> PublishedScore:
    theirs, ours = zip(*pairs, strict=True)
    return PublishedScore(
        metric=metric,
        n=len(pairs),
        **_cuts(theirs),
        first=ComparedQuartiles(**_cuts(ours)),
        difference=difference(theirs, ours, perfect=MEANINGS[metric].perfect),
    )


def _published_table(period: Period, basins: Sequence[str]) -> PublishedTable:
    comparable = printed.is_comparable(period, basins)
    scope = f"{printed.BASINS} basins over {printed.PERIOD}, on the weather product {printed.PRODUCT}"
    return PublishedTable(
        comparable=comparable,
        note=f"The same basins and period: {scope}." if comparable else f"Other basins or period: it is of {scope}.",
        first_day=str(printed.PERIOD.first),
        last_day=str(printed.PERIOD.last),
        basins=printed.BASINS,
        product=printed.PRODUCT,
        models=printed.TABLE,
    )
