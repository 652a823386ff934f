"""The tables, one file per subject. Importing this package fills `Base.metadata`."""

from records.tables import (
    audit,
    basins,
    benchmark_scores,
    bridges,
    comparisons,
    error_models,
    feeds,
    jobs,
    keys,
    runs,
    schedules,
    series,
    skill,
    states,
    trainings,
    versions,
    weather,
)
from records.tables.base import Base

__all__ = [
    "Base",
    "audit",
    "basins",
    "benchmark_scores",
    "bridges",
    "comparisons",
    "error_models",
    "feeds",
    "jobs",
    "keys",
    "runs",
    "schedules",
    "series",
    "skill",
    "states",
    "trainings",
    "versions",
    "weather",
]
