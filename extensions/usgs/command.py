"""`freshet ratings versions` and `freshet ratings decide`: versions of ratings, and those that wait."""

from typing import Annotated

from freshet.cli.options import Basin, argument, option
from freshet.cli.output import inform_left_out, listing
from freshet.cli.reading import Reading, Shown, reads, writes
from freshet.cli.text_files import valid
from hydrology.base.errors import counted
from jobspec.changes import RatingRuling, Ruling
from records.access.audit import Writer
from records.basins import basins, ratings

_VERSIONS = "version | number | valid from: valid_from | in force: in_force | held | ruling | by: ruled_by"


def _described(field: str) -> str:
    return RatingRuling.model_fields[field].description or ""


@reads
def show_versions(at: Reading, basin: Basin) -> Shown:
    """Show the versions of a basin's rating, the newest first: in force, waiting and dismissed."""
    from extensions.usgs.endpoints import RatingVersions, version_of

    basins.require(at.session, basin)
    found = [version_of(one) for one in ratings.versions(at.session, basin)]
    title = f"{basin}: {counted(len(found), 'version')}"
    return Shown(RatingVersions(ratings=found, next=None), lambda: listing(found, _VERSIONS, title))


@writes
def decide(
    by: Writer,
    basin: Basin,
    version: Annotated[int, argument("VERSION", _described("version"))],
    ruling: Annotated[Ruling, argument("RULING", _described("ruling"))],
    note: Annotated[str | None, option("TEXT", _described("note"))] = None,
) -> Shown:
    """Approve or dismiss a rating that waits for a forecaster."""
    from extensions.usgs.endpoints import decide_held_rating

    given = {"version": version, "ruling": ruling, "note": note}
    found = decide_held_rating(by, basin, valid(RatingRuling, given, "decision"))
    inform_left_out([*found.left_out.values(), *found.in_doubt.values()])
    return Shown(found, lambda: f"Version {version} of the rating of {basin}: {ruling}.")
