"""From observations to a version: choose the basins, train the members, keep what they learnt.

A training is its request: the same request goes on from its checkpoints, and a finished one is returned.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata

import numpy as np
import structlog
from sqlalchemy.orm import Session

from hydrology.calendar import Period
from hydrology.errors import DataProblem
from models import checkpoint
from models.arrays import Array, days_of
from models.config import TrainingConfig
from models.scaling import Scaler
from models.training import SPIN_UP_DAYS, MemberTraining, Progress, TrainedMember, TrainingData
from operations.dataset import BasinForcing, content_hash, load_discharge, load_forcing, stacked
from records import promotions, trainings, versions
from records.clock import Clock
from records.engine import Database

log = structlog.get_logger()

OnProgress = Callable[[int, Progress], None]


class NoBasinLeft(DataProblem):
    """No basin can serve for this training."""

    kind = "no-basin-left"


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a training sees, and which basins it could not use.

    Attributes:
        left_out: why, by basin.
    """

    basins: tuple[str, ...]
    data: TrainingData
    left_out: dict[str, str]


@dataclass(frozen=True, slots=True)
class Trained:
    """The version that a training led to.

    Attributes:
        already: whether the same training had been finished before.
        promoted: the basins that had no current version and now use this one.
        validation_nse: the best median NSE of each member in the validation period.
    """

    version_id: str
    training_id: str
    already: bool
    basins: tuple[str, ...]
    left_out: dict[str, str]
    promoted: tuple[str, ...]
    validation_nse: dict[int, float | None]


def train(
    database: Database,
    clock: Clock,
    config: TrainingConfig,
    basins: Sequence[str],
    *,
    label: str | None = None,
    device: str = "cpu",
    on_progress: OnProgress = lambda _member, _progress: None,
) -> Trained:
    """Train every member of a configuration on some basins and create the version.

    Args:
        on_progress: gets the member's label and its progress at every step; what it raises stops the training,
            which the same call later goes on with.

    Raises:
        NoBasinLeft: no basin can serve; the sentence names the reasons.
        DataProblem: no window fits, or the loss is no longer a number.
    """
    with database.reading() as session:
        prepared = prepare(session, config, basins)
    data_hash = content_hash(
        prepared.data.forcing.mass,
        prepared.data.forcing.auxiliary,
        prepared.data.forcing.static,
        prepared.data.discharge,
    )
    request = {"config": config.model_dump(mode="json"), "basins": list(prepared.basins), "data_hash": data_hash}
    with database.transaction() as session:
        training = trainings.start(session, request, clock.wall())
    if training.version_id is not None:
        return _trained(database, training.version_id, training.id, prepared, promoted=(), already=True)
    log.info("train.start", training=training.id, basins=len(prepared.basins), left_out=len(prepared.left_out))
    scaler = Scaler.fit(prepared.data.forcing.over(Period.parse(config.train_period)))
    try:
        for member in range(config.members):
            _train_member(database, clock, training.id, member, (config, prepared.data, scaler, device), on_progress)
    except DataProblem as problem:
        with database.transaction() as session:
            trainings.fail(session, training.id, str(problem), clock.wall())
        raise
    version, promoted = _assemble(database, clock, training.id, config, prepared, scaler, data_hash, label)
    return _trained(database, version, training.id, prepared, promoted, already=False)


def prepare(session: Session, config: TrainingConfig, basins: Sequence[str]) -> Prepared:
    """Read what a training needs, and say which basins cannot serve and why.

    Raises:
        NoBasinLeft: none can.
    """
    training = Period.parse(config.train_period)
    validation = Period.parse(config.validation_period) if config.validation_period else training
    wanted = Period(min(training.first, validation.first), max(training.last, validation.last))
    forcings: dict[str, BasinForcing] = {}
    left_out: dict[str, str] = {}
    for basin in basins:
        found = load_forcing(session, basin, config.inputs)
        if isinstance(found, str):
            left_out[basin] = found
        elif found.period.first > wanted.first or found.period.last < wanted.last:
            left_out[basin] = found.stop or f"{basin}: the forcing {found.period} does not cover {wanted}."
        else:
            forcings[basin] = found
    period = _common(forcings, wanted, max(SPIN_UP_DAYS, config.windows.warmup_days))
    kept: dict[str, Array] = {}
    for basin in forcings:
        flow = load_discharge(session, basin, config.inputs.product, period)
        if isinstance(flow, str):
            left_out[basin] = flow
        elif reason := _unfit(basin, flow[days_of(period, training)], training):
            left_out[basin] = reason
        else:
            kept[basin] = flow
    if not kept:
        reasons = " ".join(list(left_out.values())[:3])
        raise NoBasinLeft(f"None of the {len(basins)} basins can serve for this training. {reasons}")
    if all(np.isnan(flow[days_of(period, validation)]).all() for flow in kept.values()):
        raise NoBasinLeft(f"No basin has observed discharge in the validation period {validation}: choose another.")
    forcing = stacked([forcings[basin].forcing.over(period) for basin in kept])
    return Prepared(tuple(kept), TrainingData(forcing, np.stack(list(kept.values()))), left_out)


def _common(forcings: dict[str, BasinForcing], wanted: Period, before: int) -> Period:
    """Return the wanted period with as many of the days before it as all basins have."""
    earliest = wanted.first - np.timedelta64(before, "D")
    first = max([earliest, *(one.period.first for one in forcings.values())])
    return Period(min(first, wanted.first), wanted.last)


def _unfit(basin: str, discharge: Array, training: Period) -> str | None:
    known = discharge[~np.isnan(discharge)]
    if len(known) == 0:
        return f"{basin} has no observed discharge in the training period {training}."
    if (known == known[0]).all():
        return f"{basin}: the observed discharge is constant ({known[0]:g} mm/day) in the training period {training}."
    return None


def _train_member(
    database: Database,
    clock: Clock,
    training: str,
    member: int,
    setup: tuple[TrainingConfig, TrainingData, Scaler, str],
    on_progress: OnProgress,
) -> None:
    config, data, scaler, device = setup
    with database.reading() as session:
        if member in {done.label for done in trainings.finished_members(session, training)}:
            return
        saved = trainings.checkpoint(session, training, member)
    seed = config.seed + member
    work = MemberTraining(config, data, scaler, seed, device)
    if saved is not None:
        work.resume(saved.content)
        log.info("train.resume", training=training, member=member, step=work.step)

    def keep(step: int, blob: bytes) -> None:
        progress = {"steps": work.steps, "log": work.log}
        with database.transaction() as session:
            trainings.save_checkpoint(session, training, member, step, blob, progress, clock.wall())

    done = work.run(keep, lambda progress: on_progress(member, progress))
    with database.transaction() as session:
        trainings.finish_member(session, training, _member(member, seed, done), clock.wall())
    log.info("train.member", training=training, member=member, steps=work.steps, best_nse=_best(done.log))


def _member(label: int, seed: int, trained: TrainedMember) -> versions.Member:
    weights: dict[versions.Which, bytes] = {"last": checkpoint.dump(trained.last, {})}
    if trained.best is not None:
        weights["best"] = checkpoint.dump(trained.best, {})
    return versions.Member(label, seed, weights, {"validation": trained.log})


def _assemble(
    database: Database,
    clock: Clock,
    training: str,
    config: TrainingConfig,
    prepared: Prepared,
    scaler: Scaler,
    data_hash: str,
    label: str | None,
) -> tuple[str, tuple[str, ...]]:
    """Create the version, let it serve the basins that have none, and close the training: all or nothing.

    Where another process did it meanwhile, its version is returned.
    """
    with database.transaction() as session:
        done = trainings.lock(session, training)
        if done.version_id is not None:
            return done.version_id, ()
        members = trainings.finished_members(session, training)
        new = versions.NewVersion(
            created_at=clock.wall(),
            issued_at=clock.now(),
            architecture=config.network.architecture,
            conserving=True,
            product=config.inputs.product,
            config=config.model_dump(mode="json"),
            scaler=dict(scaler.as_json()),
            basins=prepared.basins,
            data_hash=data_hash,
            code_version=metadata.version("freshet"),
            uses="best" if config.validation_period else "last",
            label=label,
            properties={},
        )
        version = versions.create(session, new, members)
        current = promotions.current(session, prepared.basins)
        vacant = [basin for basin in prepared.basins if basin not in current]
        promoted = promotions.promote(
            session, version.id, vacant, reason="first version of the basin", by="training", at=clock.now()
        )
        trainings.finish(session, training, version.id, clock.wall())
    log.info("train.version", version=version.id, members=len(members), promoted=len(promoted))
    return version.id, tuple(promoted)


def _trained(
    database: Database, version: str, training: str, prepared: Prepared, promoted: tuple[str, ...], already: bool
) -> Trained:
    with database.reading() as session:
        members = versions.members_of(session, version)
    scores = {member.label: _best(member.log["validation"]) for member in members}
    return Trained(version, training, already, prepared.basins, prepared.left_out, promoted, scores)


def _best(log_rows: list[dict[str, float]]) -> float | None:
    return max((row["validation_nse"] for row in log_rows), default=None)
