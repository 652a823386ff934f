"""The tables, one file per subject. Importing this package fills `Base.metadata`."""

from records.tables import (
    basins,
    comparisons,
    jobs,
    keys,
    published,
    runs,
    schedules,
    series,
    skill,
    states,
    trainings,
    versions,
)
from records.tables.base import Base

__all__ = [
    "Base",
    "basins",
    "comparisons",
    "jobs",
    "keys",
    "published",
    "runs",
    "schedules",
    "series",
    "skill",
    "states",
    "trainings",
    "versions",
]
