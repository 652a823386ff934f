"""The newest run of a basin on a dry spell."""

from datetime import datetime

from sqlalchemy.orm import Session

from hydrology.base.calendar import Day
from hydrology.base.errors import InvalidInput
from records.basins import basins
from records.forecasts.latest import Latest, NoForecast, NoModel, newest_on
from records.runs import runs
from records.versions import promotions


class NotDry(InvalidInput):
    """The run is not on a dry spell."""

    kind = "not-dry"


def newest(session: Session, basin: str, at: datetime, t0: Day | None = None) -> Latest:
    """Return the newest run on a dry spell by the current version of a basin, from a T0 or from any.

    Raises:
        UnknownBasin, NoModel: there is no such basin, or no version is current for it.
        NoForecast: there is no such run; the sentence says how to make one.
    """
    basins.require(session, basin)
    if basin not in promotions.current(session, [basin]):
        raise NoModel(f"No model version is current for {basin}: promote one.")
    for run in newest_on(session, basin, "dry", at):
        if t0 in (None, run.t0):
            return Latest(runs.get(session, run.run_id), runs.basin_of(session, run.run_id, basin), None)
    of_t0, option = ("", "") if t0 is None else (f" from T0 {t0}", f" --t0 {t0}")
    raise NoForecast(
        f"No run of {basin}{of_t0} tells what would flow if nothing more fell. To make one: freshet forecast --basin "
        f"{basin}{option} --weather dry --horizon 180."
    )


def require_dry(run: runs.Run) -> None:
    """Refuse a run on other weather.

    Raises:
        NotDry: it is one.
    """
    if run.forcing_kind != "dry":
        raise NotDry(
            f"Run {run.id} is on {run.forcing_kind} weather: ask for one that is on `dry`, or leave `run` out."
        )
