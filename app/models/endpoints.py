"""/v1/models and /v1/basins/{basin}/promotions"""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.http.api_keys import Admin, By
from app.http.conditional import NOT_MODIFIED, IfNoneMatch, tagged
from app.http.dependencies import BasinId, IdCursor, OpenDatabase, PageLimit, Reading, ServiceClock, VersionId
from app.http.pagination import next_page
from app.http.problems import documented, documented_writing
from app.models import service
from app.models.schemas import (
    BasinPromotions,
    ModelDetail,
    ModelPage,
    NewPromotion,
    NewRollback,
    Promotions,
    Rollback,
)
from jobspec.fields import NAME
from records.access import audit
from records.basins.basins import UnknownBasin
from records.versions.promotions import AgainstPhysics, NoBasin, NothingBefore, NotOwnersBasin, Withdrawn
from records.versions.versions import UnknownVersion

router = APIRouter(tags=["models"])

Product = Annotated[
    str | None,
    Query(
        description="Only versions that use this weather product.", pattern=f"^{NAME}$", examples=["maurer_extended"]
    ),
]
Architecture = Annotated[
    str | None, Query(description="Only versions of this architecture.", pattern=f"^{NAME}$", examples=["mclstm"])
]


@router.get("/models", summary="List model versions", responses=documented())
def list_models(
    request: Request,
    response: Response,
    session: Reading,
    product: Product = None,
    architecture: Architecture = None,
    after: IdCursor = None,
    limit: PageLimit = 100,
) -> ModelPage:
    """Model versions, the newest first, a page at a time: follow `next` until it is null."""
    models, more = service.page(session, product=product, architecture=architecture, after=after, limit=limit)
    query = {"product": product, "architecture": architecture, "limit": limit}
    following = next_page(request, response, query, models[-1].id if more else None)
    return ModelPage(models=models, next=following)


@router.get(
    "/models/{version}",
    summary="Read a model version",
    responses=NOT_MODIFIED | documented(UnknownVersion),
    response_model=ModelDetail,
)
def read_model(
    session: Reading, response: Response, version: VersionId, if_none_match: IfNoneMatch = None
) -> ModelDetail | Response:
    """Its training and training data, members, training basins, the basins that it is current for, and the mass
    conservation of its simulations."""
    return tagged(service.detail(session, version), response, if_none_match)


@router.get(
    "/models/{version}/promotions",
    summary="Promotions of a model version",
    responses=NOT_MODIFIED | documented(UnknownVersion),
    response_model=Promotions,
)
def read_model_promotions(
    session: Reading, response: Response, version: VersionId, if_none_match: IfNoneMatch = None
) -> Promotions | Response:
    """Its promotions to current version: who, when, why and for which basins, newest first."""
    return tagged(service.promotions_of(session, version), response, if_none_match)


@router.put(
    "/models/{version}/promotion",
    summary="Put a model version in use",
    responses=documented_writing(UnknownVersion, UnknownBasin, Withdrawn, AgainstPhysics, NotOwnersBasin, NoBasin),
)
def promote_model(
    key: Admin, actor: By, database: OpenDatabase, clock: ServiceClock, version: VersionId, new: NewPromotion
) -> Promotions:
    """From then on the forecasts of the basins come from it. To undo it, post a rollback. Repeating it changes
    nothing. A version that was trained with an operator's key serves only basins registered with that key."""
    with database.transaction() as session:
        audit.record(session, actor, "model promoted", version, clock.wall(), reason=new.reason)
        return service.promote(session, version, new, key.name, clock.now())


@router.post(
    "/models/{version}/rollback",
    summary="Roll back a model version",
    responses=documented_writing(UnknownVersion, NothingBefore, Withdrawn, AgainstPhysics),
)
def roll_back_model(
    key: Admin, actor: By, database: OpenDatabase, clock: ServiceClock, version: VersionId, new: NewRollback
) -> Rollback:
    """Every basin that uses the version gets its previous one, all or none. The version
    stays, and can be promoted again."""
    with database.transaction() as session:
        audit.record(session, actor, "model rolled back", version, clock.wall(), reason=new.reason)
        return service.roll_back(session, version, new, key.name, clock.now())


@router.get(
    "/basins/{basin}/promotions",
    summary="Promotions in a basin",
    responses=NOT_MODIFIED | documented(UnknownBasin),
    response_model=BasinPromotions,
)
def read_basin_promotions(
    session: Reading, response: Response, basin: BasinId, if_none_match: IfNoneMatch = None
) -> BasinPromotions | Response:
    """The promotions of the basin, the newest first: the first is the current version; an empty list: no version was
    promoted yet."""
    return tagged(service.promotions_in(session, basin), response, if_none_match)
