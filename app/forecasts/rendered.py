"""Latest forecasts in JSON, from the cache where possible: of one basin, or of many in one answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy.orm import Session

from app.exports.answers import body_of
from app.forecasts import lookup
from app.forecasts.discharge import Representation
from app.forecasts.forecast import WithoutForecast, basin_forecast, forecast_of, stored_parts
from app.http.conditional import ResponseCache, entity_tag
from app.http.dependencies import NoArea
from hydrology.base.calendar import Day, age_days
from hydrology.base.errors import NotFound, Problem
from records.forecasts.latest import Latest, newest_run_keys


def tag_of(latest: Latest, representation: Representation) -> str:
    """Return the entity tag, from the run's id, the representation, its adjustment, whether it was
    pruned, and whether the basin is official. A run never changes otherwise."""
    return _tag(representation, *identity(latest, representation.at))


def tag_of_key(run: str, t0: Day, basin: str, representation: Representation) -> str:
    """Return the entity tag of a latest forecast that is not adjusted, without reading it."""
    at = representation.at
    return _tag(representation, run, basin, None, None if at is None else age_days(t0, at))


def _tag(representation: Representation, *parts: Any) -> str:
    return entity_tag(representation.units, representation.members, *parts)


def identity(latest: Latest, at: datetime | None) -> tuple[Any, ...]:
    """Return the JSON values that determine an answer about a run, including its age if stated."""
    newer = latest.superseded_by and latest.superseded_by.run_id
    awaited = () if latest.awaited is None else (latest.awaited,)
    pruned = () if latest.basin.pruned is None else (str(latest.basin.pruned),)
    unofficial = () if latest.is_official else ("unofficial",)
    adjusted = () if latest.adjustment is None else (latest.adjustment,)
    age = None if at is None else age_days(latest.run.t0, at)
    return latest.run.id, latest.basin.basin_id, newer, age, *pruned, *awaited, *unofficial, *adjusted


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


def body(
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
