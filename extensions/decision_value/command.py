"""`freshet decision-value`: what acting on the chance of high flow is worth."""

from typing import Annotated

from rich.console import RenderableType

from extensions.decision_value.endpoints import decision_value_of
from freshet.cli.options import Basin, Version, option
from freshet.cli.output import inform, listing
from freshet.cli.reading import Reading, Shown, reads
from freshet.commands.skill import OfSeason
from hydrology.verification.results import ALL_YEAR


@reads
def decision_value(
    at: Reading,
    basin: Basin,
    version: Version = None,
    season: OfSeason = ALL_YEAR,
    cost_loss: Annotated[
        float, option("RATIO", "Cost of acting over the loss that it avoids, between 0 and 1.", min=0.001, max=0.999)
    ] = 0.2,
) -> Shown:
    """Show the relative economic value of acting at each chance of high flow, by lead time.

    1 is a perfect forecast; 0 the better of always and never acting.
    """
    found = decision_value_of(at.session, basin, version, season, (cost_loss,))

    def text() -> RenderableType:
        for reason in dict.fromkeys(lead.missing["value"] for lead in found.leads if lead.missing):
            inform(reason)
        chances = [f"{chance:.0%}" for chance in found.act_at]
        valued = [(lead, [value for (value,) in lead.value]) for lead in found.leads if lead.value is not None]
        rows = [dict(lead) | dict(zip(chances, values, strict=True)) for lead, values in valued]
        shown = " | ".join(["weather | period.first_day | period.last_day | forecaster | lead | base_rate", *chances])
        title = f"{basin}, version {found.version}, cost/loss {cost_loss:g}: value of acting at a chance of"
        return listing(rows, shown, title, whole=True)

    return Shown(found, text)
