"""/v1/models and /v1/basins/{basin}/promotions: model versions."""

from itertools import groupby
from typing import Annotated

from fastapi import APIRouter, Query, Response
from sqlalchemy.orm import Session

from app.exports.answers import JsonAnswer, documented_responses
from app.exports.fields import Listing, documented_list, listing
from app.http.api_keys import AdminWriter, KeyFirstRoute
from app.http.dependencies import KnownBasin, Reading, VersionId
from app.http.problems import documented_writing
from app.versions import schemas
from hydrology.base.errors import InvalidInput
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
    return page.of(found, lambda shown: schemas.version_summaries(session, shown))


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
        return schemas.version_detail(session, combined.id)


@router.get(
    "/models/{version}", summary="Read a model version", **documented_responses(schemas.ModelDetail, UnknownVersion)
)
def read_model(session: Reading, version: VersionId, answer: JsonAnswer) -> Response:
    """Its training and training data, members, training basins, the basins that it is current for, and the mass
    conservation of its simulations."""
    return answer.of(schemas.version_detail(session, version))


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
