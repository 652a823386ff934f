"""The commands that show stored skill: `errors`, `skilful-days`, `simulation`."""

from typing import Annotated, Any

from rich.console import RenderableType

from app.forecasts import worst_errors
from app.versions import simulation as simulations
from app.versions import skilful_days as headlines
from freshet.cli.options import Basin, Version, option
from freshet.cli.output import inform, inform_missing, listing, series
from freshet.cli.reading import DischargeUnits, Reading, Shown, reads, reads_series
from hydrology.attribution import CAUSES, Measure
from hydrology.base.basins import basin_id
from hydrology.verification.held_out_years import HELD_OUT, PeriodUse
from hydrology.verification.results import ALL_YEAR, Season
from records.basins import basins
from records.verification.error_splits import ErrorFilter
from records.versions import versions

OfSeason = Annotated[Season, option("SEASON", "Season of the days: all, DJF, MAM, JJA or SON.", "--season")]


@reads
def errors(
    at: Reading,
    of: Annotated[Measure, option("MEASURE", "Error of the volume or of the peak.")] = "volume",
    version: Annotated[str | None, option("VERSION", "A model version. Default: all.")] = None,
    basin: Annotated[str | None, option("BASIN", "A basin. Default: all.", parser=basin_id)] = None,
    season: OfSeason = ALL_YEAR,
    limit: Annotated[int, option("COUNT", "Number of forecasts.", min=1, max=100)] = 10,
) -> Shown:
    """List the worst verified forecasts, with their errors split by cause.

    The error of a forecast's volume or peak is that of the weather after T0, of the initial state and of the network.
    `freshet verify` splits it once the flow of all days has settled.
    """
    if version is not None:
        versions.get(at.session, version)
    if basin is not None:
        basins.require(at.session, basin)
    found = worst_errors.worst_errors(at.session, of, ErrorFilter(version=version, basin=basin, season=season), limit)

    def text() -> RenderableType:
        inform_missing(found, found.missing)
        shown = "basin | days.first_day | days.last_day"
        shown += "".join(f" | {of}.{name}" for name in ("observed", "error", *CAUSES))
        unit = "mm" if of == "volume" else "mm/day"
        return listing(found.cases, shown, f"Worst of {found.forecasts}, {of} in {unit}")

    return Shown(found, text)


@reads
def skilful_days(at: Reading, basin: Basin, version: Version = None) -> Shown:
    """Show until which day ahead forecasts beat climatology, by month.

    The last lead time up to which, from the first day ahead on, the whole 95 % interval of the CRPS skill is above 0,
    by the stored verification.
    """
    found = headlines.skilful_days_of(at.session, basin, version)

    def text() -> RenderableType:
        for headline in found.headlines:
            for reason in dict.fromkeys(headline.missing.values()):
                inform(f"{headline.forecaster}, {headline.weather}: {reason}")
        months = [str(month) for month in range(1, 13)]
        rows = [dict(one) | dict(zip(months, map(_in_words, one.months), strict=True)) for one in found.headlines]
        shown = " | ".join(["origin | weather | forecaster | period.first_day | period.last_day", *months])
        title = f"{basin}, version {found.version}: skilful to day ... (independent forecasts), by month"
        return listing(rows, shown, title, whole=True)

    return Shown(found, text)


@reads_series
def simulation(at: Reading, basin: Basin, version: Version = None, units: DischargeUnits = "mm/day") -> Shown:
    """Show simulated and observed flow on the days of a basin's newest evaluation."""
    evaluated = simulations.newest_evaluation(at.session, basin, version)
    found = simulations.simulation_of(at.session, *evaluated, units=units)
    days = f"{found.period.first_day}..{found.period.last_day}, {in_training(found.period_use)}"
    title = f"{basin}, version {found.scored}, {days}, {found.units}"
    return Shown(
        found,
        lambda: series(found, "simulated | observed", title),
        lambda: simulations.simulation_table(found, basins.sites(at.session, [basin])),
    )


def _in_words(month: Any) -> str:
    return "" if month.skilful_to_day is None else f"{month.skilful_to_day} ({month.independent_issues})"


def in_training(use: PeriodUse) -> str:
    """Return the use of scored days in words."""
    return use if use == HELD_OUT else f"use in its training: {use}"
