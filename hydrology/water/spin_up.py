"""Spin-up: the days after an empty store on which a state holds too little water."""

from hydrology.base.errors import counted

SPIN_UP_DAYS = 365
"""A state up to this many days after the empty store is still spinning up."""

_SHARES = ((61, 0.25), (122, 0.57), (183, 0.78), (244, 0.94))
"""Flow during spin-up as a share of that of a full store, until a day: measured on 447 basins."""


def is_spinning_up(days: int) -> bool:
    """Return whether a state this many days after the empty store is too young for the latest forecast."""
    return days <= SPIN_UP_DAYS


def spin_up_note(days: int) -> str | None:
    """Return a caution for forecasts from a state this many days after the empty store, or None."""
    if not is_spinning_up(days):
        return None
    shares = ", ".join(f"{share:.2f} until day {last}" for last, share in _SHARES)
    return (
        f"The model started from an empty store {counted(days, 'day')} before the end of T0, and holds "
        "too little water: over 447 "
        f"basins, its flow was this share of that of a model with a full store: {shares}. No forecast of the first "
        f"{SPIN_UP_DAYS} days becomes the latest."
    )
