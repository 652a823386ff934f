"""Trainings under way. A training is identified by its request: a repeated request is the same training."""

from collections.abc import Collection
from datetime import datetime
from typing import Annotated, Any

from sqlalchemy import CheckConstraint, Column, ForeignKey, Row, String, Table, func, select, union_all
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.digests import fingerprint, sha256
from hydrology.base.errors import NotFound
from records.database.base import JsonObject, Long, one_of
from records.database.checksums import verified
from records.database.stored import (
    add_all,
    as_record,
    as_values,
    find_or_raise,
    find_row,
    insert_into,
    stored,
    table_of,
)
from records.jobs import jobs
from records.versions.versions import Member, Which


class UnknownTraining(NotFound):
    """No training with this id is stored."""


@stored(
    "trainings",
    one_of("status", "running", "finished", "failed"),
    CheckConstraint("(status = 'failed') = (reason IS NOT NULL)", name="reason"),
    CheckConstraint("(status = 'finished') = (version_id IS NOT NULL)", name="version"),
)
class Training:
    """A training: `running`, `finished` (with its version) or `failed` (with its reason)."""

    id: str
    request: JsonObject
    status: str
    reason: Absent | None
    version_id: Annotated[str | None, ForeignKey("versions.id")]
    started_at: datetime
    updated_at: datetime


def _of_training() -> Column[str]:
    return Column("training_id", String, ForeignKey("trainings.id"), nullable=False)


@stored(
    "training_checkpoints",
    _of_training(),
    Column("sha256", String, nullable=False),
    key=("training_id", "label"),
    kw_only=False,
)
class Checkpoint:
    """A member's state to continue training from, with its progress: the newest."""

    label: int
    step: int
    content: bytes
    progress: JsonObject
    updated_at: datetime


@stored("training_members", _of_training(), key=("training_id", "label"))
class FinishedMember:
    """A member that has finished training, stored until the version is assembled."""

    label: int
    seed: Annotated[int, Long()]
    best: bytes | None
    best_sha256: str | None
    last: bytes
    last_sha256: str
    log: JsonObject
    finished_at: datetime


TRAININGS, CHECKPOINTS, _FINISHED = table_of(Training), table_of(Checkpoint), table_of(FinishedMember)


def start(session: Session, request: JsonObject, at: datetime) -> Training:
    """Start or continue the training of a request: a failed one runs again, a finished one is returned."""
    training = fingerprint(request)
    insert = insert_into(session, TRAININGS)
    values = {"id": training, "request": request, "status": "running", "started_at": at, "updated_at": at}
    restarted = {"status": "running", "reason": None, "updated_at": at}
    session.execute(
        insert.on_conflict_do_update(index_elements=["id"], set_=restarted, where=insert.table.c.status == "failed"),
        values,
    )
    return get(session, training)


def version_of(session: Session, request: JsonObject) -> str | None:
    return session.scalar(select(TRAININGS.c.version_id).where(TRAININGS.c.id == fingerprint(request)))


def lock(session: Session, training: str) -> Training:
    # On SQLite the whole database is locked already, and FOR UPDATE is left out.
    session.execute(select(TRAININGS.c.id).where(TRAININGS.c.id == training).with_for_update())
    return get(session, training)


def get(session: Session, training: str) -> Training:
    unknown = UnknownTraining(f"No training {training!r} is stored here: check its id.")
    return find_or_raise(session, Training, unknown, id=training)


def save_checkpoint(session: Session, training: str, new: Checkpoint) -> bool:
    """Store a member's checkpoint, replacing an earlier one.

    Return False, and store nothing, if a later step is stored or the training is finished.
    """
    if lock(session, training).status == "finished":
        return False
    insert = insert_into(session, Checkpoint)
    table = insert.table
    values = as_values(new, "label") | {"sha256": sha256(new.content)}
    written = session.execute(
        insert.values(training_id=training, label=new.label, **values)
        .on_conflict_do_update(
            index_elements=["training_id", "label"],
            set_={name: insert.excluded[name] for name in values},
            where=table.c.step <= insert.excluded.step,
        )
        .returning(table.c.step)
    )
    return written.first() is not None


def checkpoint(session: Session, training: str, label: int) -> Checkpoint | None:
    row = find_row(session, CHECKPOINTS, training_id=training, label=label)
    if row is None:
        return None
    verified(row.content, row.sha256, f"checkpoint of member {label}")
    return as_record(Checkpoint, row)


def finish_member(session: Session, training: str, member: Member, at: datetime) -> None:
    """Store a member that has finished training, in place of its checkpoint.

    Repeating it writes nothing, nor does a member of a finished training.
    """
    if lock(session, training).status == "finished":
        return
    weights: dict[str, bytes | str | None] = {}
    names: tuple[Which, Which] = ("best", "last")
    for which in names:
        content = member.weights.get(which)
        weights |= {which: content, f"{which}_sha256": None if content is None else sha256(content)}
    row = {"training_id": training, **as_values(member, "weights"), **weights, "finished_at": at}
    add_all(session, FinishedMember, [row], if_new=True)
    _forget(session, CHECKPOINTS, training, member.label)


def finished_members(session: Session, training: str) -> list[Member]:
    """Return the members that have finished training, until the version is assembled."""
    rows = session.execute(select(_FINISHED).where(_FINISHED.c.training_id == training).order_by(_FINISHED.c.label))
    return [Member(row.label, row.seed, _weights(row), row.log) for row in rows]


def finish(session: Session, training: str, version: str, at: datetime) -> None:
    """Record a training's version, and delete its members and checkpoints."""
    _change(session, training, status="finished", reason=None, version_id=version, updated_at=at)
    _forget_all(session, training)


def fail(session: Session, training: str, reason: Absent, at: datetime) -> None:
    """Record why a training stopped. Its checkpoints stay: `start` continues from them."""
    _change(session, training, status="failed", reason=reason, updated_at=at)


def outdated(session: Session, before: datetime, trainings: Collection[str] | None = None) -> dict[str, int]:
    """Return the trainings without progress since an instant, with their number of stored parts.

    Trainings with a job under way are left out.
    """
    parts = union_all(
        select(CHECKPOINTS.c.training_id, CHECKPOINTS.c.updated_at.label("at")),
        select(_FINISHED.c.training_id, _FINISHED.c.finished_at.label("at")),
    ).subquery()
    counts = (
        select(parts.c.training_id, func.count()).group_by(parts.c.training_id).having(func.max(parts.c.at) < before)
    )
    if trainings is not None:
        counts = counts.where(parts.c.training_id.in_(trainings))
    busy = {job.params["training"] for kind in ("member", "members") for job in jobs.unfinished(session, kind)}
    return {id_: count for id_, count in session.execute(counts.order_by(parts.c.training_id)) if id_ not in busy}


def remove(session: Session, trainings: Collection[str]) -> list[str]:
    """Delete trainings' checkpoints and finished members: `start` then starts anew."""
    for training in trainings:
        lock(session, training)
        _forget_all(session, training)
    return []


def _change(session: Session, training: str, **values: object) -> None:
    get(session, training)
    session.execute(TRAININGS.update().where(TRAININGS.c.id == training).values(**values))


def _weights(row: Row[Any]) -> dict[Which, bytes]:
    name = f"weights of member {row.label}"
    weights: dict[Which, bytes] = {"last": verified(row.last, row.last_sha256, name)}
    if row.best is not None and row.best_sha256 is not None:
        weights["best"] = verified(row.best, row.best_sha256, name)
    return weights


def _forget_all(session: Session, training: str) -> None:
    for part in (CHECKPOINTS, _FINISHED):
        _forget(session, part, training)


def _forget(session: Session, part: Table, training: str, label: int | None = None) -> None:
    deletion = part.delete().where(part.c.training_id == training)
    session.execute(deletion if label is None else deletion.where(part.c.label == label))
