"""Modules of a command are executed by their first use, whatever looks at them before."""

import subprocess
import sys

USED_IN_ANY_ORDER = """
import inspect, sys
from freshet.cli.lazily import executed_when_used
with executed_when_used():
    from operations.verification import past_simulation, reforecast
    from models import forcing
for module in [*sys.modules.values()]:
    hasattr(module, "__file__"), hasattr(module, "__wrapped__")
assert "torch" not in sys.modules, "something executed them"
forcing.Scaler  # imports torch, which looks at all modules, those that need this one among them
assert reforecast.reforecast and past_simulation.PastDays
print(type(forcing).__name__)
"""


def test_looking_at_a_module_does_not_execute_it_and_using_it_does() -> None:
    ended = subprocess.run([sys.executable, "-c", USED_IN_ANY_ORDER], capture_output=True, text=True, check=False)
    assert (ended.stdout.strip(), ended.returncode) == ("module", 0), ended.stderr
