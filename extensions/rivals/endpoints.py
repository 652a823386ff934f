"""/v1/rivals: other models and services, their scores beside those of a version, and their flows."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.exports.answers import JsonAnswer, SeriesAnswer, documented_responses
from app.exports.formats import SERIES
from app.exports.table import RIVER_FLOW, Table, table_of
from app.forecasts.discharge import level_name
from app.http.base_schema import Model, OfBasin, Series, column
from app.http.dependencies import KnownBasin, Reading, VersionId
from app.http.json_numbers import gappy_column
from app.http.shown import As
from app.versions.verification import POOLED_SCORE, OfSeason
from extensions.rivals.comparison import RivalScore, compare
from hydrology.base.calendar import Day, as_date
from hydrology.base.errors import NotFound
from hydrology.scores.comparisons import Difference, Quartiles
from hydrology.uncertainty.error_model import LEVELS
from hydrology.verification.results import ALL_YEAR, Season
from jobspec.fields import ID, DayField
from records.basins.basins import Site, UnknownBasin
from records.verification import rivals
from records.verification.rivals import RivalKind, UnknownRival
from records.versions import versions
from records.versions.versions import UnknownVersion

router = APIRouter(tags=["skill"])

_SHOWN = As(exact=True, parts=((Quartiles, POOLED_SCORE), (Difference, As(exact=True))))

RivalId = Annotated[str, Path(description="The name of a rival.", pattern=ID, examples=["nwm"])]
OfIssue = Annotated[
    DayField | None, Query(description="The day of the issue; by default the newest.", examples=["2005-04-18"])
]


class RivalDetail(Model):
    """Another model or service, whose forecasts or simulation are judged beside the own ones."""

    id: str = Field(description="Its name.")
    kind: RivalKind = Field(description="Whether it gives issued forecasts, or one simulation of past days.")
    source: str = Field(description="Whom its flows come from and on which terms, as whoever added it wrote.")
    added_at: datetime = Field(description="When flows of it were last added, by the machine's clock.")


class RivalList(Model):
    """The stored rivals, by name."""

    rivals: list[RivalDetail]


class RivalComparison(Model):
    """Scores of rivals beside those of a model version, on the same days and basins."""

    version: str = Field(description="The model version.")
    season: Season
    scores: list[Annotated[RivalScore, _SHOWN]] = Field(
        description="By rival, weather, lead and metric, as last verified. Empty where no forecast of both is verified."
    )


class RivalFlow(OfBasin):
    """Flow that a rival forecast, or simulated, in a basin."""

    rival: Annotated[str, Series("name of the rival")]
    source: str = Field(description="Whom it comes from and on which terms.")
    issued: date = Field(description="The day of its issue; of a simulation its first.")
    time: Annotated[list[date], Series("day")] = Field(description="The days.")
    discharge: Annotated[
        dict[str, list[float | None]],
        Series(
            "discharge of the rival",
            "m3/s",
            column="discharge_{}",
            standard_name=RIVER_FLOW,
            cell_methods="time: mean",
            each="discharge of the rival, {}",
        ),
    ] = Field(description=column("Flow, m³/s: `median` where there is one value a day; else quantiles of its members"))


class NoRivalFlow(NotFound):
    """The rival has no flow of that basin and issue."""

    remedy = "Ask without `issued` for the newest, or list the rivals: `/v1/rivals`."


@router.get("/rivals", summary="List rivals", **documented_responses(RivalList))
def read_rivals(session: Reading, answer: JsonAnswer) -> Response:
    """Other models and services whose flows are stored here. They are judged beside the own forecasts and never mixed
    into them. An admin adds them from files (`freshet rivals add`)."""
    return answer.of(RivalList(rivals=[RivalDetail.from_records(one) for one in rivals.list_rivals(session)]))


@router.get(
    "/models/{version}/rivals",
    summary="Rivals beside a model version",
    **documented_responses(RivalComparison, UnknownVersion),
)
def compare_rivals(session: Reading, version: VersionId, answer: JsonAnswer, season: OfSeason = ALL_YEAR) -> Response:
    """Scores of every rival's forecasts beside those that the version issued, on the same days for the same days and
    basins, by the same code: quartiles over basins, and differences with a Wilcoxon signed-rank test. Jobs of the kind
    `verification` renew them."""
    return answer.of(comparison_of(session, version, season))


def comparison_of(session: Session, version: str, season: Season = ALL_YEAR) -> RivalComparison:
    names = [one.id for one in rivals.list_rivals(session, "forecasts")]
    scores = [*compare(session, versions.get(session, version).id, names, season)]
    return RivalComparison(version=version, season=season, scores=scores)


@router.get(
    "/basins/{basin}/rivals/{rival}",
    summary="Flow of a rival in a basin",
    **documented_responses(RivalFlow, UnknownBasin, UnknownRival, NoRivalFlow, formats=SERIES),
)
def read_rival_flow(
    session: Reading, basin: KnownBasin, rival: RivalId, answer: SeriesAnswer, issued: OfIssue = None
) -> Response:
    """What a rival forecast in a basin, by default its newest issue; or its simulation."""
    return answer.of_basin(flow_of(session, basin, rival, issued), flow_table)


def flow_of(session: Session, basin: str, rival: str, issued: Day | None = None) -> RivalFlow:
    known = rivals.get(session, rival)
    wanted = rivals.newest_issue(session, rival, basin) if issued is None else issued
    flow = {} if wanted is None else rivals.flows_of(session, rival, basin, [wanted])
    if wanted is None or wanted not in flow:
        raise NoRivalFlow(
            f"Rival {rival} has no flow of {basin}" + (f" issued on {issued}." if issued is not None else ".")
        )
    values = flow[wanted]
    names = map(level_name, LEVELS if len(values) > 1 else (0.5,))
    return RivalFlow(
        basin=basin,
        rival=rival,
        source=known.source,
        issued=as_date(wanted),
        time=[as_date(wanted + ahead) for ahead in range(values.shape[1])],
        discharge={name: gappy_column(row) for name, row in zip(names, values, strict=True)},
    )


def flow_table(answer: RivalFlow, sites: Mapping[str, Site]) -> Table:
    """Return a rival's flow as a table: a row for each day."""
    return table_of(answer, f"{answer.rival}_{answer.basin}", f"Flow of {answer.rival} in {answer.basin}", sites)
