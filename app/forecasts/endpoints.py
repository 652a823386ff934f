"""/v1/forecasts, /v1/basins/{basin}/forecasts/latest and /v1/runs/{run}/basins/{basin}, from the cache."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Response
from pydantic import TypeAdapter
from sqlalchemy.orm import Session

from app.exports.answers import Responder, SeriesAnswer, body_of, documented_responses
from app.exports.formats import SERIES
from app.exports.table import NOWHERE, Column, Table, basin_columns, columns_of, constant, stacked
from app.forecasts import lookup
from app.forecasts.discharge import LatestForm, Representation, RunForm
from app.forecasts.forecast import (
    BasinForecast,
    BasinForecasts,
    WithoutForecast,
    basin_forecast,
    forecast_of,
    stored_parts,
)
from app.forecasts.header import run_table
from app.http.conditional import SHORTLY, ResponseCache
from app.http.dependencies import AsKnown, BasinId, Reading, RenderedAnswers, RunId
from app.http.entity_tags import entity_tag
from app.http.limits.costs import RequestBudget
from hydrology.base.calendar import Day, age_days
from hydrology.base.errors import NotFound, Problem
from hydrology.base.units import NoArea
from records.basins.basins import Site, UnknownBasin
from records.basins.regions import UnknownRegion
from records.forecasts.latest import Latest, NoForecast, NoModel, newest_run_keys, result_of
from records.runs.run_types import UnknownRun


def tag_of(latest: Latest, representation: Representation) -> str:
    """Return the entity tag, from the run's id, the representation, its adjustment, whether it was
    pruned, and whether the basin is official. A run never changes otherwise."""
    newer = latest.superseded_by and latest.superseded_by.run_id
    age = None if representation.at is None else age_days(latest.run.t0, representation.at)
    pruned = latest.basin.pruned and str(latest.basin.pruned)
    special = (pruned, latest.awaited, latest.owner and "unofficial", latest.adjustment)
    marks = [mark for mark in special if mark is not None]
    return _tag(representation, latest.run.id, latest.basin.basin_id, newer, age, *marks)


def tag_of_key(run: str, t0: Day, basin: str, representation: Representation) -> str:
    """Return the entity tag of a latest forecast that is not adjusted, without reading it."""
    at = representation.at
    return _tag(representation, run, basin, None, None if at is None else age_days(t0, at))


def _tag(representation: Representation, *parts: Any) -> str:
    return entity_tag(representation.units, representation.members, *parts)


def rendered_forecast(
    session: Session, rendered: ResponseCache, latest: Latest, representation: Representation
) -> bytes:
    """Return the forecast of a basin in JSON, from the cache where possible."""
    tag = tag_of(latest, representation)
    if (stored := rendered.get(tag)) is not None:
        return stored
    body = body_of(forecast_of(session, latest, representation))
    rendered.put(tag, body)
    return body


VALUES_OF_BASIN = 100
"""Of a basin's forecast without its members, about."""

_WITHOUT = TypeAdapter(list[WithoutForecast])


@dataclass(frozen=True, slots=True)
class LookedUp:
    """The forecasts for an answer about many basins in the order asked for; `lacking` has why others have none."""

    basins: Sequence[str]
    tags: Mapping[str, str]
    runs: Mapping[str, Latest]
    lacking: Mapping[str, NotFound]

    @property
    def tag(self) -> str:
        """Entity tag, from the runs and the reasons of missing ones."""
        of_lacking = {basin: [basin, problem.kind, str(problem)] for basin, problem in self.lacking.items()}
        return entity_tag([self.tags.get(basin) or of_lacking[basin] for basin in self.basins])


def look_up(session: Session, basins: Sequence[str], representation: Representation, at: datetime) -> LookedUp:
    """Find the forecasts of an answer; with members they are read, to know their size."""
    glances = {} if representation.members else newest_run_keys(session, basins, at)
    others = lookup.latest_many(session, [basin for basin in basins if basin not in glances], at)
    runs = {basin: latest for basin, latest in others.items() if isinstance(latest, Latest)}
    tags = {basin: tag_of_key(*newest, basin, representation) for basin, newest in glances.items()}
    tags |= {basin: tag_of(latest, representation) for basin, latest in runs.items()}
    return LookedUp(basins, tags, runs, {b: problem for b, problem in others.items() if isinstance(problem, NotFound)})


def member_values(looked_up: LookedUp) -> int:
    """Return the number of discharge values of the members."""
    return sum(
        len(latest.run.members) * (latest.basin.summary.traces or 1) * latest.run.horizon_days
        for latest in looked_up.runs.values()
    )


def body_of_many(
    session: Session, rendered: ResponseCache, looked_up: LookedUp, representation: Representation, at: datetime
) -> bytes:
    """Return a `BasinForecasts` in JSON. A basin whose run names no area has no flows: `without` lists it."""
    bodies = {basin: stored for basin, tag in looked_up.tags.items() if (stored := rendered.get(tag)) is not None}
    unread = [basin for basin in looked_up.tags if basin not in bodies and basin not in looked_up.runs]
    runs = {**looked_up.runs, **lookup.latest_many(session, unread, at)}
    latest = [run for basin, run in runs.items() if isinstance(run, Latest) and basin not in bodies]
    without: dict[str, Problem] = {basin: run for basin, run in runs.items() if isinstance(run, NotFound)}
    without |= looked_up.lacking
    parts = stored_parts(session, latest, representation.members)
    for run, of_basin in zip(latest, parts, strict=True):
        basin = run.basin.basin_id
        try:
            forecast = basin_forecast(run, of_basin, representation)
        except NoArea as error:
            without[basin] = error
        else:
            bodies[basin] = body_of(forecast)
            rendered.put(tag_of(run, representation), bodies[basin])
    return b'{"forecasts":[%b],"without":%b}' % (
        b",".join(bodies[basin] for basin in looked_up.basins if basin in bodies),
        _WITHOUT.dump_json(
            [
                WithoutForecast(basin=basin, type=f"/problems/{without[basin].kind}", reason=str(without[basin]))
                for basin in looked_up.basins
                if basin in without
            ]
        ),
    )


of_one = run_table("forecast", "Forecast of {0.basin}")


def of_many(answer: BasinForecasts, sites: Mapping[str, Site], unit: str) -> Table:
    """Return the forecasts of many basins; one without any has one row with the reason."""
    parts = [columns_of(forecast, sites) for forecast in answer.forecasts] or [empty_columns(unit)]
    return stacked("forecasts", "Latest forecasts", [*parts, *(_without(basin, sites) for basin in answer.without)])


def empty_columns(unit: str) -> list[Column]:
    """Return the columns of any forecast, without rows and members."""
    fields: dict[str, Any] = dict.fromkeys(BasinForecast.model_fields)
    fields |= {"time": [], "lead_days": [], "members": {}, "units": {"discharge": unit}}
    return columns_of(BasinForecast.model_construct(**fields), {})


def _without(basin: WithoutForecast, sites: Mapping[str, Site]) -> list[Column]:
    return [
        *basin_columns(basin.basin, sites.get(basin.basin, NOWHERE), 1),
        constant("reason", "why there are no values", "text", basin.reason, 1),
    ]


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
        tag = tag_of_key(*newest, basin, form)
        if (body := rendered.get(tag)) is not None:
            return _answered(answer, basin, tag, lambda: body)
    latest = lookup.latest(session, basin, at)
    tag = tag_of(latest, form)
    return _answered(answer, basin, tag, lambda: rendered_forecast(session, rendered, latest, form))


@router.get(
    "/forecasts",
    summary="The latest forecasts of many basins",
    **documented_responses(BasinForecasts, UnknownRegion, formats=SERIES),
)
def read_latest_forecasts(
    session: Reading,
    rendered: RenderedAnswers,
    answer: SeriesAnswer,
    basins: lookup.SelectedBasins,
    form: LatestForm,
    at: AsKnown,
    *,
    budget: RequestBudget,
) -> Response:
    """The latest forecast of each basin in one answer: of the basins named, of those in a hydrologic
    unit, a box or a region, or of all. A basin that has none is in `without` with the reason; a request for more
    basins than one answer holds is refused. `known_at` works as for one basin; with `updated_since` only new
    forecasts."""
    budget.charge(len(basins) * VALUES_OF_BASIN)
    looked_up = look_up(session, basins, form, at)
    if form.members:
        budget.spend(member_values(looked_up), "members", "ask for fewer basins.")
    places = answer.places(basins)

    def body() -> bytes:
        return body_of_many(session, rendered, looked_up, form, at)

    return answer.tagged(
        looked_up.tag,
        body,
        lambda: of_many(BasinForecasts.model_validate_json(body()), places, form.units),
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
    tag = tag_of(latest, form)
    return _answered(answer, basin, tag, lambda: rendered_forecast(session, rendered, latest, form))


def _answered(answer: Responder, basin: str, tag: str, body: Callable[[], bytes]) -> Response:
    places = answer.places([basin])
    return answer.tagged(
        tag,
        body,
        lambda: of_one(BasinForecast.model_validate_json(body()), places),
        places=places,
        cache_control=SHORTLY,
    )
