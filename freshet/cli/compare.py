"""`freshet compare`: versions beside each other, and beside what others have published."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType

from freshet.cli.context import opened, use_threads
from freshet.cli.output import PARTLY_DONE, Json, answer, say, table
from freshet.cli.progress import reporting
from freshet.cli.train import Basins, BasinsFile, listed
from hydrology.calendar import Period

_COLUMNS = ("basins", "25 %", "median", "75 %", "difference", "better", "worse", "p")


def compare(
    period: Annotated[str, typer.Option(metavar="FIRST..LAST", help="Days that no training has used.")],
    version: Annotated[
        list[str],
        typer.Option(metavar="VERSION", help="A model version; repeat it. The others are held against the first."),
    ],
    basin: Basins = None,
    basins_file: BasinsFile = None,
    as_json: Json = False,
) -> None:
    """Hold versions against each other on the same basins and days. Default: the basins all were trained for.

    The same again is the same comparison.
    """
    with opened() as context:
        use_threads(context.settings.threads)
        from operations.compare import compare as run

        with reporting() as reporter:
            done = run(
                context.database,
                context.clock,
                version,
                Period.parse(period),
                [*(basin or []), *listed(basins_file)],
                lambda at, total: reporter.show("basins", at, total),
            )
    kept, result = done.comparison, done.comparison.result
    for reason in result["left_out"].values():
        say(f"Left out: {reason}")
    payload = {"id": kept.id, "already": done.already, "period": period, "basins": list(kept.basins), **result}
    title = f"Comparison {kept.id}, {period}, {len(kept.basins)} basins" + (", kept before" if done.already else "")
    answer(payload, as_json, Group(*_text(title, result)))
    if result["left_out"]:
        raise typer.Exit(PARTLY_DONE)


def _text(title: str, result: dict[str, Any]) -> Iterator[RenderableType]:
    names = {one["id"]: f"{one['label']} ({one['id']})" if one["label"] else one["id"] for one in result["versions"]}
    yield _versions(title, names, result)
    first = next(iter(names.values()))
    yield ""
    yield table(("score", "version", *_COLUMNS), [*_scores(names, result)], f"Differences: to {first}.")
    yield ""
    if result["published_models"]:
        sources = sorted({f"{one['source']}. {one['citation']}" for one in result["published_models"]})
        said = f"Published, in the same basins and days. Differences: to {first}.\n" + "\n".join(sources)
        yield table(("score", "model", *_COLUMNS), [*_published(result)], said)
    else:
        yield result["missing"]["published_models"]
    yield ""
    yield _printed(result["published_table"])


def _versions(title: str, names: dict[str, str], result: dict[str, Any]) -> RenderableType:
    rows = [
        (
            names[one["id"]],
            one["architecture"],
            one["conserving"],
            one["product"],
            one["members"],
            one["parameters"],
            one["missing"].get("training_seconds", one["training_seconds"]),
        )
        for one in result["versions"]
    ]
    columns = ("version", "architecture", "conserving", "product", "members", "parameters", "training, s")
    return table(columns, rows, title)


def _scores(names: dict[str, str], result: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    for score in result["scores"]:
        apart = {one["version"]: one for one in score["differences"]}
        for one in score["versions"]:
            name = _named(score["metric"], score["unit"])
            yield name, names[one["version"]], score["n"], *_cuts(one), *_difference(apart.get(one["version"]))


def _published(result: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    units = {one["metric"]: one["unit"] for one in result["scores"]}
    rows = [
        (score["metric"], model["model"], score) for model in result["published_models"] for score in model["scores"]
    ]
    for metric, model, score in sorted(rows, key=lambda row: list(units).index(row[0])):
        name = _named(metric, units[metric])
        yield name, model, score["n"], *_cuts(score), *_difference(score["difference"])


def _printed(published: dict[str, Any]) -> RenderableType:
    medians = [one for model in published["models"] for one in model["medians"]]
    metrics = list(dict.fromkeys(one["metric"] for one in medians))
    sources = list(dict.fromkeys(one["source"] for one in medians))
    rows = [
        (
            model["model"],
            *(
                "; ".join(_median(one, sources) for one in model["medians"] if one["metric"] == metric)
                for metric in metrics
            ),
        )
        for model in published["models"]
    ]
    said = [f"As printed: median (25 %, 75 %), or mean ± sd of ten medians. {published['note']}"]
    said += [f"[{number}] {source}" for number, source in enumerate(sources, start=1)]
    return table(("model", *metrics), rows, "\n".join(said))


def _median(one: dict[str, Any], sources: list[str]) -> str:
    text = f"{one['median']:g}"
    if one["sd"] is not None:
        text += f" ± {one['sd']:g}"
    if one["p25"] is not None:
        text += f" ({one['p25']:g}, {one['p75']:g})"
    return f"{text} [{sources.index(one['source']) + 1}]"


def _named(metric: str, unit: str) -> str:
    return metric if unit == "1" else f"{metric}, {unit}"


def _cuts(one: dict[str, Any]) -> tuple[Any, ...]:
    return one["p25"], one["median"], one["p75"]


def _difference(one: dict[str, Any] | None) -> tuple[Any, ...]:
    if one is None:
        return "", "", "", ""
    return one["median"], one["better"], one["worse"], one["reason"] if one["p"] is None else f"{one['p']:.2g}"
