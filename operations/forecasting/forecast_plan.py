"""Inputs of a forecast run, and the runs that can be computed. Basins, days and weather."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day
from hydrology.base.errors import DataProblem, InvalidInput
from jobspec.jobs.forecasting import ForecastParams
from operations.forecasting.plan.of_version import inputs_of, possible_plans
from operations.forecasting.plan.types import ForecastInputs, Plan
from operations.versions.load_networks import load_version
from records.database.engine import Database
from records.database.work import Work
from records.versions import versions

__all__ = ["ForecastInputs", "NothingToForecast", "Plan", "plans", "possible_plans", "read_inputs", "require"]


class NothingToForecast(DataProblem):
    """No basin of the request can be forecast."""

    kind = "nothing-to-forecast"


def read_inputs(
    database: Database,
    version: str,
    names: Sequence[str],
    known: Mapping[str, Day] | None = None,
    *,
    product: str | None = None,
) -> ForecastInputs:
    """Read the inputs for the runs of a version.

    Args:
        known: the last known day of each basin's record; None: all stored days are known.
        product: the product that it is to take; None for any.

    Raises:
        InvalidInput: the version takes another product than requested.
    """
    with database.reading() as session:
        loaded = load_version(session, version)
        _require_product(loaded.version, product)
        return inputs_of(session, loaded, names, known)


def _require_product(version: versions.Version, product: str | None) -> None:
    if product not in (None, version.product):
        raise InvalidInput(
            f"Version {version.id} takes {version.product}, not {product}, and products are never mixed: "
            f"forecast with {version.product}, or train a version on {product}."
        )


def plans(work: Work, inputs: ForecastInputs, params: ForecastParams) -> list[Plan]:
    """Choose the days and weather of a version's runs, leaving out basins that lack either.

    There is one run; where the newest weather forecasts of the basins differ, there is one for each. The first lists
    why basins are left out.

    Raises:
        InvalidInput: T0 has not ended.
        UnknownWeather: the requested weather forecast does not exist.
        NothingToForecast: no basin can be forecast.
    """
    require(inputs.forcings, inputs.failures)
    possible, failures = possible_plans(work, inputs, params)
    require(possible, failures)
    return [replace(possible[0], failures=failures), *possible[1:]]


def require(usable: Collection[Any], failures: Mapping[str, Absent]) -> None:
    """Raise where there is nothing to forecast.

    Raises:
        NothingToForecast: with the reasons.
    """
    if not usable:
        reasons = [str(reason) for reason in failures.values()]
        more = f" And {len(reasons) - 3} more." if len(reasons) > 3 else ""
        raise NothingToForecast(" ".join(reasons[:3]) + more)
