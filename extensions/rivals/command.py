"""`freshet rivals`: add the flows of other models and services, and see how they compare."""

import re
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from extensions.rivals.endpoints import comparison_of
from extensions.rivals.reading import SUFFIXES, read
from extensions.rivals.storing import add as store
from extensions.rivals.storing import add_scores
from freshet.cli.context import opened
from freshet.cli.options import argument, option
from freshet.cli.output import Json, answer, inform_left_out, listing, table
from freshet.cli.reading import Reading, Shown, reads
from hydrology.base.calendar import Period
from hydrology.base.errors import InvalidInput
from ingestion.base import ANY_FILES
from ingestion.sheet import Sheet
from jobspec.fields import ID
from records.verification import rivals


def _name(text: str) -> str:
    if not re.fullmatch(ID, text):
        raise InvalidInput(f"{text[:64]!r} cannot name a rival: give {ID}.")
    return text


Name = Annotated[str, argument("NAME", "Its name, such as nwm.", parser=_name)]
Source = Annotated[str, option("TEXT", "Whom the flows come from and on which terms, to be shown with them.")]
Days = Annotated[str | None, option("FIRST..LAST", "Score a simulation over these days, for freshet compare.")]
_COLUMNS = (
    "rival | weather | lead | score: metric | basins: difference.n | theirs: theirs.median | own: own.median | "
    "difference: difference.median | better: difference.better | worse: difference.worse | p: difference.p | "
    "forecasts"
)


def add(
    name: Name,
    file: Annotated[Path, argument("FILE", f"A file that ends in {', '.join(SUFFIXES)}.")],
    source: Source,
    unit: Annotated[str | None, option("m3/s|cfs", "The unit of the flow, where the file does not state it.")] = None,
    basins: Annotated[
        Path | None, option("FILE", "CSV with columns theirs and basin, where their identifiers are not ours.")
    ] = None,
    period: Days = None,
    as_json: Json = False,
) -> None:
    """Add the forecasts or the simulation of another model or service, a rival, from a file.

    Rows or dimensions are basin, issue and day (or lead), and perhaps member; without issues it is a simulation. They
    are judged beside the own forecasts by `freshet verify` and never mixed into them. Added again, flows of the same
    basin and issue are replaced.
    """
    found = read(file, unit, None if basins is None else _named(basins))
    with opened() as context:
        done = store(context, name, source, found, None if period is None else Period.parse(period))
        context.record("rival added", name, basins=done.basins, issues=done.issues)
    inform_left_out(f"{basin}: {reason}" for basin, reason in done.left_out.items())
    rows = [("kind", done.kind), ("basins", done.basins), ("issues", done.issues), ("basins scored", done.scored)]
    answer(asdict(done), as_json, table(("", ""), rows, f"Rival {name}"))


def scores(
    name: Annotated[str, argument("NAME", "The model's name, as comparisons show it.")],
    file: Annotated[Path, argument("FILE", "CSV with a column basin (or gauge_id), and one for each score.")],
    source: Source,
    period: Annotated[str, option("FIRST..LAST", "The days that were scored.")],
    metric: Annotated[list[str] | None, option("NAME", "Only this score; repeat it for more.")] = None,
    as_json: Json = False,
) -> None:
    """Add published scores of a model by basin, for freshet compare over the same days.

    Columns have the names of the scores here (nse, kge, fhv and so on); others are passed over.
    """
    with opened() as context:
        count = add_scores(context, file, name, source, Period.parse(period), metric or ())
        context.record("data ingested", f"published scores of {name}", basins=count)
    answer({"model": name, "basins": count}, as_json, f"Scores of {name} in {count} basins are stored.")


@reads
def show(at: Reading, version: Annotated[str, argument("VERSION", "A model version.")]) -> Shown:
    """Show the scores of rivals' forecasts beside those of a version, on the same days and basins."""
    found = comparison_of(at.session, version)
    title = f"Rivals beside version {version}, medians over basins"
    return Shown(found, lambda: listing(found.scores, _COLUMNS, title))


def remove(name: Name) -> None:
    """Remove a rival and its flows. Scores that were stored of it stay."""
    with opened() as context:
        with context.database.transaction() as session:
            rivals.remove(session, name)
        context.record("rival removed", name)
    answer({"rival": name}, as_json=False, text=f"Rival {name} is removed.")


def _named(path: Path) -> dict[str, str]:
    sheet = Sheet.of_csv(*ANY_FILES.read(path))
    sheet.require(("theirs", "basin"))
    return {
        row["theirs"]: sheet.basin(row["basin"], "basin is not an identifier", "write it like USGS-01013500", line)
        for line, row in sheet.rows
    }
