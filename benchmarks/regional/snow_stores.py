"""The snow stores of a trial against the reference, over the validation years: `results/snow/NAME-SEED.json`.

Nothing is chosen: the stores are snow by construction. No flow is read.
"""

import json
from typing import Any

import numpy as np

from benchmarks.regional import trials
from benchmarks.regional.data import VALIDATION, basins, opened
from benchmarks.regional.members import RESULTS
from benchmarks.regional.seasonal.hindcasts import read_forcings
from benchmarks.regional.snow_cells import FRAC_SNOW, shares_of_snow
from hydrology.base.calendar import Period
from hydrology.snow.snow import SnowSkill, snow_skill
from models.ensemble import GROUP
from models.forcing import days_of
from operations.basin_data.dataset import stacked
from operations.verification.snow_cells import reference_snow

SNOW_SHARES = {"half of the precipitation": FRAC_SNOW, "a tenth": 0.1, "any": 0.0}


def judge(trial: str) -> None:
    """Judge the snow stores of a trial, `NAME-SEED`, and write and print their skill."""
    ensemble = trials.trained(trial)
    (network,) = ensemble.networks
    database = opened(ensemble.config.inputs.product)
    names = basins(ensemble.config.inputs.product)
    shares = shares_of_snow(database, names)
    days = Period.parse(VALIDATION)
    forcings = read_forcings(ensemble, names)
    record = forcings[0].period
    run = Period(record.first, days.last)
    skills = dict[str, SnowSkill]()
    for first in range(0, len(names), GROUP):
        group = slice(first, first + GROUP)
        together = stacked([one.forcing.over(run) for one in forcings[group]])
        ((outputs, _),) = ensemble.each(together, None, ("storage",))
        snow = outputs["storage"][..., list(network.snow_cells)].sum(axis=-1, dtype=np.float64)
        with database.reading() as session:
            for name, simulated in zip(names[group], snow, strict=True):
                reference = reference_snow(session, name, days)
                if reference is not None:
                    skills[name] = snow_skill(simulated[days_of(run, days)], reference.swe)
    database.close()
    result = {"days": VALIDATION} | {
        label: _quartiles([skill for name, skill in skills.items() if shares[name] >= least])
        for label, least in SNOW_SHARES.items()
    }
    folder = RESULTS / "snow"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{trial}.json").write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


def _quartiles(skills: list[SnowSkill]) -> dict[str, Any]:
    """Return the quartiles over basins of correlation, bias and the snow on bare ground."""
    of = {"r": "r", "bias_pct": "bias_percent", "where_none_mm": "bare_mm"}
    values = {name: [getattr(skill, field).value for skill in skills] for name, field in of.items()}
    known = {name: [value for value in some if value is not None] for name, some in values.items()}
    return {"basins": len(known["r"])} | {
        name: np.percentile(some, [25, 50, 75]).tolist() for name, some in known.items()
    }
