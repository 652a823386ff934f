"""/v1/basins/{basin}/alerts/changes: the history of a basin's alerts, and the changes that a run proposes."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import Field

from app.alerts.alerts import NO_ALERT, NO_CATEGORY, NO_IMPACT, NO_TREND, STANDING, StandingLevel
from app.exports.fields import FieldFilter, fields_of, schema_of
from app.http.base_schema import EXPLAINED, Missing, Model, next_page
from app.http.conditional import SHORTLY, cached
from app.http.dependencies import KnownBasin, NumberPage, Reading
from app.http.problems import documented
from hydrology.alerts import Severity, Trend
from hydrology.base.doc import Why
from hydrology.uncertainty.exceedance import Direction
from jobspec.levels import CategoryName
from records.alerts import alert_changes
from records.alerts.alert_changes import ChangeKind
from records.basins.basins import UnknownBasin

_OF_THE_BASIN = Why("It concerns all levels of the basin.")
_OF_PROMOTION = Why("The change comes from a promotion, not from a run.")


class ProposedChange(Model):
    """A change of an alert that a run proposes."""

    kind: ChangeKind = Field(
        description="`begins`, `rises`, `falls`, `ends`: the severity of a level. `level`: somebody changed or removed "
        "a level with an alert. `undecided`, `decided`: the alerts of the basin can not, or again, be decided. "
        "`promotion`: its forecasts come from another model version; the river has not changed."
    )
    at: datetime = Field(description="By the service's clock.")
    basin: str
    level: Annotated[str | None, _OF_THE_BASIN]
    direction: Annotated[Direction | None, _OF_THE_BASIN]
    discharge_m3s: Annotated[float | None, _OF_THE_BASIN]
    stage_ft: Annotated[float | None, Why("No rating of the basin covers its discharge.")] = Field(
        description="The official stage of a flood category, otherwise that of the discharge by the basin's rating."
    )
    category: Annotated[CategoryName | None, NO_CATEGORY] = Field(
        description="The official flood category; null for other levels."
    )
    impact: Annotated[str | None, NO_IMPACT] = Field(
        description="What happens from this level on, as the category's source states it."
    )
    severity: Annotated[Severity | None, NO_ALERT] = Field(description="Now; of the whole basin, the highest.")
    severity_before: Annotated[Severity | None, Why("There was no alert.")]
    trend: Annotated[Trend | None, NO_TREND]
    chance: Annotated[float | None, _OF_THE_BASIN]
    chance_before: Annotated[float | None, Why("There was no run before that decided the level.")] = Field(
        description="By the run before."
    )
    window_days: Annotated[int | None, Why("A promotion covers no days.")]
    run: Annotated[str | None, _OF_PROMOTION] = Field(description="The run that caused it.")
    t0: Annotated[date | None, _OF_PROMOTION]
    version: str = Field(description="The model version that the forecasts come from.")
    why: str = Field(description="The numbers and the rule, and what a forecaster contributed.")
    decided_by: Annotated[str | None, Why("The service decided it alone.")] = Field(
        description="Who approved it or published the adjustment behind it."
    )
    adjustment: Annotated[str | None, Why("The forecast was not adjusted.")] = Field(
        description="The published adjustment behind it."
    )
    levels: Annotated[
        list[StandingLevel] | None, Why("It does not head the message of a river, or is from before they were stored.")
    ] = Field(description=f"Of the change that heads a message, after it. {STANDING}")
    missing: Missing = EXPLAINED


class AlertChange(ProposedChange):
    """A change of an alert; receivers get the same fields in `data`, without `missing`."""

    event: str = Field(description="Its id: `webhook-id` of every attempt to notify a receiver.")
    official: bool = Field(
        description="Whether it is meant: false for an exercise, without an official sender, and for an unofficial "
        "basin, whose changes go to its owner's subscriptions alone."
    )
    message: Annotated[
        str | None, Why("It is of levels below the alert of the river alone, which goes on unchanged.")
    ] = Field(
        description="The `event` of the change that heads its message: what a run changes at a river is one. Null "
        "where it is not sent."
    )


class AlertChanges(Model):
    """Changes of a basin's alerts, the newest first."""

    changes: list[AlertChange]
    next: str | None = next_page("/v1/basins/USGS-13235000/alerts/changes?limit=100&after=42")


def change_of(stored: alert_changes.Change) -> AlertChange:
    """Return a change as answers show it."""
    return AlertChange(**alert_changes.as_json(stored))


def proposed_change(fields: Mapping[str, Any]) -> ProposedChange:
    """Return a change that a run proposes, from its fields."""
    return ProposedChange(**{"levels": None, **fields})  # it may wait since before they were stored


router = APIRouter(tags=["alerts"])


@router.get(
    "/basins/{basin}/alerts/changes",
    summary="Alert history of a basin",
    response_model=schema_of(AlertChanges),
    responses=documented(UnknownBasin),
    dependencies=[cached(SHORTLY)],
)
def list_alert_changes(
    session: Reading, basin: KnownBasin, page: NumberPage, fields: Annotated[FieldFilter, fields_of(AlertChanges)]
) -> Response:
    """Every change of a level, newest first, with the run behind it. What a run changes at a river is one message to
    receivers (`message`). A promotion of another model version is a change of its own. Follow `next` until it is
    null."""
    found = alert_changes.page(session, basins=[basin], before=page.after, limit=page.sought)
    shown, following = page.cut(found, lambda change: change.seq)
    return fields.of(AlertChanges(changes=[change_of(one) for one in shown], next=following))
