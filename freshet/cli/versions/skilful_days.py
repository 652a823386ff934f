"""`freshet skilful-days`: until which day ahead forecasts of a basin are skilful."""

from typing import TYPE_CHECKING, Annotated

from freshet.cli.context import reading
from freshet.cli.options import Basin, option
from freshet.cli.output import Json, answer, inform, table

if TYPE_CHECKING:
    from app.versions.verification.decision_schemas import MonthHeadline


def skilful_days(
    basin: Basin,
    version: Annotated[str | None, option("VERSION", "A model version. Default: the basin's current one.")] = None,
    as_json: Json = False,
) -> None:
    """Show until which day ahead forecasts beat climatology, by month.

    The last lead time up to which, from the first day ahead on, the whole 95 % interval of the CRPS skill is above 0,
    by the stored verification.
    """
    from app.versions.verification.skilful_days import of_basin

    with reading() as session:
        found = of_basin(session, basin, version)
    for headline in found.headlines:
        for reason in dict.fromkeys(headline.missing.values()):
            inform(f"{headline.forecaster}, {headline.weather}: {reason}")
    rows = [
        (of.origin, of.weather, of.forecaster, of.period.first_day, of.period.last_day, *map(_in_words, of.months))
        for of in found.headlines
    ]
    headings = ("origin", "weather", "forecaster", "first day", "last day", *(str(month) for month in range(1, 13)))
    title = f"{basin}, version {found.version}: skilful to day ... (independent forecasts), by month"
    answer(found.model_dump(mode="json"), as_json, table(headings, rows, title))


def _in_words(month: "MonthHeadline") -> str:
    return "" if month.skilful_to_day is None else f"{month.skilful_to_day} ({month.independent_issues})"
