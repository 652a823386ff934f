"""Assembles the version of a training once all its members are finished; of several parts, one that combines them.

Before it is stored, the physics probes are run on it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import structlog
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.errors import DataProblem
from hydrology.water.probes import ProbeResult
from jobspec.extensions import extensions
from models import checkpoint
from models.ensemble import Ensemble
from models.forcing import Scaler
from models.networks import architecture, snow_cells
from models.physics import measure
from operations.training.training_data import StartedTraining, best_nse
from records.database.work import Work
from records.versions import promotions, trainings, versions
from records.versions.combinations import combine
from records.versions.version_properties import ELSEWHERE
from records.versions.versions import Member, NewVersion
from runtime.clock import Clock
from runtime.release import code_version

log = structlog.get_logger()


def measured(
    version: NewVersion, members: Sequence[Member], *examinations: Callable[[Ensemble], tuple[ProbeResult, ...]]
) -> tuple[ProbeResult, ...] | None:
    """Return a version's results of the physics probes and of examinations; None without members."""
    if not members:
        return None
    weights = {member.label: checkpoint.parse(member.weights[version.uses])[0] for member in members}
    config = version.training
    ensemble = Ensemble.load(config, Scaler.from_json(version.scaler), weights, version.basins)
    sizes = len(config.inputs.auxiliary), len(config.inputs.static)
    results = measure(ensemble.networks, *sizes)
    return results + tuple(result for examine in examinations for result in examine(ensemble))


@dataclass(frozen=True, slots=True)
class Trained:
    """The version that resulted from a training.

    Attributes:
        promoted: the basins without a current version that now use this one; none for a fine-tuning.
        refused: why it may not serve any basin, where a physics probe failed.
        validation_nse: each member's best median NSE in the validation period, over `validation_basins`; None without.
    """

    version_id: str
    training_id: str
    already: bool
    basins: tuple[str, ...]
    left_out: dict[str, Absent]
    promoted: tuple[str, ...]
    refused: str | None
    validation_nse: dict[int | str, float | None]
    validation_basins: int | None


def assemble(work: Work, started: StartedTraining, label: str | None = None, *, serves: bool = True) -> Trained:
    """Create the version, promote it for basins without a version, and close the training, in one transaction.

    An operator's version serves only basins that are registered with that key. A fine-tuned version serves no basin
    before it is promoted; one that fails a physics probe, never. If the training is closed already, its version is
    returned. Refused while a member, or the twin, is not finished.
    """
    config, prepared, refused = started.config, started.prepared, None
    with work.database.reading() as session:
        finished = trainings.finished_members(session, started.training_id)  # deleted once there is a version
        twin = None if started.twin is None else trainings.get(session, started.twin).version_id
    if started.twin is not None and twin is None:
        raise DataProblem(
            f"Training {started.twin} is not finished: finish it first, because it is the twin of this one."
        )
    new = new_version(work.clock, started, label)
    examiners = [extension.load(extension.examine) for extension in extensions() if extension.examine]
    examinations = [partial(examine, work, names=prepared.basins) for examine in examiners]
    physics, snow = measured(new, finished, *examinations), snow_cells(config)
    new = replace(new, properties=replace(new.properties, physics=physics, twin=twin, snow_cells=snow))
    with work.database.transaction() as session:
        training = trainings.lock(session, started.training_id)
        promoted, version_id = list[str](), training.version_id
        if version_id is not None:
            members = versions.members_of(session, version_id)
            refused = _refusal(versions.get(session, version_id))
        else:
            members = trainings.finished_members(session, started.training_id)
            if missing := sorted(set(range(config.members)) - {member.label for member in members}):
                raise DataProblem(f"Training {started.training_id} lacks the members {missing}: train them first.")
            version_id = versions.create(session, new, members).id
            current = promotions.current(session, prepared.basins)
            serves &= started.parent is None
            own = promotions.servable(session, started.owner, prepared.basins)
            vacant = [basin for basin in own if serves and basin not in current]
            try:
                promoted = promotions.promote(
                    session, version_id, vacant, reason="first version of the basin", by="training", at=work.clock.now()
                )
            except promotions.AgainstPhysics as refusal:
                refused = str(refusal)
            trainings.finish(session, started.training_id, version_id, work.clock.wall())
            log.info("train.version", version=version_id, members=len(members), promoted=len(promoted))
    logs = {member.label: member.log["validation"] for member in members}
    return Trained(
        version_id=version_id,
        training_id=started.training_id,
        already=training.version_id is not None,
        basins=prepared.basins,
        left_out=prepared.left_out,
        promoted=tuple(promoted),
        refused=refused,
        validation_nse={label: best_nse(log) for label, log in logs.items()},
        validation_basins=next((row["validation_basins"] for log in logs.values() for row in log), None),
    )


def assemble_all(
    work: Work, trainings: Sequence[StartedTraining], label: str | None = None
) -> tuple[Trained, list[Trained]]:
    """Create the version of a training, or those of the parts and one that combines them by their shares.

    Return it, and all that have members of their own. Where a part, or its twin, fails a physics probe, nothing is
    combined, and that part is returned with the reason.
    """
    alone = trainings[0].shares is None
    parts = [assemble(work, one, label if alone else None, serves=alone) for one in trainings]
    if alone:
        return parts[0], parts
    by_basin: dict[str, dict[str, float]] = {}
    for training, part in zip(trainings, parts, strict=True):
        for basin, share in (training.shares or {}).items():
            of_basin = by_basin.setdefault(basin, {})
            of_basin[part.version_id] = of_basin.get(part.version_id, 0.0) + share
    weights = by_basin.pop(ELSEWHERE)
    with work.database.reading() as session:
        refusals = _refusals(session, weights)
    version, named = next(iter(refusals or weights)), dict[str, str]()
    if len(weights) > 1 and not refusals:
        of = partial(combine, label=label, parent=trainings[0].combined, by_basin=by_basin)
        with work.database.transaction() as session:
            one = of(session, weights, wall=work.clock.wall(), now=work.clock.now())
        version, named = one.id, {part.version: part.name for part in one.parts}
    names = tuple(sorted({name for part in parts for name in part.basins}))
    left_out = {name: why for part in parts for name, why in part.left_out.items() if name not in names}
    whole = replace(
        parts[0],
        version_id=version,
        already=all(part.already for part in parts),
        basins=names,
        left_out=left_out,
        refused=" ".join(refusals.values()) or None,
        validation_nse={
            f"{named.get(part.version_id, part.version_id)}-{label}": nse
            for part in parts
            for label, nse in part.validation_nse.items()
        },
    )
    return whole, parts


def _refusals(session: Session, parts: Iterable[str]) -> dict[str, str]:
    found = {}
    for part in parts:
        version = versions.get(session, part)
        for used in (versions.get(session, one) for one in version.evaluated_as):
            if (refusal := _refusal(used)) is not None:
                found[part] = refusal
    return found


def _refusal(version: versions.Version) -> str | None:
    """Return why a version may serve no basin because of its physics; None where it may."""
    try:
        promotions.require_usable(version)
    except promotions.AgainstPhysics as refusal:
        return str(refusal)
    return None


def new_version(clock: Clock, started: StartedTraining, label: str | None = None) -> versions.NewVersion:
    """Return the description of a training's version; its members need not be finished."""
    config = started.config
    return versions.NewVersion(
        created_at=clock.wall(),
        issued_at=clock.now(),
        architecture=config.network.architecture,
        conserving=architecture(config.network).conserving,
        product=config.inputs.product,
        config=config.model_dump(mode="json"),
        scaler=dict(started.scaler.as_json()),
        data_hash=started.prepared.data_hash,
        code_version=code_version(),
        uses="best" if config.validation_period else "last",
        label=label,
        parent_id=None if started.parent is None else started.parent.id,
        basins=started.learnt_from,
        properties=started.properties,
        owner=started.owner,
    )
