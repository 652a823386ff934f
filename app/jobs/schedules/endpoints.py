"""/v1/schedules"""

from typing import Annotated

from fastapi import APIRouter, Header, Response

from app.exports.answers import JsonAnswer, answers, body_of
from app.http.api_keys import AdminWriter, AnyKey
from app.http.conditional import ASK_FIRST, cached
from app.http.dependencies import Reading, ScheduleId
from app.http.problems import Changed, Unauthorized, documented_keyed, documented_writing
from app.jobs.schedules import service
from app.jobs.schedules.schemas import NewSchedule, Schedule, Schedules
from records.jobs import schedules
from records.jobs.cron import BadCron
from records.jobs.schedules import ScheduleConflict, UnknownSchedule

router = APIRouter(prefix="/schedules", tags=["schedules"], dependencies=[cached(ASK_FIRST)])

IfMatch = Annotated[
    str,
    Header(
        description="The `ETag` of the schedule as you have read it, against conflicting changes. `*` is any.",
        examples=['"2"', "*"],
    ),
]


@router.get("", summary="List schedules", responses=documented_keyed())
def list_schedules(session: Reading, key: AnyKey) -> Schedules:
    """All schedules in the order of their names, with the next time of each."""
    return Schedules(schedules=[service.answer(schedule, key) for schedule in schedules.list_schedules(session)])


@router.post(
    "",
    status_code=201,
    summary="Create a schedule",
    responses=documented_writing(ScheduleConflict, BadCron),
)
def create_schedule(response: Response, writer: AdminWriter, new: NewSchedule) -> Schedule:
    """Posts an ingest, a forecast, a training, an evaluation or a comparison by a cron line in a time zone. Times
    missed while the service was down are caught up on once. Its jobs run with the permissions of your key at that time:
    if the key is revoked or expired, they fail with that reason."""
    with writer.database.transaction() as session:
        created = schedules.create(session, service.due(new, writer.key, writer.now), writer.now)
        writer.record(session, "schedule created", created.id, name=created.name)
    response.headers.update({"Location": f"/v1/schedules/{created.id}", "ETag": service.tag(created.revision)})
    return service.answer(created, writer.key)


@router.get("/{schedule}", summary="Read a schedule", **answers(Schedule, Unauthorized, UnknownSchedule))
def read_schedule(session: Reading, key: AnyKey, schedule: ScheduleId, answer: JsonAnswer) -> Response:
    """Its job, its next time, and the last job that it posted. Its `ETag` is needed to change it."""
    current = schedules.get(session, schedule)
    shown = service.answer(current, key)
    return answer.tagged(service.tag(current.revision), lambda: body_of(shown), None, cache_control=ASK_FIRST)


@router.put(
    "/{schedule}",
    summary="Change a schedule",
    responses=documented_writing(UnknownSchedule, ScheduleConflict, Changed, BadCron),
)
def replace_schedule(
    response: Response, writer: AdminWriter, schedule: ScheduleId, new: NewSchedule, if_match: IfMatch
) -> Schedule:
    """Replaces all its fields; jobs already posted stay. It is refused if the schedule was changed or has fired since
    you read it: read it again."""
    with writer.database.transaction() as session:
        revision = service.seen(session, schedule, if_match)
        due = service.due(new, writer.key, writer.now)
        changed = schedules.update(session, schedule, revision, due, writer.now)
        writer.record(session, "schedule changed", schedule, name=changed.name, revision=changed.revision)
    response.headers["ETag"] = service.tag(changed.revision)
    return service.answer(changed, writer.key)


@router.delete(
    "/{schedule}",
    status_code=204,
    summary="Delete a schedule",
    responses=documented_writing(UnknownSchedule, Changed),
)
def delete_schedule(writer: AdminWriter, schedule: ScheduleId, if_match: IfMatch = "*") -> None:
    """It posts no more jobs. Jobs already posted stay."""
    with writer.database.transaction() as session:
        service.seen(session, schedule, if_match)
        schedules.delete(session, schedule)
        writer.record(session, "schedule deleted", schedule)
