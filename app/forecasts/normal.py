"""Normal flow on the days ahead, and the forecast in percent of it."""

from app.forecasts.discharge import Representation, in_units
from app.forecasts.schemas import Columns, NormalFlow
from app.http.json_numbers import column, rounded
from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from records.runs import run_arrays, run_types


def normal_flow(
    stored: run_arrays.RunSeries | None,
    basin: run_types.RunBasin,
    representation: Representation,
    discharge: Columns | None,
    calibrated: Columns | None,
    *,
    past: int,
) -> NormalFlow | None:
    """Return the normal flow of the days ahead with the forecast in % of it; None if the run has none.

    Args:
        discharge, calibrated: in the requested unit.
        past: number of past days after T0, which the percentages leave out.
    """
    if stored is None or discharge is None:
        return None
    normal = column(in_units(stored.values, basin, representation.units))
    return NormalFlow(
        discharge=normal,
        percent_of_normal=_percent(discharge, normal, past),
        calibrated_percent_of_normal=None if calibrated is None else _percent(calibrated, normal, past),
    )


def _percent(flow: Columns, normal: list[float], past: int) -> float | None:
    to_come = sum(normal[past:])
    return rounded(100 * sum(flow["median"][past:]) / to_come) if to_come > 0 else None


def missing_in_normal(normal: NormalFlow | None, basin: run_types.RunBasin) -> dict[str, Absent]:
    """Return why the normal, or a part of it, is null."""
    if normal is None:
        return {"normal": basin.why(basin.summary.normal_mm)}
    if normal.percent_of_normal is None:
        return dict.fromkeys(
            ("normal.percent_of_normal", "normal.calibrated_percent_of_normal"), absent(Reason.NORMAL_IS_0)
        )
    if normal.calibrated_percent_of_normal is None:
        return {"normal.calibrated_percent_of_normal": basin.why_not_calibrated}
    return {}
