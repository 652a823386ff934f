"""Builds the answers about model versions."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from app.versions.schemas import (
    BasinPromotion,
    BasinPromotions,
    Closure,
    Member,
    ModelDetail,
    ModelPart,
    ModelSummary,
    Pretrained,
    ProbeResult,
    Promotion,
    Promotions,
)
from hydrology.water.ledger import tolerance_of
from records.versions import promotions, versions

InUse = Mapping[str, Sequence[str]]


def summaries(session: Session, stored: Sequence[versions.Version]) -> list[ModelSummary]:
    """Return versions as in a list."""
    in_use = promotions.in_use(session)
    return [ModelSummary(**_common_fields(version, in_use)) for version in stored]


def detail(session: Session, version: str) -> ModelDetail:
    """Return a version with all its details.

    Raises:
        UnknownVersion: there is none of that id.
    """
    stored, in_use = versions.get(session, version), promotions.in_use(session)
    closure = _closure(stored)
    missing = {} if closure else {"closure": _why_no_closure(stored)}
    if stored.properties.physics is None:
        missing["physics"] = (
            "Its parts were examined, each by itself."
            if stored.combines
            else "It was stored without having been examined."
        )
    if stored.label is None:
        missing["label"] = "Nobody has named it."
    if stored.tuned_on is None:
        missing["tuned_on"] = "It was trained from scratch."
    if stored.parent_id is None:
        missing["parent"] = missing.get("tuned_on", "It was fine-tuned elsewhere, from a version not stored here.")
    shipped = stored.properties.pretrained
    if shipped is None:
        missing["pretrained"] = "It was trained here."
    if stored.twin_id is None:
        missing["twin"] = "It is scored by itself."
    return ModelDetail(
        **_common_fields(stored, in_use),
        **{name: getattr(stored, name) for name in ("config", "uses", "data_hash", "weights_hash", "code_version")},
        members=[Member(label=label, seed=seed) for label, seed in versions.seeds_of(session, version).items()],
        parts=[
            ModelPart(
                **{name: getattr(part, name) for name in ("version", "name", "product", "architecture", "weight")},
                member_count=len(part.members),
                basin_weights=dict(part.basin_weights),
            )
            for part in stored.combines
        ],
        basins=list(stored.basins),
        tuned_on=None if stored.tuned_on is None else list(stored.tuned_on),
        current_basins=list(in_use.get(version, ())),
        closure=closure,
        physics=None
        if stored.properties.physics is None
        else [ProbeResult(**asdict(probe), passes=probe.passes) for probe in stored.properties.physics],
        pretrained=None if shipped is None else Pretrained(name=shipped.name, content=shipped.content),
        twin=stored.twin_id,
        missing=missing,
    )


def promotions_of(session: Session, version: str) -> Promotions:
    """Return the promotions of a version; basins promoted together are one entry.

    Raises:
        UnknownVersion: there is none of that id.
    """
    rows = promotions.of_version(session, version)
    groups = groupby(rows, key=lambda row: (row.promoted_at, row.promoted_by, row.reason))
    return Promotions(
        version=version,
        promotions=[
            Promotion(promoted_at=at, promoted_by=by, reason=reason, basins=[row.basin_id for row in group])
            for (at, by, reason), group in groups
        ],
        current_basins=promotions.in_use(session).get(version, []),
    )


def promotions_in(session: Session, basin: str) -> BasinPromotions:
    """Return the promotions of a stored basin."""
    return BasinPromotions(
        basin=basin,
        promotions=[
            BasinPromotion(
                version=row.version_id, promoted_at=row.promoted_at, promoted_by=row.promoted_by, reason=row.reason
            )
            for row in promotions.history(session, basin)
        ],
    )


def _common_fields(version: versions.Version, in_use: InUse) -> dict[str, Any]:
    names = ("id", "label", "architecture", "conserving", "product", "trained_on", "status", "created_at", "issued_at")
    return {name: getattr(version, name) for name in names} | {
        "parent": version.parent_id,
        "member_count": version.member_count,
        "basin_count": len(version.basins),
        "current_for": len(in_use.get(version.id, ())),
        "official": version.owner is None,
    }


def _closure(version: versions.Version) -> Closure | None:
    measured, tolerance = version.properties.closure, tolerance_of(np.float32)
    if measured is None:
        return None
    return Closure(
        worst_relative_residual=measured.worst_relative_residual,
        tolerance=tolerance,
        closes=measured.worst_relative_residual <= tolerance,
        basins=measured.basins,
        period=measured.period,
    )


def _why_no_closure(version: versions.Version) -> str:
    if not version.conserving:
        return "The network does not conserve mass."
    return f"It was not evaluated over all its basins yet (freshet evaluate --version {version.id})."
