"""`freshet models combine`: one version of several, with weights that are given or learnt."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

from freshet.cli.context import opened
from freshet.cli.options import Basins, argument, option
from freshet.cli.output import Json, answer, inform, reporting
from hydrology.base.calendar import Period
from hydrology.base.errors import InvalidInput, counted
from records.versions import combinations

if TYPE_CHECKING:
    from extensions.weights.learning import LearntWeights


def combine(
    parts: Annotated[
        list[str],
        argument("VERSION[:WEIGHT]...", "The versions, each with its weight; without weights they are learnt."),
    ],
    label: Annotated[str | None, option("TEXT", "Its name for people.")] = None,
    period: Annotated[
        str | None,
        option("FIRST..LAST", "The days to learn the weights on. Default: the validation period that all parts share."),
    ] = None,
    basin: Basins = None,
    as_json: Json = False,
) -> None:
    """Combine versions into one: each runs on its own weather product, and the flow is their weighted mean.

    Where a product is missing, the others go on. Combining the same again changes nothing.
    """
    weights = dict(map(_weighted, parts))
    if len(weights) < len(parts):
        raise InvalidInput("A version is named twice: name each once.")
    given = {version: weight for version, weight in weights.items() if weight is not None}
    if given and (len(given) < len(weights) or period is not None or basin):
        raise InvalidInput("Give every version its weight, or none, for them to be learnt over --period and --basin.")
    by_basin: dict[str, dict[str, float]] = {}
    with opened() as context:
        if not given:
            from extensions.weights import learning

            with reporting() as reporter:
                days = None if period is None else Period.parse(period)
                work = replace(context, progress=partial(reporter.show, "weights"))
                learnt = learning.learn_weights(work, list(weights), days, basin or [])
            given, by_basin = learnt.common, learnt.by_basin
            inform(_in_words(learnt))
            if len(given) == 1:
                raise InvalidInput(
                    f"Version {min(given)} alone has the largest median NSE: nothing has to be combined."
                )
        with context.database.transaction() as session:
            wall, now = context.clock.wall(), context.clock.now()
            one = combinations.combine(session, given, label=label, wall=wall, now=now, by_basin=by_basin)
        context.record("models combined", one.id)
    shares = {part.version: part.weight for part in one.parts}
    own = f" {counted(len(by_basin), 'basin has', 'basins have')} weights of their own." if by_basin else ""
    shown = ", ".join(f"{part.weight:.3g} of {part.version} on {part.product}" for part in one.parts)
    answer({"version": one.id, "weights": shares, "by_basin": by_basin}, as_json, f"Version {one.id}: {shown}.{own}")


def _in_words(learnt: "LearntWeights") -> str:
    if learnt.nse is None:
        return "The years are too few to learn weights by basin."
    common, own = learnt.nse
    verdict = "used" if learnt.by_basin else "not used"
    common_and_own = f"{common:.4f} with common weights, {own:.4f} with those by basin ({verdict})"
    return f"Median NSE in years left out of {learnt.period}: {common_and_own}."


def _weighted(text: str) -> tuple[str, float | None]:
    version, colon, weight = text.partition(":")
    if not colon:
        return version, None
    try:
        return version, float(weight)
    except ValueError:
        raise InvalidInput(f"The weight in {text[:64]!r} is not a number: write VERSION:WEIGHT.") from None
