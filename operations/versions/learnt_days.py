"""What a version has learnt from: its basins, for a statement with every forecast, and its days.

Only on days never seen does a score measure skill.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from hydrology.base.calendar import Period
from hydrology.base.errors import InvalidInput, counted
from hydrology.verification.held_out_years import HELD_OUT, PeriodUse
from jobspec.training import FineTuningConfig, TrainingConfig, used_periods
from models.forcing import Array
from records.runs.run_summary import TrainingDomain
from records.versions import error_models, versions
from records.versions.versions import Version


def attribute_ranges(names: Sequence[str], static: npt.NDArray[np.floating]) -> dict[str, tuple[float, float]]:
    """Return the minimum and maximum of each attribute; `static` is (basins, attributes)."""
    ends = zip(names, static.min(axis=0), static.max(axis=0), strict=True)
    return {name: (float(minimum), float(greatest)) for name, minimum, greatest in ends}


def attribute_means(version: Version) -> dict[str, float]:
    """Return the mean of each attribute over the basins that a version learnt from."""
    names = version.training.inputs.static
    return dict(zip(names, version.scaler["static_mean"], strict=True))


def learnt_from(
    version: Version, basin: str, names: Sequence[str], static: Array, assumed: Sequence[str]
) -> TrainingDomain:
    """Describe whether a version learnt from a basin or similar ones; `static` is (attributes,)."""
    ranges = version.properties.attribute_ranges
    outside = None if ranges is None else _outside(ranges, names, static)
    return TrainingDomain(
        seen_in_training=basin in version.basins,
        outside_training=None if outside is None else tuple(outside),
        trained_on=version.trained_on,
        training_note=_note(version, basin, outside or {}, assumed),
        attributes_assumed=tuple(assumed),
    )


def _note(version: Version, basin: str, outside: Mapping[str, str], assumed: Sequence[str]) -> str:
    count = len(version.basins)
    sentences = [
        f"{basin} is one of the {counted(count, 'basin')} that the version learnt from."
        if basin in version.basins
        else f"{basin} is not among the {counted(count, 'basin')} that the version learnt from: only its own "
        "observations can show the skill of the version here."
    ]
    if version.tuned_on is not None:
        sentences.append(f"It was fine-tuned {'here' if basin in version.tuned_on else 'on others since'}.")
    if outside:
        attributes = "; ".join(outside.values())
        sentences.append(f"The version extrapolates: outside the range of those basins lies {attributes}.")
    if assumed:
        named = ", ".join(assumed)
        sentences.append(f"Not known here and assumed, as around or at the mean of those basins: {named}.")
    if version.trained_on != version.product:
        sentences.append(f"It learnt from {version.trained_on} and is driven by {version.product}.")
    return " ".join(sentences)


def _outside(ranges: Mapping[str, tuple[float, float]], names: Sequence[str], static: Array) -> dict[str, str]:
    sentences = {}
    for name, value in zip(names, static.tolist(), strict=True):
        minimum, greatest = ranges[name]
        if not minimum <= value <= greatest:
            sentences[name] = f"{name} ({value:g}, theirs {minimum:g} to {greatest:g})"
    return sentences


def require_held_out(version: versions.Version, period: Period) -> None:
    """Raise unless a period is outside the training and validation of a version and its ancestors."""
    _require_apart(period, f"version {version.id}", version.config, version.earlier_periods)


def require_not_fitted(model: error_models.ErrorModel, period: Period) -> None:
    """Raise unless an error model was fitted to no day of a period."""
    if period.overlap(model.period) is not None:
        raise InvalidInput(
            f"{period} overlaps {model.period}, on which the error model of version {model.version_id} was fitted: "
            "there its chances are truer than they will be. Choose other days."
        )


_USES: Mapping[PeriodUse, str] = {
    "training": "has learnt from these days",
    "validation": "was chosen by its errors on these days",
    "mixed": "has learnt from some of these days, or one of its parts has, or it has in some of the basins",
}


def warning(version: versions.Version, period: Period, use: PeriodUse) -> str | None:
    """Return why scores of a version over a period may flatter it; None where its days are held out."""
    if use == HELD_OUT:
        return None
    if use == "unknown":
        return f"Version {version.id} does not state the days of its training: no score over {period} shows its skill."
    return (
        f"Version {version.id} {_USES[use]} ({period}; its training used {', '.join(version.used_periods)}): its "
        "scores there are better than those to expect of days to come. Evaluate days that took no part in it."
    )


def version_to_score(session: Session, version: versions.Version, period: Period) -> versions.Version:
    """Return the version whose errors over a period show a version's skill.

    That is itself, or its twin where it has fitted or been validated on days of the period.
    """
    used = (Period.parse(days) for days in version.used_periods)
    return versions.get(session, version.scored_as) if any(period.overlap(days) for days in used) else version


def require_to_be_held_out(session: Session, config: TrainingConfig | FineTuningConfig, period: Period) -> None:
    """Check before a training whether `require_held_out` will pass for its version."""
    parent = versions.get(session, config.parent) if isinstance(config, FineTuningConfig) else None
    _require_apart(period, "this training", config.model_dump(mode="json"), parent.used_periods if parent else ())


def _require_apart(period: Period, whose: str, config: Mapping[str, Any], earlier: Sequence[str]) -> None:
    used = [(f"the {purpose} period {days} of {whose}", days) for purpose, days in used_periods(config)]
    used += [(f"{days}, a period of the training of what {whose} goes on from", Period.parse(days)) for days in earlier]
    for what, days in used:
        if period.overlap(days) is not None:
            raise InvalidInput(f"{period} overlaps {what}: compare on days that took no part in its training.")
