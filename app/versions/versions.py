"""/v1/models and /v1/basins/{basin}/promotions: model versions."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Response
from sqlalchemy.orm import Session

from app.exports.answers import JsonAnswer, documented_responses
from app.exports.fields import Listing, documented_list, listing
from app.http.api_keys import AdminWriter, KeyFirstRoute
from app.http.dependencies import KnownBasin, Reading, VersionId
from app.http.problems import documented_writing
from app.versions import schemas
from hydrology.base.errors import InvalidInput
from hydrology.water.ledger import tolerance_of
from jobspec.fields import NAMED
from records.basins.basins import UnknownBasin
from records.versions import combinations, promotions, versions
from records.versions.promotions import AgainstPhysics, NoBasin, NothingBefore, NotOwnersBasin, Withdrawn
from records.versions.versions import CombinedVersion, UnknownVersion

router = APIRouter(tags=["models"], route_class=KeyFirstRoute)

Product = Annotated[
    str | None,
    Query(description="Only versions that use this weather product.", pattern=NAMED, examples=["maurer_extended"]),
]
Architecture = Annotated[
    str | None, Query(description="Only versions of this architecture.", pattern=NAMED, examples=["mclstm"])
]


def version_summaries(session: Session, stored: Sequence[versions.Version]) -> list[schemas.ModelSummary]:
    in_use = promotions.in_use(session)
    return [schemas.ModelSummary.from_records(version, **_counts(version, in_use)) for version in stored]


def version_detail(session: Session, version: str) -> schemas.ModelDetail:
    stored, in_use = versions.get(session, version), promotions.in_use(session)
    physics, scratch = "It was stored without having been examined.", "It was trained from scratch."
    if stored.combines:
        physics = "Its parts were examined, each by itself."
    if stored.tuned_on is not None:
        scratch = "It was fine-tuned elsewhere, from a version not stored here."
    return schemas.ModelDetail.from_records(
        stored,
        stored.properties,
        **_counts(stored, in_use),
        members=[
            schemas.Member(label=label, seed=seed)
            for label, (seed, _) in versions.seeds_and_logs(session, version).items()
        ],
        parts=[schemas.ModelPart.from_records(part, member_count=len(part.members)) for part in stored.combines],
        current_basins=in_use.get(version, ()),
        closure=_closure(stored),
        why={"closure": _why_no_closure(stored), "physics": physics, "parent": scratch},
    )


def promotions_of(session: Session, version: str) -> schemas.Promotions:
    """Return the promotions of a version; basins promoted together are one entry."""
    rows = promotions.of_version(session, version)
    groups = groupby(rows, key=lambda row: (row.promoted_at, row.promoted_by, row.reason))
    return schemas.Promotions(
        version=version,
        promotions=[
            schemas.Promotion(promoted_at=at, promoted_by=by, reason=reason, basins=[row.basin_id for row in group])
            for (at, by, reason), group in groups
        ],
        current_basins=promotions.in_use(session).get(version, []),
    )


def _counts(version: versions.Version, in_use: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    return {
        "basin_count": len(version.basins),
        "current_for": len(in_use.get(version.id, ())),
        "official": version.owner is None,
    }


def _closure(version: versions.Version) -> schemas.Closure | None:
    measured, tolerance = version.properties.closure, tolerance_of(np.float32)
    if measured is None:
        return None
    closes = measured.worst_relative_residual <= tolerance
    return schemas.Closure.from_records(measured, tolerance=tolerance, closes=closes)


def _why_no_closure(version: versions.Version) -> str:
    if not version.conserving:
        return "The network does not conserve mass."
    return f"It was not evaluated over all its basins yet (freshet evaluate --version {version.id})."


@router.get("/models", summary="List model versions", **documented_list(schemas.ModelPage))
def list_models(
    session: Reading,
    page: Annotated[Listing, listing(schemas.ModelPage)],
    product: Product = None,
    architecture: Architecture = None,
) -> Response:
    """Model versions, the newest first, a page at a time: follow `next` until it is null."""
    found = versions.list_versions(
        session, product=product, architecture=architecture, after=page.after, limit=page.sought
    )
    return page.of(found, lambda shown: version_summaries(session, shown))


@router.post(
    "/models",
    summary="Combine model versions",
    status_code=201,
    responses=documented_writing(UnknownVersion, CombinedVersion, Withdrawn, AgainstPhysics, InvalidInput),
)
def combine_models(writer: AdminWriter, new: schemas.NewCombination) -> schemas.ModelDetail:
    """A version whose flow is the weighted mean of others, each on its own weather product. Where a product is missing,
    the others go on. It is put in use like any other. Combining the same again returns the same version."""
    with writer.database.transaction() as session:
        weights = {part.version: part.weight for part in new.parts}
        wall, now = writer.clock.wall(), writer.clock.now()
        combined = combinations.combine(session, weights, label=new.label, wall=wall, now=now)
        writer.record(session, "models combined", combined.id)
        return version_detail(session, combined.id)


@router.get(
    "/models/{version}", summary="Read a model version", **documented_responses(schemas.ModelDetail, UnknownVersion)
)
def read_model(session: Reading, version: VersionId, answer: JsonAnswer) -> Response:
    """Its training and training data, members, training basins, the basins that it is current for, and the mass
    conservation of its simulations."""
    return answer.of(version_detail(session, version))


@router.get(
    "/models/{version}/promotions",
    summary="Promotions of a model version",
    **documented_responses(schemas.Promotions, UnknownVersion),
)
def read_model_promotions(session: Reading, version: VersionId, answer: JsonAnswer) -> Response:
    """Its promotions to current version: who, when, why and for which basins, newest first."""
    return answer.of(promotions_of(session, version))


@router.put(
    "/models/{version}/promotion",
    summary="Put a model version in use",
    responses=documented_writing(UnknownVersion, UnknownBasin, Withdrawn, AgainstPhysics, NotOwnersBasin, NoBasin),
)
def promote_model(writer: AdminWriter, version: VersionId, new: schemas.NewPromotion) -> schemas.Promotions:
    """From then on the forecasts of the basins come from it. To undo it, post a rollback. Repeating it changes
    nothing. A version that was trained with an operator's key serves only basins registered with that key."""
    with writer.database.transaction() as session:
        writer.record(session, "model promoted", version, reason=new.reason)
        by, at = writer.key.name, writer.clock.now()
        promotions.promote(session, version, new.basins, reason=new.reason, by=by, at=at)
        return promotions_of(session, version)


@router.post(
    "/models/{version}/rollback",
    summary="Roll back a model version",
    responses=documented_writing(UnknownVersion, NothingBefore, Withdrawn, AgainstPhysics),
)
def roll_back_model(writer: AdminWriter, version: VersionId, new: schemas.NewRollback) -> schemas.Rollback:
    """Every basin that uses the version gets its previous one, all or none. The version
    stays, and can be promoted again."""
    with writer.database.transaction() as session:
        writer.record(session, "model rolled back", version, reason=new.reason)
        by, at = writer.key.name, writer.clock.now()
        restored = promotions.roll_back(session, version, reason=new.reason, by=by, at=at)
        current = promotions.in_use(session).get(version, [])
        return schemas.Rollback(version=version, restored=restored, current_basins=current)


@router.get(
    "/basins/{basin}/promotions",
    summary="Promotions in a basin",
    **documented_responses(schemas.BasinPromotions, UnknownBasin),
)
def read_basin_promotions(session: Reading, basin: KnownBasin, answer: JsonAnswer) -> Response:
    """The promotions of the basin, the newest first: the first is the current version; an empty list: no version was
    promoted yet."""
    return answer.of(schemas.BasinPromotions(basin=basin, promotions=promotions.history(session, basin)))
