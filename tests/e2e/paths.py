"""Every page there is, by what a key is needed for."""

from tests.e2e.kept import Kept
from tests.operations.conftest import BASINS


def open_paths(kept: Kept) -> list[str]:
    """Return the pages that everybody may read."""
    day = ["/", "/?colour=skill", "/?search=nothing"]
    basins = [f"/basins/{BASINS[0]}", f"/basins/{BASINS[1]}?members=true", f"/basins/{BASINS[1]}?run={kept.run}"]
    of_models = ["/models", f"/models/{kept.version}", f"/comparisons/{kept.comparison}"]
    what_if = [f"/basins/{BASINS[0]}/what-if", f"/basins/{BASINS[0]}/what-if?run={kept.what_if}"]
    return [*day, *basins, *what_if, *of_models, "/alerts", "/status"]


def keyed_paths(kept: Kept) -> list[str]:
    """Return the pages that a key opens."""
    jobs = ["/jobs", "/jobs?kind=training", *(f"/jobs/{job}" for job in kept.ended)]
    return [*jobs, f"/basins/{BASINS[0]}/levels", "/feeds", "/schedules", "/deliveries"]
