"""Installs shipped ensembles, and combinations of some, as versions.

Installing counts as a training: its request is the content and the product, so that installing the same again returns
the same version.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import structlog
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.errors import InvalidInput, NotFound
from hydrology.base.products import JOINT
from hydrology.base.reasons import Reason
from hydrology.snow.snow import RegionalSnow
from models.networks import architecture, snow_cells
from models.pretrained import COMBINED, DEFAULT, MEANS, SHELF, attachments, combination, form
from models.pretrained.combination import Combination
from models.pretrained.form import Ensemble
from models.pretrained.probe_results import probe_results
from operations.basin_data.dataset import load_forcing
from operations.basin_data.ingest import IngestResult
from operations.forecasting.plans import why_none
from operations.versions.learnt_days import attribute_means
from operations.weather.fuse import NothingToFuse, fuse
from records.basins import basins
from records.database.base import JsonObject
from records.database.stored import as_values
from records.database.work import Work
from records.series import series
from records.simulations import snow_cells as snow_records
from records.verification import scores
from records.versions import combinations, error_models, promotions, trainings, versions
from records.versions.version_properties import Pretrained, Tuning, VersionProperties
from records.weather.fused_products import FusedProduct
from runtime.clock import Clock

log = structlog.get_logger()


class UnknownEnsemble(NotFound):
    """No ensemble of that name is shipped, or none at all."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A version from what is shipped: the products of its training and those here, joined by +, and its twin."""

    version_id: str
    name: str
    content: str
    already: bool
    trained_on: str
    product: str
    members: int
    learnt_from: int
    twin: str | None
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Promoted:
    """The basins that now use a version, those that used it before, and why the others do not."""

    basins: tuple[str, ...]
    already: tuple[str, ...]
    left_out: dict[str, Absent]


@dataclass(frozen=True, slots=True)
class _Beside:
    errors: attachments.ShippedErrors | None
    skill: attachments.ShippedSkill | None
    snow: RegionalSnow | None


def usual_name(session: Session, product: str | None = None, shelf: Path | None = None) -> str | None:
    """Return the name of what is installed where none is named: `COMBINED` where all its products are stored.

    A mean of products counts as stored where these are. None: `read_shipped` chooses. A product that all parts are to
    take leaves the combination nothing to combine.
    """
    folder = (shelf or SHELF) / COMBINED
    if product is not None or not (folder / combination.DESCRIPTION).exists():
        return None
    taken = combination.read(folder).products
    return COMBINED if _are_stored(session, [part for one in taken for part in MEANS.get(one, (one,))]) else None


def _are_stored(session: Session, products: Sequence[str]) -> bool:
    return {*series.products(session, "precipitation")}.issuperset(products)


def read_shipped(name: str | None = None, shelf: Path | None = None) -> Ensemble | Combination:
    """Return a shipped ensemble or combination after checking it; by default the default one, or the only one.

    The name is of one on the shelf (a folder, by default that of the package), or the path of a folder that `export`
    has written, or of the description in it.
    """
    shelf = shelf or SHELF
    if name is not None and (folder := _exported(Path(name))) is not None:
        return combination.read(folder) if (folder / combination.DESCRIPTION).exists() else form.read(folder)
    combined = form.names(shelf, combination.DESCRIPTION)
    shipped = sorted({*form.names(shelf), *combined})
    if not shipped:
        raise UnknownEnsemble(f"No trained ensemble is shipped in {shelf}: train a version (freshet train).")
    if name is None and DEFAULT in shipped:
        name = DEFAULT
    if name is None and len(shipped) > 1:
        raise InvalidInput(f"Several ensembles are shipped ({', '.join(shipped)}): name one.")
    if name is not None and name not in shipped:
        raise UnknownEnsemble(
            f"No ensemble {name!r} is shipped: choose one of {', '.join(shipped)}, or give a folder that "
            "`freshet models export` has written."
        )
    chosen = name or shipped[0]
    return combination.read(shelf / chosen) if chosen in combined else form.read(shelf / chosen)


def _exported(path: Path) -> Path | None:
    """Return the folder of a description that a path names, itself or by its folder; None where there is none."""
    descriptions = (form.DESCRIPTION, combination.DESCRIPTION)
    folder = path.parent if path.name in descriptions else path
    return folder.absolute() if any((folder / name).is_file() for name in descriptions) else None


def derive_means(work: Work, shipped: Ensemble | Combination) -> list[tuple[FusedProduct, list[IngestResult]]]:
    """Derive the weather that is a mean of products for what is shipped, where all of these are stored.

    From then on it follows what is stored of them, as any fused product.
    """
    products = shipped.products if isinstance(shipped, Combination) else (shipped.product,)
    with work.database.reading() as session:
        wanted = [name for name in products if name in MEANS and _are_stored(session, MEANS[name])]
    derived = []
    for name in wanted:
        with suppress(NothingToFuse):  # no basin has all of them
            derived.append(fuse(work, name, MEANS[name]))
    return derived


def install(work: Work, shipped: Ensemble | Combination, product: str | None = None) -> Installed:
    """Install what is shipped as a version, in one transaction; before it its twin and its parts in one each.

    The same content and product give the same version. The shipped error model, regional snow cells and skill are
    stored where the version has none, and only with the products that they were fitted on. Skill is stored for basins
    that are stored here, so that installing again adds that of basins ingested since. By default it, and every part of
    a combination, takes the product that it was trained on. A withdrawn part, or a damaged file, is refused.
    """
    beside = {one.content: _beside(one) for one in _all(shipped)}
    return _install(work, shipped, product, beside)


def _all(shipped: Ensemble | Combination) -> Iterator[Ensemble | Combination]:
    yield shipped
    if shipped.twin is not None:
        yield from _all(shipped.twin)
    for part in shipped.parts if isinstance(shipped, Combination) else ():
        yield from _all(part)


def _beside(shipped: Ensemble | Combination) -> _Beside:
    of_cells = attachments.read_snow(shipped) if isinstance(shipped, Ensemble) else None
    return _Beside(attachments.read_errors(shipped), attachments.read_skill(shipped), of_cells)


def _install(
    work: Work, shipped: Ensemble | Combination, product: str | None, beside: Mapping[str, _Beside]
) -> Installed:
    twin = None if shipped.twin is None else _install(work, shipped.twin, product, beside).version_id
    if isinstance(shipped, Combination):
        request = {"pretrained": shipped.content, "product": product}
        parts = [_install(work, part, product, beside).version_id for part in shipped.parts]
        create = _combining(work.clock, shipped, parts)
    else:
        request = {"pretrained": shipped.content, "product": product or shipped.product}
        create = _creating(work, shipped, request, twin)
    with work.database.transaction() as session:
        training = trainings.lock(session, trainings.start(session, request, work.clock.wall()).id)
        already = training.version_id is not None
        version = versions.get(session, training.version_id) if training.version_id else create(session)
        if not already:
            trainings.finish(session, training.id, version.id, work.clock.wall())
        if version.product == version.trained_on:
            _store_beside(session, work.clock, version, beside[shipped.content])
    log.info("pretrained.install", version=version.id, name=shipped.name, product=version.product, already=already)
    return Installed(
        version_id=version.id,
        name=shipped.name,
        content=shipped.content,
        already=already,
        trained_on=version.trained_on,
        product=version.product,
        members=version.member_count,
        learnt_from=len(version.basins),
        twin=version.twin_id,
        parts=tuple(part.version for part in version.combines),
    )


def _combining(clock: Clock, shipped: Combination, parts: Sequence[str]) -> Callable[[Session], versions.Version]:
    shares = dict(zip(parts, shipped.description.parts, strict=True))
    weights = {version: part.weight for version, part in shares.items()}
    own = shipped.description.parts[0].basin_weights
    by_basin = {basin: {version: part.basin_weights[basin] for version, part in shares.items()} for basin in own}
    trained_on = JOINT.join(shipped.products)
    pretrained = Pretrained(name=shipped.name, content=shipped.content, trained_on=trained_on)
    wall, now = clock.wall(), clock.now()
    return partial(
        combinations.combine,
        weights=weights,
        label=shipped.name,
        wall=wall,
        now=now,
        by_basin=by_basin,
        pretrained=pretrained,
    )


def _creating(
    work: Work, shipped: Ensemble, request: JsonObject, twin: str | None
) -> Callable[[Session], versions.Version]:
    result = shipped.description
    members = [
        versions.Member(one.label, one.seed, {result.uses: shipped.weights[one.label]}, one.log)
        for one in result.members
    ]
    new = _new_version(work.clock, shipped, str(request["product"]), twin)
    with work.database.reading() as session:
        is_new = trainings.version_of(session, request) is None
    if is_new:
        new = replace(new, properties=replace(new.properties, physics=probe_results(shipped)))
    return partial(versions.create, new=new, members=members)


def _store_beside(session: Session, clock: Clock, version: versions.Version, beside: _Beside) -> None:
    if beside.errors is not None and error_models.get(session, version.id, []) is None:
        fitted, days = as_values(beside.errors, "period"), beside.errors.period
        new = error_models.NewErrorModel(version_id=version.id, first=days.first, last=days.last, **fitted)
        error_models.replace(session, new, clock.wall())
    if beside.snow is not None and snow_records.regional_cells(session, version.id) is None:
        snow_records.replace_regional(session, version.id, beside.snow, clock.wall())
    if beside.skill is not None:
        _add_skill(session, version, beside.skill)


def _add_skill(session: Session, version: versions.Version, judged: attachments.ShippedSkill) -> None:
    stored, period = {one.id for one in basins.list_basins(session)}, judged.period
    rows = [
        scores.Score(
            version_id=version.id,
            basin_id=basin,
            member=member,
            metric=metric,
            first_day=period.first,
            last_day=period.last,
            n=n,
            value=value,
            reason=absent(Reason.AS_SHIPPED, text=of_metric.reasons[basin]) if value is None else None,
            attributes_assumed=[],
            shipped=True,
            period_use=version.use_of(period, basin),
            evaluated_at=judged.evaluated_at,
        )
        for member, of_member in judged.by_member.items()
        for metric, of_metric in of_member.metrics.items()
        for basin, n, value in zip(of_member.basins, of_metric.n, of_metric.value, strict=True)
        if basin in stored
    ]
    scores.add(session, rows)


def promote_where_vacant(work: Work, version_id: str) -> Promoted:
    """Promote a version for every basin with its forcing and attributes and without a current version.

    A combined version needs those of one of its parts. One that may not be used is refused.
    """
    left_out: dict[str, Absent] = {}
    with work.database.reading() as session:
        version = versions.get(session, version_id)
        fit = []
        stored = basins.list_basins(session)
        for basin in work.counted("basins checked", [one.id for one in stored], len(stored)):
            lacking = _lacking(session, version, basin)
            if lacking is None:
                fit.append(basin)
            else:
                left_out[basin] = lacking
    reason = f"shipped ensemble {version.label}, first version of the basin"
    with work.database.transaction() as session:
        current = promotions.current(session, fit)
        vacant = [basin for basin in fit if basin not in current]
        promoted = promotions.promote(
            session, version_id, vacant, reason=reason, by="installation", at=work.clock.now()
        )
    already = tuple(basin for basin, used in current.items() if used == version_id)
    for basin, used in current.items():
        if used != version_id:
            left_out[basin] = absent(Reason.USES_OTHER_VERSION, basin=basin, version=used)
    return Promoted(tuple(promoted), already, left_out)


def _lacking(session: Session, version: versions.Version, basin: str) -> Absent | None:
    """Return what a version, or every one of its parts, lacks in a basin; None where it can be used."""
    reasons: dict[str, Absent] = {}
    for one in [versions.get(session, part.version) for part in version.parts]:
        found = load_forcing(session, basin, one.training, attribute_means(one))
        if not isinstance(found, Absent):
            return None
        reasons[one.id] = found
    return why_none(reasons)


def _new_version(clock: Clock, shipped: Ensemble, product: str, twin: str | None) -> versions.NewVersion:
    result = shipped.description
    config = result.config.model_dump(mode="json")
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
            pretrained=Pretrained(name=shipped.name, content=shipped.content, trained_on=shipped.product, twin=twin),
            tuning=tuning,
            snow_cells=snow_cells(result.config),
        ),
    )
