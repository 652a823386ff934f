"""Checks that days are held out.

Only on days never seen does a score measure skill."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from hydrology.base.calendar import Period
from hydrology.base.errors import InvalidInput
from hydrology.verification.held_out_years import HELD_OUT, PeriodUse
from jobspec.training import FineTuningConfig, TrainingConfig, used_periods
from records.versions import error_models, versions


def require_held_out(version: versions.Version, period: Period) -> None:
    """Raise unless a period is outside the training and validation of a version and its ancestors.

    Raises:
        InvalidInput: a day of it took part in one of them.
    """
    _require_apart(period, f"version {version.id}", version.config, version.earlier_periods)


def require_not_fitted(model: error_models.ErrorModel, period: Period) -> None:
    """Raise unless an error model was fitted to no day of a period.

    Raises:
        InvalidInput: it was fitted to a day of it.
    """
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
    """Return why scores of a version over a period may flatter it; None where its days are held out.

    Args:
        use: how its training used these days of the scored basins.
    """
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
    if version.twin_id is None or not any(period.overlap(days) for days in used):
        return version
    return versions.get(session, version.twin_id)


def require_to_be_held_out(session: Session, config: TrainingConfig | FineTuningConfig, period: Period) -> None:
    """Check before a training whether `require_held_out` will pass for its version.

    Raises:
        InvalidInput: it will not.
        UnknownVersion: the parent does not exist.
    """
    parent = versions.get(session, config.parent) if isinstance(config, FineTuningConfig) else None
    _require_apart(period, "this training", config.model_dump(mode="json"), parent.used_periods if parent else ())


def _require_apart(period: Period, whose: str, config: Mapping[str, Any], earlier: Sequence[str]) -> None:
    used = [(f"the {purpose} period {days} of {whose}", days) for purpose, days in used_periods(config)]
    used += [(f"{days}, a period of the training of what {whose} goes on from", Period.parse(days)) for days in earlier]
    for what, days in used:
        if period.overlap(days) is not None:
            raise InvalidInput(f"{period} overlaps {what}: compare on days that took no part in its training.")
