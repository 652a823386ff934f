"""EDR collections: the latest forecasts, and observed discharge by source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

import numpy as np
from sqlalchemy.orm import Session

from app.basins.observations import DISCHARGE, variable_columns
from app.exports.table import Column, instant_text
from app.forecasts import endpoints as forecast_table
from extensions.edr import FORECASTS
from hydrology.base.calendar import Period
from hydrology.base.errors import NotFound
from hydrology.base.units import STANDARD
from records.basins import basins
from records.basins.basins import Site
from records.database.retention import Gone
from records.forecasts.latest import Latest, latest_many
from records.runs import run_types, runs
from records.runs.run_types import Run, UnknownRun
from records.series import series

_OBSERVED = f"{DISCHARGE}-"


class UnknownCollection(NotFound):
    """There is no such collection."""


class UnknownLocation(NotFound):
    """The collection has no such location: the basin is not in it, or has no known location."""


class UnknownInstance(NotFound):
    """The collection has no such instance: those of `forecasts` are the issued runs and reforecasts."""


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection.

    Attributes:
        columns: its series, without values.
        days: the first to the last day of any of them; None where there is none yet.
        run: the run whose forecasts it has, of an instance; None for the latest.
    """

    id: str
    title: str
    description: str
    columns: Sequence[Column]
    sites: Mapping[str, Site]
    days: Period | None
    run: str | None = None

    @property
    def product(self) -> str:
        """The source of its observations."""
        return self.id.removeprefix(_OBSERVED)

    def require(self, basin: str) -> None:
        if basin not in self.sites:
            raise UnknownLocation(f"{self.id} has no location {basin!r}: list its locations.")


def collections(session: Session, at: datetime) -> list[Collection]:
    """Return the collections, as the service's clock sees them."""
    ids, products = basins.chosen(session), series.products(session, DISCHARGE)
    return [_forecasts(session, ids, at), *(_observed(session, ids, product) for product in products)]


def collection(session: Session, id_: str, at: datetime, of: Sequence[str] | None = None) -> Collection:
    """Return a collection, of the basins named or of all."""
    ids = basins.chosen(session) if of is None else of
    if id_ == FORECASTS:
        return _forecasts(session, ids, at)
    product = id_.removeprefix(_OBSERVED)
    if not id_.startswith(_OBSERVED) or product not in series.products(session, DISCHARGE):
        raise UnknownCollection(f"No collection is called {id_!r}: /v1/edr/collections lists the collections.")
    return _observed(session, ids, product)


def instance(session: Session, id_: str, run: str, at: datetime, of: Sequence[str] | None = None) -> Collection:
    """Return the forecasts of one run, of the basins named or of all."""
    missing = UnknownInstance(f"{id_} has no instance {run!r}: list its instances.")
    require_instances(session, id_, at)
    try:
        found = runs.get(session, run)
    except (UnknownRun, Gone):
        raise missing from None
    if found.purpose not in run_types.PUBLISHED or found.available_at > at or found.status == "failed":
        raise missing
    (result,) = of_runs(session, [found], of)
    return result


def require_instances(session: Session, id_: str, at: datetime) -> None:
    """Raise UnknownCollection or UnknownInstance where a collection has no instances."""
    if id_ != FORECASTS:
        collection(session, id_, at, [])
        raise UnknownInstance(f"{id_} has no instances: those of {FORECASTS} are its runs.")


def of_runs(session: Session, found: Sequence[Run], of: Sequence[str] | None = None) -> list[Collection]:
    """Return the forecasts of each of some runs, of the basins named or of all."""
    by_run: dict[str, list[str]] = {run.id: [] for run in found}
    for run, basin in runs.issued_pairs(session, list(by_run)):
        if of is None or basin in of:
            by_run[run].append(basin)
    places = _placed(session, sorted({basin for of_run in by_run.values() for basin in of_run}))
    return [
        Collection(
            FORECASTS,
            f"Forecasts of {run.t0}",
            f"The {run.purpose} run from T0 {run.t0}, issued at {instant_text(run.issued_at)}.",
            _forecast_columns(),
            {basin: places[basin] for basin in by_run[run.id] if basin in places},
            days=Period(run.t0 + _days(1), run.t0 + _days(run.horizon_days)),
            run=run.id,
        )
        for run in found
    ]


def _forecasts(session: Session, ids: Sequence[str], at: datetime) -> Collection:
    forecasts = latest_many(session, ids, at)
    newest = {basin: forecast.run for basin, forecast in forecasts.items() if isinstance(forecast, Latest)}
    periods = [Period(run.t0 + _days(1), run.t0 + _days(run.horizon_days)) for run in newest.values()]
    return Collection(
        FORECASTS,
        "Latest forecasts",
        "The latest forecast of each basin: calibrated discharge, the members' discharge, and water in the basin.",
        _forecast_columns(),
        _placed(session, list(newest)),
        _span(periods),
    )


def _observed(session: Session, ids: Sequence[str], product: str) -> Collection:
    spans = series.spans(session, ids, product, DISCHARGE)
    return Collection(
        f"{_OBSERVED}{product}",
        f"Observed discharge ({product})",
        f"Daily discharge from {product}, with flags; its days are whole calendar years.",
        variable_columns(DISCHARGE, [], [], STANDARD, {}),
        _placed(session, list(spans)),
        _span([*spans.values()]),
    )


@cache
def _forecast_columns() -> Sequence[Column]:
    columns = forecast_table.empty_columns(STANDARD)
    return [column for column in columns if not column.of_basin and column.name != "time"]


def _placed(session: Session, ids: Sequence[str]) -> dict[str, Site]:
    return {
        basin: site
        for basin, site in basins.sites(session, ids).items()
        if site.latitude is not None and site.longitude is not None
    }


def _span(periods: Sequence[Period]) -> Period | None:
    firsts, lasts = [period.first for period in periods], [period.last for period in periods]
    return Period(min(firsts), max(lasts)) if periods else None


def _days(number: int) -> np.timedelta64:
    return np.timedelta64(number, "D")
