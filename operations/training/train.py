"""Trains versions: starts a training, trains its members, assembles the version.

A training is identified by its request: the same request resumes from its checkpoints, and a finished one is returned.
Its members (`operations.training.members`) can be trained by different processes, or side by side on a GPU; the version
is assembled when all are finished. A fine-tuning is a training that starts from the weights of its parent, and by
itself changes no basin's version.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import metadata

import structlog
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.errors import DataProblem
from jobspec.training import FineTuningConfig, TrainingConfig
from models.devices import CPU
from models.networks import architecture, snow_cells
from operations.training import finetune
from operations.training.members import (
    OnMemberProgress,
    OnProgress,
    StartedTraining,
    best_nse,
    scaler_of,
    train_member,
    train_together,
    unfinished_members,
)
from operations.training.physics_probes import measured, real_weather
from operations.training.training_data import Prepared, prepare
from operations.versions.process_pool import processes_for, side_by_side
from records.database.engine import Database
from records.versions import promotions, trainings, versions
from runtime.clock import Clock

log = structlog.get_logger()


class DataChanged(DataProblem):
    """The data differ from those that the training started with."""

    kind = "training-data-changed"


@dataclass(frozen=True, slots=True)
class Trained:
    """The version that resulted from a training.

    Attributes:
        already: whether the same training had been finished before.
        basins: the basins it was trained on here.
        promoted: the basins without a current version that now use this one; none for a fine-tuning.
        refused: why it may not serve any basin, where a physics probe failed.
        validation_nse: the best median NSE of each member in the validation period.
        validation_basins: over how many basins that is the median; None without a validation period.
    """

    version_id: str
    training_id: str
    already: bool
    basins: tuple[str, ...]
    left_out: dict[str, Absent]
    promoted: tuple[str, ...]
    refused: str | None
    validation_nse: dict[int, float | None]
    validation_basins: int | None


def train(
    database: Database,
    clock: Clock,
    config: TrainingConfig | FineTuningConfig,
    basins: Sequence[str],
    *,
    label: str | None = None,
    device: str = "cpu",
    cores: int = 1,
    on_progress: OnMemberProgress = lambda _member, _progress: None,
    on_split: Callable[[str], None] = lambda _sentence: None,
) -> Trained:
    """Train every member of a configuration on some basins, and create the version.

    Args:
        cores: maximum number of members trained in parallel on a CPU, each in its own process.
        on_progress: called with the member's label and its progress at every step; an exception that it raises stops
            the training, which the same call later resumes.
        on_split: called with a sentence where a GPU has too little memory for all members at once.

    Raises:
        NoBasinLeft: no basin can be used; the message gives the reasons.
        UnknownVersion, InvalidInput: such a fine-tuning is not possible (`finetune.whole`).
        DataProblem: no window fits, or the loss is no longer a number.
        GPULost, GPUTooSmall: the GPU cannot be used; the same call, on any device, continues.
    """
    started = begin(database, clock, config, basins)
    train_members(database, clock, started, device=device, cores=cores, on_progress=on_progress, on_split=on_split)
    return assemble(database, clock, started, label)


def train_members(
    database: Database,
    clock: Clock,
    started: StartedTraining,
    *,
    device: str,
    cores: int,
    on_progress: OnMemberProgress,
    on_split: Callable[[str], None] = lambda _sentence: None,
) -> None:
    """Train the unfinished members of a training, with the arguments and errors of `train`."""
    if started.version_id is not None:
        return
    if started.trains_together(device):
        train_together(database, clock, started, device, on_progress, on_split)
        return
    with database.reading() as session:
        members = unfinished_members(session, started)
    processes = processes_for(len(members), cores) if device == CPU else 1
    if processes > 1:
        work = partial(_train_apart, database.url, clock, started.training_id)
        side_by_side(work, members, processes, on_progress)
    else:
        for member in members:
            train_member(database, clock, started, member, device, partial(on_progress, member))


def _train_apart(database_url: str, clock: Clock, training_id: str, member: int, on_progress: OnProgress) -> None:
    """Train a member in a worker process."""
    database, started = _opened(database_url, training_id)
    train_member(database, clock, started, member, CPU, on_progress)


@cache
def _opened(database_url: str, training_id: str) -> tuple[Database, StartedTraining]:
    """Return the database and the training, opened once per worker process."""
    database = Database(database_url)
    return database, reopen(database, training_id)


def begin(
    database: Database,
    clock: Clock,
    config: TrainingConfig | FineTuningConfig,
    basins: Sequence[str],
    twin: str | None = None,
    owner: str | None = None,
) -> StartedTraining:
    """Start or resume the training of a configuration on some basins.

    Args:
        twin: the training of the version that will be scored for this one's.
        owner: the operator's key that will own the version; None for the service's.

    Raises:
        NoBasinLeft: no basin can be used; nothing is stored.
        UnknownVersion, InvalidInput: such a fine-tuning is not possible (`finetune.whole`).
    """
    with database.reading() as session:
        parent = None
        if isinstance(config, FineTuningConfig):
            parent, config = finetune.whole(session, config)
        prepared = prepare(session, config, basins)
    request = {
        "config": config.model_dump(mode="json"),
        "basins": list(prepared.basins),
        "data_hash": prepared.data_hash,
    }
    origin = {"parent": None if parent is None else parent.id, "twin": twin, "owner": owner}
    request |= {name: value for name, value in origin.items() if value is not None}
    with database.transaction() as session:
        training = trainings.start(session, request, clock.wall())
    left_out = len(prepared.left_out)
    log.info("train.begin", training=training.id, basins=len(prepared.basins), left_out=left_out)
    return _started(training, config, prepared, parent)


def reopen(database: Database, training_id: str) -> StartedTraining:
    """Return a training that another process started.

    Raises:
        UnknownTraining: there is none of that id.
        DataChanged: its data were revised meanwhile.
    """
    with database.reading() as session:
        training = trainings.get(session, training_id)
        config = TrainingConfig.model_validate(training.request["config"])
        parent = versions.get(session, training.request["parent"]) if "parent" in training.request else None
        prepared = prepare(session, config, training.request["basins"])
    if prepared.data_hash != training.request["data_hash"]:
        raise DataChanged(
            f"The data of training {training_id} were revised since it began: start it again with the present data."
        )
    return _started(training, config, prepared, parent)


def _started(
    training: trainings.Training, config: TrainingConfig, prepared: Prepared, parent: versions.Version | None
) -> StartedTraining:
    return StartedTraining(
        training_id=training.id,
        config=config,
        prepared=prepared,
        version_id=training.version_id,
        parent=parent,
        twin=training.request.get("twin"),
        owner=training.request.get("owner"),
    )


def assemble(
    database: Database, clock: Clock, started: StartedTraining, label: str | None = None, *, serves: bool = True
) -> Trained:
    """Create the version, promote it for basins without a version, and close the training, in one transaction.

    An operator's version serves only basins that are registered with that key. A fine-tuned version serves no basin
    before it is promoted; one that fails a physics probe, never. If the training is closed already, its version is
    returned.

    Args:
        serves: whether it may serve basins at once.

    Raises:
        DataProblem: a member, or the twin, is not finished yet.
    """
    config, prepared, refused = started.config, started.prepared, None
    with database.reading() as session:
        finished = trainings.finished_members(session, started.training_id)  # deleted once there is a version
        twin = None if started.twin is None else _led_to(session, started.twin)
        weather = real_weather(session, config, prepared.basins)
    new = new_version(clock, started, label)
    physics, snow = measured(new, finished, weather), snow_cells(config)
    new = replace(new, properties=replace(new.properties, physics=physics, twin=twin, snow_cells=snow))
    with database.transaction() as session:
        training = trainings.lock(session, started.training_id)
        if training.version_id is not None:
            members = versions.members_of(session, training.version_id)
            return _trained(started, training.version_id, members, already=True)
        members = trainings.finished_members(session, started.training_id)
        if missing := sorted(set(range(config.members)) - {member.label for member in members}):
            raise DataProblem(f"Training {started.training_id} lacks the members {missing}: train them first.")
        version = versions.create(session, new, members)
        current = promotions.current(session, prepared.basins)
        serves &= started.parent is None
        own = promotions.servable(session, started.owner, prepared.basins)
        vacant = [basin for basin in own if serves and basin not in current]
        promoted = list[str]()
        try:
            promoted = promotions.promote(
                session, version.id, vacant, reason="first version of the basin", by="training", at=clock.now()
            )
        except promotions.AgainstPhysics as refusal:
            refused = str(refusal)
        trainings.finish(session, started.training_id, version.id, clock.wall())
    log.info("train.version", version=version.id, members=len(members), promoted=len(promoted))
    return _trained(started, version.id, members, promoted, refused)


def _led_to(session: Session, training: str) -> str:
    """Return the version that resulted from a training."""
    version = trainings.get(session, training).version_id
    if version is None:
        raise DataProblem(f"Training {training} is not finished: finish it first, because it is the twin of this one.")
    return version


def new_version(clock: Clock, started: StartedTraining, label: str | None = None) -> versions.NewVersion:
    """Return the description of a training's version.

    Its members need not be finished."""
    config, static = started.config, started.prepared.data.forcing.static
    origin = finetune.lineage(started.parent, started.prepared.basins, config.inputs.static, static)
    return versions.NewVersion(
        created_at=clock.wall(),
        issued_at=clock.now(),
        architecture=config.network.architecture,
        conserving=architecture(config.network).conserving,
        product=config.inputs.product,
        config=config.model_dump(mode="json"),
        scaler=dict(scaler_of(started).as_json()),
        data_hash=started.prepared.data_hash,
        code_version=metadata.version("freshet"),
        uses="best" if config.validation_period else "last",
        label=label,
        parent_id=origin.parent_id,
        basins=origin.basins,
        properties=origin.properties,
        owner=started.owner,
    )


def _trained(
    started: StartedTraining,
    version: str,
    members: Sequence[versions.Member],
    promoted: Sequence[str] = (),
    refused: str | None = None,
    *,
    already: bool = False,
) -> Trained:
    prepared, logs = started.prepared, {member.label: member.log["validation"] for member in members}
    return Trained(
        version_id=version,
        training_id=started.training_id,
        already=already,
        basins=prepared.basins,
        left_out=prepared.left_out,
        promoted=tuple(promoted),
        refused=refused,
        validation_nse={label: best_nse(log) for label, log in logs.items()},
        validation_basins=next((row["validation_basins"] for log in logs.values() for row in log), None),
    )
