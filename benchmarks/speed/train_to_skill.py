"""Core-minutes of training until the median NSE of the validation period first reaches 0.60 and 0.70.

One member with the settings that `freshet train` takes by default, on the 447 basins of the published comparison, on
the paper's periods, validated over all basins every `EVERY` steps. Counted are the CPU seconds of all cores that the
steps take; the validations are reported beside them. FRESHET_CAMELS names the data; they are ingested into FRESHET_DATA
if they are not there yet.
"""

import contextlib
import time
from typing import Any

from benchmarks.regional.data import basins
from benchmarks.regional.recipes import Recipe
from benchmarks.regional.trials import lone_member
from models.training import Progress

SKILLS = (0.60, 0.70)
EVERY = 100


class _SkilledError(Exception):
    """Ends the training."""


def measure() -> dict[str, Any]:
    """Return the core-minutes to each skill."""
    member = lone_member(Recipe().config(validate_every=EVERY), basins(), seed=0)
    reached: dict[float, dict[str, float]] = {}
    started = time.process_time()

    def watch(progress: Progress) -> None:
        if progress.validation is None:
            return
        score = progress.validation.value
        print(f"step {progress.step}, validation median NSE {score:.3f}, {member.seconds / 60:.1f} core-minutes")
        for skill in SKILLS:
            if score >= skill and skill not in reached:
                reached[skill] = {"step": progress.step, "core_minutes": member.seconds / 60, "validation_nse": score}
        if len(reached) == len(SKILLS):
            raise _SkilledError

    with contextlib.suppress(_SkilledError):
        member.run(on_progress=watch)
    return {
        "shape": f"{len(member.data.discharge)} basins, {len(member.network.empty_state(1)['c'][0])} cells",
        "reached": {f"{skill:.2f}": reached.get(skill) for skill in SKILLS},
        "core_minutes_with_validations": (time.process_time() - started) / 60,
        "log": member.log,
        "ratios": {},
    }
