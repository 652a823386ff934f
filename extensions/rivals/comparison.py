"""Compares rivals' forecasts with the own ones, issued on the same days, over basins."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from sqlalchemy.orm import Session

from hydrology.base.doc import Doc
from hydrology.scores.comparisons import Difference, Quartiles, difference, quartiles
from hydrology.verification.forecasts import beside_rival, of_rival
from hydrology.verification.results import ALL_YEAR, Season
from records.database.stored import grouped
from records.verification import lead_scores
from records.verification.lead_scores import BasinVerification

PERFECT = {"crps_mm_per_day": 0.0, "nse_of_median": 1.0}
"""The compared scores, and the value of each for perfect forecasts."""


@dataclass(frozen=True, slots=True)
class RivalScore:
    """A score of a rival's forecasts and of the own ones, on the same days in the same basins."""

    rival: str
    weather: Annotated[str, Doc("The own weather after T0: a weather forecast's source and model, or `climatology`.")]
    lead: Annotated[int, Doc("Days after the own T0, which is the last day with known weather.")]
    metric: Annotated[str, Doc("`crps_mm_per_day` or `nse_of_median`.")]
    forecasts: Annotated[int, Doc("Number of forecasts of all basins that both have, with observed flow.")]
    theirs: Annotated[Quartiles, Doc("Of the rival, over basins.")]
    own: Annotated[Quartiles, Doc("Of the version's forecasts, calibrated where they can be.")]
    difference: Annotated[
        Difference, Doc("Of the rival to the own forecasts by basin; `better` counts basins in which the rival is.")
    ]


def compare(session: Session, version: str, rivals: Sequence[str], season: Season = ALL_YEAR) -> Iterator[RivalScore]:
    """Yield the scores of rivals beside those of a version by rival, weather, lead and metric, as last verified."""
    names = {
        name: (rival, name == of_rival(rival)) for rival in rivals for name in (of_rival(rival), beside_rival(rival))
    }
    found = lead_scores.of_forecasters(session, version, [*names], season)
    groups = grouped(((names[row.forecaster][0], row.weather, row.lead), row) for row in found)
    for (rival, weather, lead), rows in sorted(groups.items()):
        theirs, own = (
            {row.basin_id: row for row in rows if names[row.forecaster][1] is is_rival} for is_rival in (True, False)
        )
        for metric, perfect in PERFECT.items():
            values = [*_paired(theirs, own, metric)]
            if values:
                of_rivals, of_version = zip(*values, strict=True)
                yield RivalScore(
                    rival=rival,
                    weather=weather,
                    lead=lead,
                    metric=metric,
                    forecasts=sum(row.scores.n for row in theirs.values()),
                    theirs=quartiles(of_rivals),
                    own=quartiles(of_version),
                    difference=difference(of_rivals, of_version, perfect=perfect),
                )


def _paired(
    theirs: dict[str, BasinVerification], own: dict[str, BasinVerification], metric: str
) -> Iterator[tuple[float, float]]:
    """Yield the score of both in each basin where both have it."""
    for basin in theirs.keys() & own.keys():
        first, second = (getattr(of[basin].scores, metric) for of in (theirs, own))
        if first is not None and second is not None:
            yield first, second
