"""Snow of a shipped ensemble against the reference: by each basin's own cells, and by those chosen over other basins.

The cells are chosen on the training years, as `freshet evaluate` does; the test years judge them. The regional ones are
judged in a fifth of the basins each time, with cells that the others have chosen.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.regional.data import TEST, basins, opened
from extensions.shipping.attachments import write_snow
from hydrology.base.calendar import Period
from models.pretrained import SHELF, attachments, form
from operations.training.pretrained import install
from operations.verification.evaluate import Evaluation, evaluate
from operations.verification.regional_snow_cells import BANDS
from operations.verification.score_basins import BasinSkill
from records.basins import basins as basin_records
from records.database.base import to_json
from records.database.engine import Database
from records.forecasts.volumes_and_recessions import SNOW_SHARE
from records.simulations import snow_cells
from records.simulations.snow_cells import SnowCells
from runtime.clock import Clock
from testing.work import work_of

FRAC_SNOW = 0.5
EVERY_BASIN = 6  # of those with less snow, where not all are asked for


def shares_of_snow(database: Database, names: Sequence[str]) -> dict[str, float]:
    """Return the share of snow in the precipitation of basins."""
    with database.reading() as session:
        (fractions,) = basin_records.attributes_of(session, names, [SNOW_SHARE]).T
    return dict(zip(names, fractions.tolist(), strict=True))


def snowy(database: Database) -> list[str]:
    """Return the basins where at least half the precipitation is snow."""
    return [name for name, share in shares_of_snow(database, basins()).items() if share >= FRAC_SNOW]


def snow_skill(ensemble: form.Ensemble, *, all_basins: bool = True) -> dict[str, object]:
    """Return how well snow is read, and the worst closure of the same run.

    The ensemble is installed in the database and evaluated there, as a user would; with a twin, the twin is judged.

    Args:
        ensemble: with its weights; those of its product's basins are judged.
        all_basins: or those with half of their precipitation as snow, and every sixth.
    """
    product, clock = ensemble.description.config.inputs.product, Clock()
    database = opened(product)
    version = install(work_of(database, clock), ensemble).version_id
    shares = shares_of_snow(database, basins(product))
    names = [
        basin
        for at, (basin, share) in enumerate(shares.items())
        if all_basins or share >= FRAC_SNOW or at % EVERY_BASIN == 0
    ]
    done = evaluate(work_of(database, clock), version, Period.parse(TEST), names)
    with database.reading() as session:
        regional = snow_cells.regional_cells(session, done.scored)
    database.close()
    return {
        "asked_for": len(names),
        "scored": ensemble.name if done.scored == version else f"the twin of {ensemble.name}",
        "own": _own(done, shares),
        "regional": regional and to_json(regional),
        "worst_residual": done.worst_residual,
        "left_out": done.left_out,
    }


def ship_snow(name: str) -> None:
    """Ship the regional mapping that the last score of an ensemble's snow has stored."""
    ensemble = form.read(SHELF / name)
    database = opened()
    version = install(work_of(database, Clock()), ensemble).version_id
    with database.reading() as session:
        mapping = snow_cells.regional_cells(session, version)
    database.close()
    if mapping is None:
        raise SystemExit(f"No regional mapping of {name} is stored: `python -m benchmarks.regional score` chooses one.")
    if mapping == attachments.read_snow(ensemble):
        raise SystemExit("The stored one is the shipped one: `python -m benchmarks.regional score` chooses another.")
    write_snow(ensemble, mapping)
    print(f"{name}: over {mapping.basins} basins, {mapping.training}, judged on {mapping.test}")


def _own(done: Evaluation[BasinSkill], shares: dict[str, float]) -> dict[str, Any]:
    """Return quartiles over the basins of each band that were judged, and each basin's figures."""
    judged = {one.basin: one.snow for one in done.basins if one.snow is not None and one.snow.test_r is not None}
    bands, above = {}, np.inf
    for minimum in BANDS:
        bands[f"from {minimum:g}"] = _quartiles(
            [cells for name, cells in judged.items() if minimum <= shares[name] < above]
        )
        above = minimum
    by_basin = {
        name: {"frac_snow": shares[name], "r": cells.test_r, "bias_pct": cells.bias_pct, "where_none_mm": cells.bare_mm}
        for name, cells in judged.items()
    }
    return {"bands": bands, "all": _quartiles([*judged.values()]), "by_basin": by_basin}


def _quartiles(rows: Sequence[SnowCells]) -> dict[str, Any]:
    names = {"r": "test_r", "bias_pct": "bias_pct", "where_none_mm": "bare_mm"}
    known = {name: [getattr(row, of) for row in rows if getattr(row, of) is not None] for name, of in names.items()}
    quartiles = {name: np.percentile(np.array(values), [25, 50, 75]).tolist() for name, values in known.items()}
    return {"basins": len(rows)} | quartiles
