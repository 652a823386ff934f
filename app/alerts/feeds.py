"""The feed of changes that an extension serves."""

from collections.abc import Sequence

from hydrology.extremes.alerting import Severity
from jobspec.extensions import extensions


def feed_address(basins: Sequence[str] | None, minimum: Severity) -> str | None:
    """Return the address of a feed of alert changes; None without one.

    Args:
        basins: the basins with its changes; None for all.
        minimum: the least severity.
    """
    served = (extension.load(extension.alert_feed) for extension in extensions() if extension.alert_feed)
    addresses = (address(basins, minimum) for address in served)
    return next((address for address in addresses if address is not None), None)


def feeds_served() -> bool:
    """Return whether an extension serves feeds."""
    return any(extension.alert_feed for extension in extensions())
