"""Verification results as the commands show them."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from hydrology.verification.held_out_years import HELD_OUT, PeriodUse
from records.verification.lead_scores import PooledVerification

_SHOWN = (
    "coverage_90",
    "coverage_50",
    "width_90_mm_per_day",
    "crps_mm_per_day",
    "crpss_climatology",
    "crpss_persistence",
    "nse_of_median",
    "pod",
    "far",
)
COLUMNS = ("lead", "forecaster", "basins", *(name.removesuffix("_mm_per_day").replace("_", " ") for name in _SHOWN))


def in_training(use: PeriodUse) -> str:
    """Return the use of scored days in words."""
    return use if use == HELD_OUT else f"use in its training: {use}"


def payload(of_lead: PooledVerification) -> dict[str, Any]:
    """Return the verification of a lead time as JSON."""
    return {
        "lead": of_lead.lead,
        "forecaster": of_lead.forecaster,
        "basins": of_lead.basins,
        "scores": {name: asdict(cuts) for name, cuts in of_lead.scores.items()},
        "missing": dict(of_lead.missing),
    }


def notes(figures: Sequence[PooledVerification]) -> list[str]:
    """Return why forecasters have no score in any basin."""
    lacking = ((of_lead.forecaster, of_lead.missing.get("crps_mm_per_day")) for of_lead in figures)
    return [f"{forecaster}: {reason}" for forecaster, reason in dict.fromkeys(lacking) if reason]


def row(of_lead: PooledVerification) -> tuple[object, ...]:
    """Return the values of `COLUMNS`, medians over the basins."""
    return of_lead.lead, of_lead.forecaster, of_lead.basins, *(of_lead.scores[name].median for name in _SHOWN)
