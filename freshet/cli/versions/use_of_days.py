"""The use of scored days in a version's training, in words."""

from hydrology.verification.held_out_years import HELD_OUT, PeriodUse


def in_training(use: PeriodUse) -> str:
    """Return the use of scored days in words."""
    return use if use == HELD_OUT else f"use in its training: {use}"
