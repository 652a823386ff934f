"""/v1/issues: the days of the daily cycle, how many basins each renewed, and which are missing and why."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.queries import Huc
from app.exports.fields import Listing, documented_list, listing
from app.http.base_schema import EXPLAINED, Missing, Model, next_page
from app.http.conditional import SHORTLY, cached
from app.http.dependencies import OptionalVersion, Reading, ServiceClock
from app.http.problems import documented
from app.http.shown import As, model_of
from hydrology.base.calendar import Day, day
from jobspec.fields import DayField
from records.forecasts import issues
from records.forecasts.issues import Issue, IssueBasin, UnknownIssue
from runtime.clock import Clock

DEFAULT_DAYS = 30
_ISSUE = As(omit=("tally",), rename=(("job_id", "job"),))
_TALLY = As("IssueTally", "Numbers of the basins of an issue.")
_BASIN = As(omit=("day",), rename=(("basin_id", "basin"), ("version_id", "version"), ("run_id", "run")), missing=True)
_OUTCOMES = (
    "`issued`: a forecast of this day; `filled`: one whose last past days are filled from other weather; `unchanged`: "
    "the forecast before already uses all known data; `pending`: not done yet, or lost; `stale`: its data stopped and "
    "its forecast is too old; `withheld` or `failed`: why is in `reason`"
)


class IssueSummary(model_of(Issue, _ISSUE)):  # type: ignore[misc]
    """An issue in a list."""

    renewed: int = Field(description="Number of basins with a forecast of this day: `issued` or `filled`.")
    lacking: int = Field(description="Number of basins that are `pending`, `stale`, `withheld` or `failed`.")
    basins: model_of(issues.Tally, _TALLY) = Field(description=f"By outcome. {_OUTCOMES}.")  # type: ignore[valid-type]
    missing: Missing = EXPLAINED


class IssuePage(Model):
    """Issues, the newest first."""

    issues: list[IssueSummary]
    next: str | None = next_page("/v1/issues?limit=100&after=2008-04-21")


class IssueDetail(IssueSummary):
    """An issue with the basins that lack a forecast."""

    without_forecast: list[Annotated[IssueBasin, _BASIN]] = Field(
        description="The basins that are `pending`, `stale`, `withheld` or `failed`, in the order of their identifiers."
    )


def summaries(
    session: Session, stored: Sequence[Issue], version: str | None = None, huc: str | None = None
) -> list[IssueSummary]:
    """Return issues as they are listed: all of their basins, or those of a version or a region."""
    if version is not None or huc is not None:
        counted = issues.tallies(session, [issue.day for issue in stored], version, huc)
        stored = [replace(issue, tally=counted[issue.day]) for issue in stored]
    return [IssueSummary(**_fields(issue)) for issue in stored]


def _fields(issue: Issue) -> dict[str, object]:
    tally = issue.tally
    return _ISSUE.values(issue) | {"basins": _TALLY.model(tally), "renewed": tally.renewed, "lacking": tally.lacking}


def detail(session: Session, of_day: Day, version: str | None = None, huc: str | None = None) -> IssueDetail:
    """Return an issue with its basins without a forecast: all, or those of a version or a region."""
    (summary,) = summaries(session, [issues.get(session, of_day)], version, huc)
    lacking = issues.basins_of(session, of_day, issues.MISSING, version, huc)
    return IssueDetail(**dict(summary), without_forecast=lacking)


def first_day(clock: Clock) -> Day:
    return day(clock.now().date() - timedelta(days=DEFAULT_DAYS))


router = APIRouter(prefix="/issues", tags=["forecasts"])

DayCursor = Annotated[
    DayField | None,
    Query(description="Start after this day: the last one of the page before.", examples=["2008-04-21"]),
]
DayFrom = Annotated[
    DayField | None, Query(description=f"Only of this day or later; by default of the last {DEFAULT_DAYS} days.")
]
IssueDay = Annotated[DayField, Path(description="The day of issue.", examples=["2005-04-21"])]


@router.get("", summary="List the issues of the daily cycle", **documented_list(IssuePage, cache_control=SHORTLY))
def list_issues(
    session: Reading,
    clock: ServiceClock,
    page: Annotated[Listing, listing(IssuePage, DayCursor)],
    day_from: DayFrom = None,
    version: OptionalVersion = None,
    huc: Huc = None,
) -> Response:
    """The outcome of each day's forecasts, newest first: how many basins were expected, renewed and missing, with the
    codes of the reasons. With `version` or `huc` the numbers are of those basins alone."""
    first = first_day(clock) if day_from is None else day_from
    found = issues.page(session, first=first, before=page.after, limit=page.sought)
    return page.of(found, lambda shown: summaries(session, shown, version, huc), lambda issue: issue.day)


@router.get(
    "/{issue}",
    summary="An issue and its missing basins",
    responses=documented(UnknownIssue),
    dependencies=[cached(SHORTLY)],
)
def read_issue(session: Reading, issue: IssueDay, version: OptionalVersion = None, huc: Huc = None) -> IssueDetail:
    """The numbers of an issue, and each basin without a forecast with its reason. It changes as the cycle goes on, and
    when missing basins are issued again."""
    return detail(session, issue, version, huc)
