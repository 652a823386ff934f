"""`freshet compare`: compare versions with each other and with published scores."""

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import Group, RenderableType

from freshet.cli.context import opened
from freshet.cli.options import Basins, BasinsFile
from freshet.cli.output import PARTLY_DONE, Json, answer, inform_left_out, table
from freshet.cli.progress import reporting
from freshet.cli.text_files import listed
from hydrology.base.calendar import Period
from hydrology.base.errors import counted
from hydrology.scores.paired_comparison import Difference
from hydrology.scores.published_medians import PublishedMedian
from records.database.statements import as_values
from records.verification.comparison_results import ComparedQuartiles, ComparisonResult, PublishedTable

Row = tuple[object, ...]

_COLUMNS = ("basins", "25 %", "median", "75 %", "difference", "better", "worse", "p")


def compare(
    period: Annotated[str, typer.Option(metavar="FIRST..LAST", help="Days that were not used in any training.")],
    version: Annotated[
        list[str],
        typer.Option(metavar="VERSION", help="A model version; repeat it. The others are compared with the first."),
    ],
    basin: Basins = None,
    basins_file: BasinsFile = None,
    as_json: Json = False,
) -> None:
    """Compare versions on the same basins and days. Default: the basins that all were trained for.

    A comparison repeated with nothing changed is stored once.
    """
    with opened() as context:
        from operations.verification.compare import compare as run

        with reporting() as reporter:
            compared = run(
                context.database,
                context.clock,
                version,
                Period.parse(period),
                [*(basin or []), *listed(basins_file)],
                on_basins=lambda at, total: reporter.show("basins", at, total),
            )
        if not compared.already:
            context.record("models compared", compared.comparison.id, versions=version, period=period)
    comparison, result = compared.comparison, compared.comparison.result
    inform_left_out(result.left_out.values())
    basins = list(comparison.basins)
    payload = {
        "id": comparison.id,
        "already": compared.already,
        "period": period,
        "basins": basins,
    }
    title = f"Comparison {comparison.id}, {period}, {counted(len(basins), 'basin')}"
    title += ", stored before" if compared.already else ""
    answer(payload | as_values(result), as_json, Group(*_text(title, result)))
    if result.left_out:
        raise typer.Exit(PARTLY_DONE)


def _text(title: str, result: ComparisonResult) -> Iterator[RenderableType]:
    names = {
        version.id: f"{version.label} ({version.id})" if version.label else version.id for version in result.versions
    }
    yield _versions(title, names, result)
    first = next(iter(names.values()))
    yield ""
    yield table(("score", "version", *_COLUMNS), [*_scores(names, result)], f"Differences: to {first}.")
    yield ""
    if result.published_models:
        sources = sorted({f"{model.source}. {model.citation}" for model in result.published_models})
        heading = f"Published, in the same basins and days. Differences: to {first}.\n" + "\n".join(sources)
        yield table(("score", "model", *_COLUMNS), [*_published(result)], heading)
    else:
        yield str(result.missing["published_models"])
    yield ""
    yield _printed(result.published_table)


def _versions(title: str, names: dict[str, str], result: ComparisonResult) -> RenderableType:
    rows = [
        (
            names[version.id],
            version.architecture,
            version.conserving,
            version.product,
            version.members,
            version.parameters,
            version.missing.get("training_seconds", version.training_seconds),
        )
        for version in result.versions
    ]
    columns = ("version", "architecture", "conserving", "product", "members", "parameters", "training, s")
    return table(columns, rows, title)


def _scores(names: dict[str, str], result: ComparisonResult) -> Iterator[Row]:
    for score in result.scores:
        differences = {difference.version: difference for difference in score.differences}
        for cuts in score.versions:
            name = _with_unit(score.metric, score.unit)
            difference = _difference(differences.get(cuts.version))
            yield name, names[cuts.version], score.n, *_quartiles(cuts), *difference


def _published(result: ComparisonResult) -> Iterator[Row]:
    units = {score.metric: score.unit for score in result.scores}
    rows = [(score, model.model) for model in result.published_models for score in model.scores]
    for score, model in sorted(rows, key=lambda row: list(units).index(row[0].metric)):
        name = _with_unit(score.metric, units[score.metric])
        yield name, model, score.n, *_quartiles(score), *_difference(score.difference)


def _printed(published: PublishedTable) -> RenderableType:
    medians = [median for model in published.models for median in model.medians]
    metrics = list(dict.fromkeys(median.metric for median in medians))
    sources = list(dict.fromkeys(median.source for median in medians))
    rows = [
        (
            model.model,
            *(
                "; ".join(_median(median, sources) for median in model.medians if median.metric == metric)
                for metric in metrics
            ),
        )
        for model in published.models
    ]
    heading = [f"As printed: median (25 %, 75 %), or mean ± sd of ten medians. {published.note}"]
    heading += [f"[{number}] {source}" for number, source in enumerate(sources, start=1)]
    return table(("model", *metrics), rows, "\n".join(heading))


def _median(median: PublishedMedian, sources: list[str]) -> str:
    text = f"{median.median:g}"
    if median.sd is not None:
        text += f" ± {median.sd:g}"
    if median.p25 is not None:
        text += f" ({median.p25:g}, {median.p75:g})"
    return f"{text} [{sources.index(median.source) + 1}]"


def _with_unit(metric: str, unit: str) -> str:
    return metric if unit == "1" else f"{metric}, {unit}"


def _quartiles(cuts: ComparedQuartiles) -> Row:
    return cuts.p25, cuts.median, cuts.p75


def _difference(difference: Difference | None) -> Row:
    if difference is None:
        return "", "", "", ""
    p = difference.reason if difference.p is None else f"{difference.p:.2g}"
    return difference.median, difference.better, difference.worse, p
