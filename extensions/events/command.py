"""`freshet events`: events of hydrographs and their errors."""

from rich.console import RenderableType

from extensions.events.endpoints import events_of
from freshet.cli.options import Basin, Version
from freshet.cli.output import inform_missing, listing
from freshet.cli.reading import Reading, Shown, reads
from freshet.commands.skill import OfSeason, in_training
from hydrology.verification.results import ALL_YEAR

_EVENTS = (
    "observed peak: observed.peak | simulated peak: simulated.peak | mm/day: observed.height_mm_per_day | "
    "errors.peak_time_days | errors.peak_height_percent | errors.volume_percent | errors.onset_days"
)


@reads
def events(at: Reading, basin: Basin, version: Version = None, season: OfSeason = ALL_YEAR) -> Shown:
    """List observed and simulated events of a basin, with errors of peak, volume and onset.

    Events are cut from the flow of the newest evaluation: independent peaks over the flow that 2 % of the observed days
    exceed.
    """
    found = events_of(at.session, basin, version, season)
    scores = found.scores

    def text() -> RenderableType:
        inform_missing(found, found.missing)
        title = (
            f"{basin}, version {found.scored}, {found.period.first_day} to {found.period.last_day}, "
            f"{in_training(found.period_use)}: {scores.observed} observed events, {scores.matched} of them simulated, "
            f"{scores.simulated - scores.matched} false alarms"
        )
        return listing(found.events, _EVENTS, title)

    return Shown(found, text)
