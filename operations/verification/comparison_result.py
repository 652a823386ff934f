"""Builds the result of a comparison from the scores of each version in each basin."""

from collections.abc import Mapping, Sequence

from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Period
from hydrology.base.reasons import Reason
from hydrology.scores import comparisons as printed
from hydrology.scores.comparisons import MEANINGS, difference, quartiles
from hydrology.scores.score_types import Score
from hydrology.scores.scores import SCORES
from models.networks import build
from operations.basin_data.basins import unique
from records.database.stored import as_values
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

ByBasin = Mapping[str, Mapping[str, Score]]
"""Scores by basin and metric."""


def comparison_result(
    session: Session,
    compared: Sequence[versions.Version],
    period: Period,
    basins: Sequence[str],
    scores: Mapping[str, ByBasin],
    left_out: Mapping[str, Absent],
) -> ComparisonResult:
    """Return the result of a comparison; the first version is the reference."""
    values = {
        metric: {
            version: tuple(by_basin[basin][metric].value for basin in basins) for version, by_basin in scores.items()
        }
        for metric in SCORES
    }
    first = scores[compared[0].id]
    stored = publications(session)
    models = [model for one in stored for model in _published(session, one, period, basins, first)]
    return ComparisonResult(
        versions=tuple(_compared_version(session, version) for version in compared),
        scores=tuple(_compared_score(metric, of_versions) for metric, of_versions in values.items()),
        published_models=tuple(models),
        published_table=_published_table(period, basins),
        values=values,
        left_out=left_out,
        missing={} if models else {"published_models": _why_none_published(stored, period)},
    )


def _compared_version(session: Session, version: versions.Version) -> ComparedVersion:
    with_members = [versions.get(session, part.version) for part in version.parts]
    logs = [log for one in with_members for log in versions.logs_of(session, one.id).values()]
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


def _published(
    session: Session, publication: Publication, period: Period, basins: Sequence[str], first: ByBasin
) -> list[PublishedModel]:
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


def _why_none_published(publications: Sequence[Publication], period: Period) -> Absent:
    if publications:
        return absent(Reason.NO_PUBLISHED_SCORE_THERE, period=str(period))
    return absent(Reason.NO_PUBLISHED_SCORES)


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
