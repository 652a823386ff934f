"""Exports versions as shipped ensembles, and installs shipped ensembles as versions.

Installing counts as a training: its request is the content and the product, so that installing the same ensemble again
returns the same version.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import structlog
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Period
from hydrology.base.errors import InvalidInput, NotFound
from hydrology.base.reasons import Reason
from models.networks import architecture, snow_cells
from models.pretrained import DEFAULT, SHELF, errors, form, skill, snow
from models.pretrained.writing import Finished, Written, write
from operations.basin_data.dataset import load_forcing
from operations.training.physics_probes import measured
from operations.versions.stages import stage
from operations.versions.training_domain import attribute_means
from records.basins import basins
from records.database.engine import Database
from records.database.json_columns import to_json
from records.database.statements import as_values
from records.simulations import regional_snow_cells
from records.verification import scores
from records.versions import error_models, promotions, trainings, versions
from records.versions.version_properties import Pretrained, Tuning, VersionProperties
from runtime.clock import Clock

log = structlog.get_logger()


class UnknownEnsemble(NotFound):
    """No ensemble of that name is shipped, or none at all."""

    kind = "unknown-ensemble"


@dataclass(frozen=True, slots=True)
class Installed:
    """A shipped ensemble that is installed as a version.

    Attributes:
        content: the fingerprint of the shipped ensemble.
        already: whether it was installed before.
        trained_on, product: the forcing product that it learnt from, and the one that it takes here.
        learnt_from: number of basins that it learnt from.
        twin: the version that is scored for it on days that it has fitted itself, if any.
    """

    version_id: str
    name: str
    content: str
    already: bool
    trained_on: str
    product: str
    members: int
    learnt_from: int
    twin: str | None


@dataclass(frozen=True, slots=True)
class Promoted:
    """The basins that now use a version, those that used it before, and why the others do not."""

    basins: tuple[str, ...]
    already: tuple[str, ...]
    left_out: dict[str, Absent]


def export(database: Database, version_id: str, folder: Path) -> Written:
    """Write a version in the shipped form.

    The weights that it uses, in half precision.

    Raises:
        UnknownVersion: there is none of that id.
        AnotherVersion: the folder holds another version.
        DataProblem: half precision cannot hold the weights; nothing is written.
    """
    with database.reading() as session:
        version = versions.get(session, version_id)
        version.require_members("Exporting")
        members = versions.members_of(session, version_id)
        twin = _twin(session, version)
    return ship(folder, version, members, twin)


def ship(
    folder: Path,
    version: versions.NewVersion,
    members: Sequence[versions.Member],
    twin: form.TwinEnsemble | None = None,
) -> Written:
    """Write members of a version in the shipped form.

    It need not be stored or complete.

    Members that are in the folder already stay, so that a training's can be written as they finish.

    Args:
        version: its description, as `train.new_version` returns it for a training under way.
        members: with the weights that the version uses.
        twin: the ensemble shipped beside it that is scored for it.

    Raises:
        AnotherVersion, DataProblem: as `export`.
    """
    tuning = version.properties.tuning
    inputs = version.config["inputs"] | {"product": version.trained_on}
    origin = form.Origin.model_validate(
        {
            "config": version.config | {"inputs": inputs},
            "scaler": version.scaler,
            "basins": sorted(version.basins),
            "attribute_ranges": version.properties.attribute_ranges,
            "data_hash": version.data_hash,
            "code_version": version.code_version,
            "uses": version.uses,
            "tuning": tuning and to_json(tuning),
            "twin": twin,
        }
    )
    return write(folder, origin, [Finished(one.label, one.seed, one.weights[version.uses], one.log) for one in members])


def read_shipped(name: str | None = None, shelf: Path | None = None) -> form.Ensemble:
    """Return a shipped ensemble after checking it; by default the default one, or the only one.

    Args:
        shelf: the folder of ensembles; by default that of the package.

    Raises:
        UnknownEnsemble: it is not shipped; the message lists those that are.
        InvalidInput: none is named, and several are shipped without the default one.
        DamagedEnsemble: one of its files is missing or damaged.
    """
    shelf = shelf or SHELF
    shipped = form.names(shelf)
    if not shipped:
        raise UnknownEnsemble(f"No trained ensemble is shipped in {shelf}: train a version (freshet train).")
    if name is None and DEFAULT in shipped:
        name = DEFAULT
    if name is None and len(shipped) > 1:
        raise InvalidInput(f"Several ensembles are shipped ({', '.join(shipped)}): name one.")
    if name is not None and name not in shipped:
        raise UnknownEnsemble(f"No ensemble {name!r} is shipped: choose one of {', '.join(shipped)}.")
    return form.read(shelf / (name or shipped[0]))


def install(database: Database, clock: Clock, shipped: form.Ensemble, product: str | None = None) -> Installed:
    """Install a shipped ensemble as a version, and its twin before it, in one transaction each.

    The same content and product give the same version. The shipped error model, regional snow cells and skill are
    stored where the version has none, and only with the product that they were fitted on. Skill is stored for basins
    that are stored here, so that installing again adds that of basins ingested since.

    Args:
        product: the forcing product that it will take; by default the one that it was trained on.
    """
    result = shipped.description
    trained_on = result.config.inputs.product
    product = product or trained_on
    twin = None if shipped.twin is None else install(database, clock, shipped.twin, product).version_id
    fitted, as_snow, judged = errors.read(shipped), snow.read(shipped), skill.read(shipped)
    request = {"pretrained": shipped.content, "product": product}
    members = [
        versions.Member(one.label, one.seed, {result.uses: shipped.weights[one.label]}, one.log)
        for one in result.members
    ]
    new = _new_version(clock, shipped, product, twin)
    with database.reading() as session:
        is_new = trainings.version_of(session, request) is None
    if is_new:
        new = replace(new, properties=replace(new.properties, physics=measured(new, members)))
    with database.transaction() as session:
        training = trainings.lock(session, trainings.start(session, request, clock.wall()).id)
        version = training.version_id
        if version is None:
            version = versions.create(session, new, members).id
            trainings.finish(session, training.id, version, clock.wall())
        if fitted is not None and product == trained_on:
            _store_errors(session, clock, version, fitted)
        if as_snow is not None and product == trained_on and regional_snow_cells.get(session, version) is None:
            regional_snow_cells.replace(session, version, as_snow, clock.wall())
        if judged is not None and product == trained_on:
            _add_skill(session, version, judged)
    already = training.version_id is not None
    log.info("pretrained.install", version=version, name=shipped.name, product=product, already=already)
    return Installed(
        version_id=version,
        name=shipped.name,
        content=shipped.content,
        already=already,
        trained_on=trained_on,
        product=product,
        members=len(members),
        learnt_from=len(result.basins),
        twin=twin,
    )


def _store_errors(session: Session, clock: Clock, version: str, fitted: errors.ShippedErrors) -> None:
    if error_models.get(session, version, []) is not None:
        return
    new = error_models.NewErrorModel(
        version_id=version,
        first=fitted.period.first,
        last=fitted.period.last,
        **as_values(fitted, "period"),
    )
    error_models.replace(session, new, clock.wall())


def _add_skill(session: Session, version: str, judged: skill.ShippedSkill) -> None:
    """Store the shipped scores of basins without scores of their own over the same period."""
    stored, period = {one.id for one in basins.list_basins(session)}, Period.parse(judged.period)
    rows = [
        scores.Score(
            version_id=version,
            basin_id=basin,
            member="mean",
            metric=metric,
            first_day=period.first,
            last_day=period.last,
            n=n,
            value=value,
            reason=absent(Reason.AS_SHIPPED, text=of_metric.reasons[basin]) if value is None else None,
            attributes_assumed=[],
            shipped=True,
            evaluated_at=judged.evaluated_at,
        )
        for metric, of_metric in judged.metrics.items()
        for basin, n, value in zip(judged.basins, of_metric.n, of_metric.value, strict=True)
        if basin in stored
    ]
    scores.add(session, rows)


def promote_where_vacant(database: Database, clock: Clock, version_id: str) -> Promoted:
    """Promote a version for every basin with its forcing and attributes and without a current version.

    Raises:
        UnknownVersion: there is none of that id.
        Withdrawn: it may not be used.
    """
    left_out: dict[str, Absent] = {}
    with database.reading() as session:
        version = versions.get(session, version_id)
        config, means = version.training, attribute_means(version)
        fit = []
        for basin in stage("basins checked", [one.id for one in basins.list_basins(session)]):
            found = load_forcing(session, basin, config, means)
            if isinstance(found, Absent):
                left_out[basin] = found
            else:
                fit.append(basin)
    reason = f"shipped ensemble {version.label}, first version of the basin"
    with database.transaction() as session:
        current = promotions.current(session, fit)
        vacant = [basin for basin in fit if basin not in current]
        promoted = promotions.promote(session, version_id, vacant, reason=reason, by="installation", at=clock.now())
    already = tuple(basin for basin, used in current.items() if used == version_id)
    for basin, used in current.items():
        if used != version_id:
            left_out[basin] = absent(Reason.USES_OTHER_VERSION, basin=basin, version=used)
    return Promoted(tuple(promoted), already, left_out)


def _new_version(clock: Clock, shipped: form.Ensemble, product: str, twin: str | None) -> versions.NewVersion:
    result = shipped.description
    config = result.config.model_dump(mode="json")
    trained_on = result.config.inputs.product
    tuning = None
    if result.tuning is not None:
        tuning = Tuning(basins=tuple(result.tuning.basins), earlier_periods=tuple(result.tuning.earlier_periods))
    return versions.NewVersion(
        created_at=clock.wall(),
        issued_at=clock.now(),
        architecture=result.config.network.architecture,
        conserving=architecture(result.config.network).conserving,
        product=product,
        config=config | {"inputs": config["inputs"] | {"product": product}},
        scaler=dict(result.scaler),
        basins=tuple(result.basins),
        data_hash=result.data_hash,
        code_version=result.code_version,
        uses=result.uses,
        label=shipped.name,
        properties=VersionProperties(
            attribute_ranges=result.attribute_ranges,
            pretrained=Pretrained(name=shipped.name, content=shipped.content, trained_on=trained_on, twin=twin),
            tuning=tuning,
            snow_cells=snow_cells(result.config),
        ),
    )


def _twin(session: Session, version: versions.Version) -> form.TwinEnsemble | None:
    """Return the shipped name and content of a version's twin."""
    shipped = version.twin_id and versions.get(session, version.twin_id).properties.pretrained
    return form.TwinEnsemble(name=shipped.name, content=shipped.content) if shipped else None
