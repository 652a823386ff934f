"""Every page there is, by what a key is needed for."""

from testing.country import BASINS
from testing.filled_store import FilledStore


def open_paths(stored: FilledStore) -> list[str]:
    """Return the pages that everybody may read."""
    day = [
        "/",
        "/?region=country",
        "/alerts?region=country",
        "/?colour=skill&state=fresh&sort=peak",
        "/?search=nothing",
        "/?bbox=-180,-90,180,90",
    ]
    basins = [f"/basins/{BASINS[0]}", f"/basins/{BASINS[1]}?members=true", f"/basins/{BASINS[1]}?run={stored.run}"]
    basins += [f"/basins/{BASINS[0]}?days=365", f"/compare?basin={BASINS[0]}&basin={BASINS[1]}"]
    of_models = ["/models", f"/models/{stored.version}", f"/comparisons/{stored.comparison}"]
    what_if = [f"/basins/{BASINS[0]}/what-if", f"/basins/{BASINS[0]}/what-if?run={stored.what_if}"]
    adjusted = [f"/basins/{BASINS[0]}/adjust", f"/basins/{BASINS[0]}/adjusted?run={stored.run}"]
    return [*day, *basins, *what_if, *adjusted, *of_models, "/alerts", "/regions", "/issues", "/status", "/docs"]


def keyed_paths(stored: FilledStore) -> list[str]:
    """Return the pages that a key opens."""
    jobs = ["/jobs", "/jobs?kind=training", *(f"/jobs/{job}" for job in stored.ended)]
    return [
        *jobs,
        f"/basins/{BASINS[0]}/levels",
        "/feeds",
        "/schedules",
        "/deliveries",
        "/held",
        "/shadow",
        f"/adjustments/{stored.adjustment}",
    ]
