"""/v1/alerts/held and /v1/basins/{basin}/alerts/held"""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.alerts.changes import ProposedChange, proposed_change
from app.exports.fields import Listing, documented_list, listing
from app.http.api_keys import ForecasterReader, ForecasterWriter, KeyFirstRoute
from app.http.base_schema import Model, next_page
from app.http.conditional import NO_STORE
from app.http.dependencies import BasinId, Reading, ServiceClock
from app.http.problems import Forbidden, Unauthorized, documented_writing
from app.http.shown import As, model_of
from hydrology.base.calendar import Day
from jobspec.changes import HeldRuling
from jobspec.fields import BASIN, BASIN_WORDS, form
from records.access.audit import Action
from records.alerts import held_alerts
from records.basins.basins import UnknownBasin
from records.levels import categories_and_doubts

_STORED = As("StoredHeldAlerts", omit=("proposed",), rename=(("basin_id", "basin"), ("run_id", "run")), missing=True)


class HeldAlerts(model_of(held_alerts.HeldAlerts, _STORED)):  # type: ignore[misc]
    """Changes of the alerts of a basin that a run proposes and that wait for approval."""

    in_doubt: dict[str, str] = Field(
        description="Levels of the basin that seem wrong, and why. To approve their changes is to confirm them."
    )
    proposed: list[ProposedChange]


class HeldAlertsPage(Model):
    """What waits for approval, by basin."""

    held: list[HeldAlerts]
    next: str | None = next_page("/v1/alerts/held?limit=100&after=USGS-13235000")


def held_answer(session: Session, stored: held_alerts.HeldAlerts, on: Day) -> HeldAlerts:
    """Return what waits for approval in a basin; `on` chooses its rating."""
    return HeldAlerts(
        **_STORED.values(stored),
        proposed=[proposed_change(change) for change in stored.proposed],
        in_doubt=categories_and_doubts.in_doubt(session, stored.basin_id, on),
    )


router = APIRouter(tags=["alerts"], route_class=KeyFirstRoute)

HeldCursor = Annotated[
    str | None,
    Query(
        description="Start after this basin: the last one of the page before.",
        pattern=form(f"^{BASIN}$", BASIN_WORDS),
        examples=["USGS-13235000"],
    ),
]


@router.get(
    "/alerts/held",
    summary="Changes of alerts that wait for approval",
    **documented_list(HeldAlertsPage, Unauthorized, Forbidden, cache_control=NO_STORE),
)
def list_held_alerts(
    session: Reading,
    clock: ServiceClock,
    key: ForecasterReader,
    page: Annotated[Listing, listing(HeldAlertsPage, HeldCursor)],
) -> Response:
    """Where FRESHET_ALERTS_NEED_APPROVAL is set: what the newest run of each basin proposes, and when it goes out if
    nobody decides before. Everywhere: what it proposes for levels that seem wrong (`in_doubt`), which waits until
    somebody decides. With a forecaster's key, of one for a region those there."""
    found = held_alerts.page(session, region=key.region, after=page.after, limit=page.sought)
    today = clock.today()
    return page.of(found, lambda shown: [held_answer(session, one, today) for one in shown], lambda held: held.basin_id)


@router.post(
    "/basins/{basin}/alerts/held",
    summary="Approve or dismiss changes of a basin's alerts",
    responses=documented_writing(UnknownBasin, held_alerts.NothingHeld, held_alerts.HeldOtherwise),
)
def decide_held_alerts(writer: ForecasterWriter, basin: BasinId, ruling: HeldRuling) -> HeldAlerts:
    """Approved changes go out within seconds, with the name of the key and the note. Dismissed ones do not, and the
    next run proposes anew. To change what goes out, publish an adjustment of the run. With a forecaster's key."""
    action: Action = "alerts approved" if ruling.ruling == "approve" else "alerts dismissed"
    with writer.database.transaction() as session:
        stored = held_alerts.rule(session, basin, ruling, writer.key.name, writer.now)
        writer.record(session, action, basin, run=ruling.run, note=ruling.note)
        return held_answer(session, stored, writer.clock.today())
