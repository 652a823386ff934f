"""/v1/forecasts, /v1/basins/{basin}/forecasts and /v1/runs/{run}/basins/{basin}"""

from collections.abc import Callable

from fastapi import APIRouter, Response

from app.exports.answers import Responder, SeriesAnswer, documented_responses
from app.exports.formats import SERIES
from app.forecasts import lookup, table
from app.forecasts import rendered as answers
from app.forecasts.discharge import LatestForm, RunForm
from app.forecasts.forecast import BasinForecast, BasinForecasts
from app.forecasts.lookup import SelectedBasins
from app.http.conditional import SHORTLY
from app.http.dependencies import AsKnown, BasinId, NoArea, Reading, RenderedAnswers, RunId
from app.http.limits.costs import RequestBudget
from records.basins.basins import UnknownBasin
from records.forecasts.latest import NoForecast, NoModel, newest_run_keys, result_of
from records.runs.run_types import UnknownRun

router = APIRouter(tags=["forecasts"])


@router.get(
    "/basins/{basin}/forecasts/latest",
    summary="The latest forecast of a basin",
    **documented_responses(BasinForecast, UnknownBasin, NoModel, NoForecast, NoArea, formats=SERIES),
)
def read_latest_forecast(
    session: Reading, rendered: RenderedAnswers, answer: SeriesAnswer, basin: BasinId, form: LatestForm, at: AsKnown
) -> Response:
    """The newest operational forecast of the basin's current model version, by the service's clock: discharge (m³/s by
    default) with quantiles, water in the basin (mm) with the part read as snow, precipitation and loss (mm/day), and
    the water balance (mm) of every member.

    Until a version that was promoted has issued one, it is that of the version before it, and `awaited_version` names
    the promoted one.

    If a newer run was withheld or failed, the answer is the older one, and `superseded_by` gives the reason. If T0 lies
    more than a few days behind the clock, the answer is `stale`; `age_days` gives the number of days.

    With `known_at` the answer is as it would have been at that instant, age included, but of the version that is
    current now."""
    newest = newest_run_keys(session, [basin], at).get(basin)
    if newest is not None:
        tag = answers.tag_of_key(*newest, basin, form)
        if (body := rendered.get(tag)) is not None:
            return _answered(answer, basin, tag, lambda: body)
    latest = lookup.latest(session, basin, at)
    tag = answers.tag_of(latest, form)
    return _answered(answer, basin, tag, lambda: answers.rendered_forecast(session, rendered, latest, form))


@router.get(
    "/forecasts", summary="The latest forecasts of many basins", **documented_responses(BasinForecasts, formats=SERIES)
)
def read_latest_forecasts(
    session: Reading,
    rendered: RenderedAnswers,
    answer: SeriesAnswer,
    basins: SelectedBasins,
    form: LatestForm,
    at: AsKnown,
    *,
    budget: RequestBudget,
) -> Response:
    """The latest forecast of each basin in one answer: of the basins named, of those in a hydrologic
    unit or a box, or of all. A basin that has none is in `without` with the reason; a request for more
    basins than one answer holds is refused. `known_at` works as for one basin; with `updated_since` only new
    forecasts."""
    budget.charge(len(basins) * answers.VALUES_OF_BASIN)
    looked_up = answers.look_up(session, basins, form, at)
    if form.members:
        budget.spend(answers.member_values(looked_up), "members", "ask for fewer basins.")
    places = answer.places(basins)

    def body() -> bytes:
        return answers.body(session, rendered, looked_up, form, at)

    return answer.tagged(
        looked_up.tag,
        body,
        lambda: table.of_many(BasinForecasts.model_validate_json(body()), places, form.units),
        places=places,
    )


@router.get(
    "/runs/{run}/basins/{basin}",
    summary="The forecast of a given run for a basin",
    **documented_responses(BasinForecast, UnknownRun, NoArea, formats=SERIES),
)
def read_run_of_basin(
    session: Reading, rendered: RenderedAnswers, run: RunId, basin: BasinId, form: RunForm, answer: SeriesAnswer
) -> Response:
    """The same answer as the latest forecast gives, of any run. A run never changes; `published` and `in_words` follow
    a forecaster's adjustment of it.

    A run that was withheld or failed for the basin has a `reason` and no values; its water balance is included if the
    run got that far."""
    latest = result_of(session, run, basin)
    tag = answers.tag_of(latest, form)
    return _answered(answer, basin, tag, lambda: answers.rendered_forecast(session, rendered, latest, form))


def _answered(answer: Responder, basin: str, tag: str, body: Callable[[], bytes]) -> Response:
    places = answer.places([basin])
    return answer.tagged(
        tag,
        body,
        lambda: table.of_one(BasinForecast.model_validate_json(body()), places),
        places=places,
        cache_control=SHORTLY,
    )
