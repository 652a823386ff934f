"""The newest recession run of a basin: a run without rain."""

from datetime import datetime

from sqlalchemy.orm import Session

from hydrology.base.calendar import Day
from hydrology.base.errors import InvalidInput
from records.forecasts.latest import Latest, NoForecast, newest_on, newest_result
from records.runs import run_types


class NotDry(InvalidInput):
    """The run is not a recession run."""

    kind = "not-dry"


def newest(session: Session, basin: str, at: datetime, t0: Day | None = None) -> Latest:
    """Return the newest recession run of a basin: of its current version, otherwise of the one before.

    Raises:
        UnknownBasin, NoModel: there is no such basin, or no version is current for it.
        NoForecast: there is no such run; the message gives the command for one.
    """
    for run, of, _ in newest_on(session, basin, "dry", at):
        if t0 in (None, of):
            return newest_result(session, run, basin)
    of_t0, option = ("", "") if t0 is None else (f" from T0 {t0}", f" --t0 {t0}")
    raise NoForecast(
        f"There is no run of {basin}{of_t0} without rain after T0. Start one: freshet forecast --basin {basin}{option} "
        "--weather dry --horizon 180."
    )


def require_dry(run: run_types.Run) -> None:
    """Refuse a run with other weather.

    Raises:
        NotDry: the run has other weather.
    """
    if run.forcing_kind != "dry":
        raise NotDry(f"Run {run.id} has {run.forcing_kind} weather: name a run with `dry` weather, or leave `run` out.")
