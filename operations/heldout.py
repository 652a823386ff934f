"""Days that a version has never seen: only there does a score say how good it is."""

from hydrology.calendar import Period
from hydrology.errors import InvalidInput
from records.versions import Version


def require_held_out(version: Version, period: Period) -> None:
    """Return when no day of the period took part in a version's training or validation.

    Raises:
        InvalidInput: one did.
    """
    for name in ("train_period", "validation_period"):
        used = version.config.get(name)
        if used is not None and period.overlap(Period.parse(used)) is not None:
            raise InvalidInput(
                f"{period} overlaps the {name.replace('_', ' ')} {used} of version {version.id}: compare on days that "
                "took no part in its training."
            )
