"""Issues what versions in the shadow forecast: beside the versions that serve, after each daily cycle."""

from collections.abc import Iterator

from sqlalchemy import select

from hydrology.base.errors import Problem
from jobspec.jobs.forecasting import DailyParams
from operations.daily.daily_forecasts import DailyRequest, issue_newest
from operations.verification.verify_issued import verify
from records.database.visibility import SHADOW
from records.database.work import Work
from records.forecasts import latest
from records.versions import promotions, versions
from records.versions.versions import VERSIONS


def after_daily(work: Work) -> str | None:
    """Issue and verify the forecasts of versions in the shadow; return a sentence where one has failed."""
    return " ".join(_issued(work)) or None


def _issued(work: Work) -> Iterator[str]:
    with work.database.reading() as session:
        of_versions = session.scalars(select(VERSIONS.c.id).where(VERSIONS.c.owner == SHADOW)).all()
        serving = promotions.in_use(session)
        scopes = {one: promotions.basins_here(session, versions.get(session, one)) for one in of_versions}
        beside = {one: [name for name in scope if name not in serving.get(one, ())] for one, scope in scopes.items()}
        newest = latest.newest_tried(
            session, [*{name for names in beside.values() for name in names}], work.clock.now()
        )
    for version, names in beside.items():
        horizons = [newest[name][0].horizon_days for name in names if name in newest]
        asked = DailyRequest(max(horizons, default=DailyParams().horizon), version=version)
        try:
            issue_newest(work, names, asked)
            verify(work, version)
        except Problem as problem:
            yield f"Version {version}, in the shadow, issued no forecasts: {problem}"
