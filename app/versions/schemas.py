"""Answers about model versions."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError
from sqlalchemy.orm import Session

from app.http.base_schema import EXPLAINED, Missing, Model, next_page
from app.http.shown import As
from hydrology.base.doc import Why
from hydrology.base.products import MAX_PARTS
from hydrology.water.ledger import tolerance_of
from hydrology.water.probes import ProbeResult
from jobspec.fields import Basins, Id, Line, RequestModel
from records.database.visibility import SHADOW
from records.versions import promotions, versions
from records.versions.version_properties import Pretrained


class ModelSummary(Model):
    """A model version in a list."""

    id: str
    label: Annotated[str | None, Why("Nobody has named it.")] = Field(description="Its name for people.")
    architecture: str = Field(
        description="`mclstm`: mass-conserving LSTM. `buckets`: conserving stores. The others hold no water."
    )
    conserving: bool = Field(description="Whether the network conserves mass.")
    product: str = Field(
        description="The weather product that it uses; several are joined by `+`, that of the largest share first."
    )
    trained_on: str = Field(
        description="The weather product that it learnt from; if it differs from `product`, check the skill."
    )
    status: Literal["ready", "withdrawn", "shadow"] = Field(
        description="`shadow`: it is not public yet, and only administrators see it."
    )
    created_at: datetime = Field(description="When it was created, by the machine's clock.")
    issued_at: datetime = Field(description="When it was created, by the service's clock.")
    parent: str | None = Field(description="The version that it was fine-tuned from; null for one from scratch.")
    member_count: int
    basin_count: int = Field(description="Number of training basins.")
    current_for: int = Field(description="Number of basins that use it for their forecasts.")
    official: bool = Field(
        description="Whether it is the service's own. One that was trained with an operator's key is not: it serves "
        "only basins that were registered with that key."
    )
    missing: Missing = EXPLAINED


class ModelPage(Model):
    """Model versions, the newest first."""

    models: list[ModelSummary]
    next: str | None = next_page("/v1/models?limit=100&after=011cb6d0d4209b8d7f6a51")


class Closure(Model):
    """Mass conservation of its simulations, measured in evaluation over all its basins."""

    worst_relative_residual: float = Field(
        description="The largest amount of water unaccounted for, of all members, basins and days, relative to the "
        "water that came in."
    )
    tolerance: float = Field(description="The largest that counts as closed.")
    closes: bool
    basins: int
    period: str = Field(examples=["1989-10-01..1999-09-30"])


class Member(Model):
    """One network of a version."""

    label: int
    seed: int = Field(description="Random seed of its training.")


class ModelPart(Model):
    """A version that a combined version runs beside others, on a weather product of its own."""

    version: str
    name: str = Field(description="The beginning of its members' names in forecasts.", examples=["daymet"])
    product: str = Field(examples=["daymet"])
    architecture: str
    weight: float = Field(
        description="Its share of the flow, of all shares 1. In a basin without one of the products, or on days on "
        "which it has not come yet, the shares of the others are raised to add up to 1.",
        examples=[0.3],
    )
    member_count: int
    basin_weights: dict[str, float] = Field(
        description="Its share in the basins that have shares of their own; empty where all basins have the same."
    )


class ModelDetail(ModelSummary):
    """A model version with all its details."""

    config: dict[str, Any] = Field(description="Architecture and training configuration of the networks.")
    uses: Literal["best", "last"] = Field(description="Choice of a member's weights: best validation or last step.")
    data_hash: str = Field(description="Hash of the training data.")
    weights_hash: str = Field(description="Hash of its weights.")
    code_version: str
    members: list[Member] = Field(description="None for a version that combines others.")
    parts: list[ModelPart] = Field(
        description="The versions that it combines, the largest share first; none for a version with members of its "
        "own."
    )
    basins: list[str] = Field(description="Training basins, stored here or not.")
    tuned_on: Annotated[list[str] | None, Why("It was trained from scratch.")] = Field(
        description="The training basins used in fine-tuning."
    )
    current_basins: list[str] = Field(description="Basins that use it for their forecasts.")
    closure: Closure | None
    physics: list[Annotated[ProbeResult, As(exact=True)]] | None = Field(
        description="Physics probes run at training or installation. A version that does not conserve mass skips those "
        "of its water."
    )
    pretrained: Annotated[
        Annotated[Pretrained, As(omit=("trained_on", "twin"))] | None, Why("It was trained here.")
    ] = Field(description="Which shipped ensemble it is.")
    twin: Annotated[str | None, Why("It is scored by itself.")] = Field(
        description="The version of the same recipe trained on fewer years, scored in its place on days that it has "
        "fitted itself."
    )


class Promotion(Model):
    """A promotion: from then on some basins use the version."""

    promoted_at: datetime
    promoted_by: str
    reason: str
    basins: list[str]


class Promotions(Model):
    """The promotions of a version, the newest first."""

    version: str
    promotions: list[Promotion]
    current_basins: list[str] = Field(description="The basins that it is still current for.")


class PartShare(RequestModel):
    """A version to combine, with its weight."""

    version: Id
    weight: float = Field(gt=0, le=1e6, description="Its share of the flow, relative to the others'.", examples=[0.3])


class NewCombination(RequestModel):
    """A request to combine versions: each runs on its own weather product, and the flow is their weighted mean."""

    parts: list[PartShare] = Field(min_length=2, max_length=MAX_PARTS)
    label: Line | None = Field(None, description="Its name for people.", examples=["both products"])

    @field_validator("parts")
    @classmethod
    def _each_once(cls, parts: list[PartShare]) -> list[PartShare]:
        if len({part.version for part in parts}) < len(parts):
            raise PydanticCustomError("repeated", "a version is named twice")
        return parts


class NewPromotion(RequestModel):
    """A request to use the version in some basins."""

    reason: Line = Field(description="The reason, stored permanently.", examples=["better on the held-out years"])
    basins: Basins | None = Field(
        None,
        min_length=1,
        description="Any basins with its weather product and attributes; by default all stored training basins.",
    )


class NewRollback(RequestModel):
    """A request to return all basins of the version to their previous one."""

    reason: Line = Field(description="The reason, stored permanently.", examples=["worse in the floods of March"])


class Rollback(Model):
    """The result of a rollback."""

    version: str = Field(description="The version rolled back.")
    restored: dict[str, str] = Field(description="Restored version of each basin that had another before.")
    current_basins: list[str] = Field(description="Basins that still use it because they had none before.")


_IN_BASIN = As(
    "BasinPromotion",
    "A promotion in a basin: from then on it uses the version.",
    omit=("basin_id",),
    rename=(("version_id", "version"),),
)


class BasinPromotions(Model):
    """The versions that a basin's forecasts have come from, the newest first: the first is the current one."""

    basin: str
    promotions: list[Annotated[promotions.Promotion, _IN_BASIN]]


def version_summaries(session: Session, stored: Sequence[versions.Version]) -> list[ModelSummary]:
    in_use = promotions.in_use(session)
    return [ModelSummary.from_records(version, **_counts(version, in_use)) for version in stored]


def version_detail(session: Session, version: str) -> ModelDetail:
    stored, in_use = versions.get(session, version), promotions.in_use(session)
    physics, scratch = "It was stored without having been examined.", "It was trained from scratch."
    if stored.combines:
        physics = "Its parts were examined, each by itself."
    if stored.tuned_on is not None:
        scratch = "It was fine-tuned elsewhere, from a version not stored here."
    return ModelDetail.from_records(
        stored,
        stored.properties,
        **_counts(stored, in_use),
        members=[
            Member(label=label, seed=seed) for label, (seed, _) in versions.seeds_and_logs(session, version).items()
        ],
        parts=[ModelPart.from_records(part, member_count=len(part.members)) for part in stored.combines],
        current_basins=in_use.get(version, ()),
        closure=_closure(stored),
        why={"closure": _why_no_closure(stored), "physics": physics, "parent": scratch},
    )


def _counts(version: versions.Version, in_use: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    return {
        "basin_count": len(version.basins),
        "current_for": len(in_use.get(version.id, ())),
        "official": version.owner is None,
        "status": "shadow" if version.owner == SHADOW else version.status,
    }


def _closure(version: versions.Version) -> Closure | None:
    measured, tolerance = version.properties.closure, tolerance_of(np.float32)
    if measured is None:
        return None
    closes = measured.worst_relative_residual <= tolerance
    return Closure.from_records(measured, tolerance=tolerance, closes=closes)


def _why_no_closure(version: versions.Version) -> str:
    if not version.conserving:
        return "The network does not conserve mass."
    return f"It was not evaluated over all its basins yet (freshet evaluate --version {version.id})."
