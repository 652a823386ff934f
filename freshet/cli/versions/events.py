"""`freshet events`: how well a version simulates the events of a basin."""

from typing import Annotated

from freshet.cli.context import reading
from freshet.cli.options import Basin, option
from freshet.cli.output import Json, answer, first_rows, inform
from freshet.cli.versions.verified import in_training
from hydrology.verification.results import ALL_YEAR, Season

_ERRORS = ("peak_time_days", "peak_height_percent", "volume_percent", "onset_days")


def events(
    basin: Basin,
    version: Annotated[str | None, option("VERSION", "A model version. Default: the basin's current one.")] = None,
    season: Annotated[Season, option("SEASON", "Season of the peak: all, DJF, MAM, JJA or SON.")] = ALL_YEAR,
    as_json: Json = False,
) -> None:
    """List observed and simulated events of a basin, with errors of peak, volume and onset.

    Events are cut from the flow of the newest evaluation: independent peaks over the flow that 2 % of the observed days
    exceed.
    """
    from app.versions.events.service import of_basin

    with reading() as session:
        found = of_basin(session, basin, version, season)
    scores = found.scores
    for reason in dict.fromkeys(found.missing.values()):
        inform(reason)
    rows = [
        (
            case.observed and case.observed.peak,
            case.simulated and case.simulated.peak,
            case.observed and case.observed.height_mm_per_day,
            *(case.errors and case.errors[name] for name in _ERRORS),
        )
        for case in found.events
    ]
    title = (
        f"{basin}, version {found.scored}, {found.period.first_day} to {found.period.last_day}, "
        f"{in_training(found.period_use)}: {scores.observed} observed events, {scores.matched} of them simulated, "
        f"{scores.simulated - scores.matched} false alarms"
    )
    headings = ("observed peak", "simulated peak", "mm/day", *(name.replace("_", " ") for name in _ERRORS))
    answer(found.model_dump(mode="json"), as_json, first_rows(headings, rows, title))
