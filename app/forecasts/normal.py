"""Normal flow on the days ahead, and the forecast in percent of it."""

from app.forecasts.discharge import Representation, in_units
from app.forecasts.schemas import Columns, NormalFlow
from app.http.json_numbers import column, rounded
from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from records.runs import runs


def normal_flow(
    stored: runs.RunSeries | None,
    basin: runs.RunBasin,
    representation: Representation,
    discharge: Columns | None,
    calibrated: Columns | None,
) -> NormalFlow | None:
    """Return the normal flow of the days ahead with the forecast in % of it; None if the run has none.

    Args:
        discharge, calibrated: in the requested unit.
    """
    if stored is None or discharge is None:
        return None
    normal = column(in_units(stored.values, basin, representation.units))
    return NormalFlow(
        discharge=normal,
        percent_of_normal=_percent(discharge, normal),
        calibrated_percent_of_normal=None if calibrated is None else _percent(calibrated, normal),
    )


def _percent(flow: Columns, normal: list[float]) -> float | None:
    return rounded(100 * sum(flow["median"]) / sum(normal)) if sum(normal) > 0 else None


def missing_in_normal(normal: NormalFlow | None, basin: runs.RunBasin) -> dict[str, Absent]:
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
