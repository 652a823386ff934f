"""/v1/schedules"""

from typing import Annotated

from fastapi import APIRouter, Header, Response

from app.http.api_keys import Admin, AnyKey, By
from app.http.conditional import NOT_MODIFIED, IfNoneMatch, not_modified
from app.http.dependencies import OpenDatabase, Reading, ScheduleId, ServiceClock
from app.http.problems import Changed, documented_keyed, documented_writing
from app.jobs.schedules import service
from app.jobs.schedules.schemas import NewSchedule, Schedule, Schedules
from records.access import audit
from records.access.keys import Key
from records.jobs import schedules
from records.jobs.cron import BadCron
from records.jobs.schedules import ScheduleConflict, UnknownSchedule

router = APIRouter(prefix="/schedules", tags=["schedules"])

ASK_FIRST = "private, no-cache"
IfMatch = Annotated[
    str,
    Header(
        description="The `ETag` of the schedule as you have read it, against conflicting changes. `*` is any.",
        examples=['"2"', "*"],
    ),
]


@router.get("", summary="List schedules", responses=documented_keyed())
def list_schedules(session: Reading, key: AnyKey, response: Response) -> Schedules:
    """All schedules in the order of their names, with the next time of each."""
    response.headers["Cache-Control"] = ASK_FIRST
    return Schedules(schedules=[service.answer(schedule, key) for schedule in schedules.list_schedules(session)])


@router.post(
    "",
    status_code=201,
    summary="Create a schedule",
    responses=documented_writing(ScheduleConflict, BadCron),
)
def create_schedule(
    response: Response, key: Admin, actor: By, database: OpenDatabase, clock: ServiceClock, new: NewSchedule
) -> Schedule:
    """Posts an ingest, a forecast, a training, an evaluation or a comparison by a cron line in a time zone. Times
    missed while the service was down are caught up on once. Its jobs run with the permissions of your key at that time:
    if the key is revoked or expired, they fail with that reason."""
    now = clock.wall()
    with database.transaction() as session:
        created = schedules.create(session, service.due(new, key, now), now)
        audit.record(session, actor, "schedule created", created.id, now, name=created.name)
    response.headers["Location"] = f"/v1/schedules/{created.id}"
    return _tagged(response, created, key)


@router.get(
    "/{schedule}",
    summary="Read a schedule",
    responses=NOT_MODIFIED | documented_keyed(UnknownSchedule),
    response_model=Schedule,
)
def read_schedule(
    session: Reading, key: AnyKey, response: Response, schedule: ScheduleId, if_none_match: IfNoneMatch = None
) -> Schedule | Response:
    """Its job, its next time, and the last job that it posted. Its `ETag` is needed to change it."""
    current = schedules.get(session, schedule)
    unchanged = not_modified(response, service.tag(current.revision), ASK_FIRST, if_none_match)
    return unchanged or service.answer(current, key)


@router.put(
    "/{schedule}",
    summary="Change a schedule",
    responses=documented_writing(UnknownSchedule, ScheduleConflict, Changed, BadCron),
)
def replace_schedule(
    response: Response,
    key: Admin,
    actor: By,
    database: OpenDatabase,
    clock: ServiceClock,
    schedule: ScheduleId,
    new: NewSchedule,
    if_match: IfMatch,
) -> Schedule:
    """Replaces all its fields; jobs already posted stay. It is refused if the schedule was changed or has fired since
    you read it: read it again."""
    now = clock.wall()
    with database.transaction() as session:
        revision = service.seen(session, schedule, if_match)
        changed = schedules.update(session, schedule, revision, service.due(new, key, now), now)
        audit.record(session, actor, "schedule changed", schedule, now, name=changed.name, revision=changed.revision)
    return _tagged(response, changed, key)


@router.delete(
    "/{schedule}",
    status_code=204,
    summary="Delete a schedule",
    responses=documented_writing(UnknownSchedule, Changed),
)
def delete_schedule(
    _key: Admin,
    actor: By,
    database: OpenDatabase,
    clock: ServiceClock,
    schedule: ScheduleId,
    if_match: IfMatch = "*",
) -> None:
    """It posts no more jobs. Jobs already posted stay."""
    with database.transaction() as session:
        service.seen(session, schedule, if_match)
        schedules.delete(session, schedule)
        audit.record(session, actor, "schedule deleted", schedule, clock.wall())


def _tagged(response: Response, schedule: schedules.Schedule, key: Key) -> Schedule:
    response.headers.update({"ETag": service.tag(schedule.revision), "Cache-Control": ASK_FIRST})
    return service.answer(schedule, key)
