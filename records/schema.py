"""The tables, one file per subject. Importing this package fills `Base.metadata`."""

from records.access import tables as audit
from records.access import tables as keys
from records.alerts import tables as alerts
from records.alerts import tables as thresholds
from records.basins import tables as basins
from records.database import tables as pruned
from records.database.base import Base
from records.jobs import tables as attendance
from records.jobs import tables as jobs
from records.jobs import tables as schedules
from records.runs import tables as runs
from records.runs import tables as states
from records.series import tables as series
from records.simulations import tables as model_levels
from records.verification import (
    tables as benchmark_scores,
)
from records.verification import (
    tables as comparisons,
)
from records.verification import (
    tables as skill,
)
from records.verification import (
    tables as verification,
)
from records.versions import tables as error_models
from records.versions import tables as trainings
from records.versions import tables as versions
from records.weather import tables as bridges
from records.weather import tables as feeds
from records.weather import tables as weather

__all__ = [
    "Base",
    "alerts",
    "attendance",
    "audit",
    "basins",
    "benchmark_scores",
    "bridges",
    "comparisons",
    "error_models",
    "feeds",
    "jobs",
    "keys",
    "model_levels",
    "pruned",
    "runs",
    "schedules",
    "series",
    "skill",
    "states",
    "thresholds",
    "trainings",
    "verification",
    "versions",
    "weather",
]
