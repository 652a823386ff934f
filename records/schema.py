"""All tables: importing this module fills `Base.metadata`, to copy, check or migrate all of them."""

import records.access.audit
import records.access.keys
import records.adjustments.adjustments
import records.alerts.tables
import records.basins.tables
import records.database.tables
import records.jobs.job_row
import records.jobs.schedules
import records.jobs.tables
import records.levels.basin_levels
import records.outlooks.tables
import records.ratings.ratings
import records.runs.tables
import records.series.tables
import records.simulations.snow_cells
import records.simulations.tables
import records.verification.comparisons
import records.verification.error_splits
import records.verification.lead_scores
import records.verification.published_scores
import records.verification.scores
import records.versions.tables
import records.weather.tables  # noqa: F401
from records.database.base import Base

__all__ = ["Base"]
