"""Snow storage of a shipped ensemble against the reference, where at least half the precipitation is snow.

The cells are chosen on the training years, as `freshet evaluate` does; the test years judge them.
"""

import numpy as np

from benchmarks.regional.data import TEST, basins, opened
from hydrology.calendar import Period
from operations.evaluate import evaluate
from operations.pretrained import install, read_shipped
from records import basins as basin_records
from records.clock import Clock
from records.engine import Database

FRAC_SNOW = 0.5


def snowy(database: Database) -> list[str]:
    """Return the basins where at least half the precipitation is snow."""
    with database.reading() as session:
        (fractions,) = basin_records.attributes_of(session, basins(), ["frac_snow"]).T
    return [name for name, fraction in zip(basins(), fractions, strict=True) if fraction >= FRAC_SNOW]


def snow_skill(name: str) -> dict[str, object]:
    """Return the quartiles of r and of the bias in % over the basins, and the worst closure of the same run.

    The ensemble is installed in the database and evaluated there, as a user would.

    Args:
        name: of the ensemble.
    """
    database = opened()
    names = snowy(database)
    version = install(database, Clock(), read_shipped(name)).version_id
    done = evaluate(database, Clock(), version, Period.parse(TEST), names)
    database.close()
    by_basin = {
        basin.basin: {"r": basin.snow.test_r, "bias_pct": basin.snow.bias_pct}
        for basin in done.basins
        if basin.snow is not None and basin.snow.test_r is not None and basin.snow.bias_pct is not None
    }
    quartiles = {
        name: np.percentile(np.array([row[name] for row in by_basin.values()], float), [25, 50, 75]).tolist()
        for name in ("r", "bias_pct")
    }
    return {
        "asked_for": len(names),
        "basins": len(by_basin),
        **quartiles,
        "worst_residual": done.worst_residual,
        "by_basin": by_basin,
        "left_out": done.left_out,
    }
