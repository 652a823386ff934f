"""How long a state that began from an empty store holds too little water to forecast from."""

SPIN_UP_DAYS = 365
"""A state of so many days or fewer after the empty store is still spinning up."""

_SHARES = ((61, 0.25), (122, 0.57), (183, 0.78), (244, 0.94))
"""Flow of a state begun from an empty store over that of one long under way, until a day: measured on 447 basins."""


def is_spinning_up(days: int) -> bool:
    """Return whether a state so many days from the empty store is too young to be the latest forecast's."""
    return days <= SPIN_UP_DAYS


def spin_up_note(days: int) -> str | None:
    """Return what a forecast from a state so many days from the empty store is to be read with, or None."""
    if not is_spinning_up(days):
        return None
    shares = ", ".join(f"{share:.2f} until day {last}" for last, share in _SHARES)
    return (
        f"The model began from an empty store {days} days before the end of T0, and holds too little water: over 447 "
        f"basins, the flow so begun was this share of that of a store long under way: {shares}. No forecast of the "
        f"first {SPIN_UP_DAYS} days becomes the latest."
    )
