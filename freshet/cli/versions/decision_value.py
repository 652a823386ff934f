"""`freshet decision-value`: which chance to act on, and what it is worth."""

from typing import Annotated

from freshet.cli.context import reading
from freshet.cli.options import Basin, option
from freshet.cli.output import Json, answer, inform, table
from hydrology.verification.results import ALL_YEAR, Season

_OF_LEAD = ("weather", "first day", "last day", "forecaster", "lead", "base rate")


def decision_value(
    basin: Basin,
    version: Annotated[str | None, option("VERSION", "A model version. Default: the basin's current one.")] = None,
    season: Annotated[Season, option("SEASON", "Season of the forecast days: all, DJF, MAM, JJA or SON.")] = ALL_YEAR,
    cost_loss: Annotated[
        float, option("RATIO", "Cost of acting over the loss that it avoids, between 0 and 1.", min=0.001, max=0.999)
    ] = 0.2,
    as_json: Json = False,
) -> None:
    """Show the relative economic value of acting at each chance of high flow, by lead time.

    1 is a perfect forecast; 0 the better of always and never acting.
    """
    from app.versions.verification.decision_value import of_basin

    with reading() as session:
        found = of_basin(session, basin, version, season, (cost_loss,))
    leads = [lead for lead in found.leads if lead.value is not None]
    for reason in dict.fromkeys(lead.missing["value"] for lead in found.leads if lead.missing):
        inform(reason)
    rows = [
        (
            *(lead.weather, lead.period.first_day, lead.period.last_day, lead.forecaster, lead.lead, lead.base_rate),
            *(value for (value,) in lead.value or ()),
        )
        for lead in leads
    ]
    headings = (*_OF_LEAD, *(f"{chance:.0%}" for chance in found.act_at))
    title = f"{basin}, version {found.version}, cost/loss {cost_loss:g}: value of acting at a chance of"
    answer(found.model_dump(mode="json"), as_json, table(headings, rows, title))
