"""Every way into Freshet computes on one thread: cores are used by processes and by blocks of basins."""

import json
import os
import subprocess
import sys

import pytest

from models.devices import cores_in_use
from runtime.process import ONE_THREAD
from tests.deployment.files import ROOT
from tests.freshet.conftest import Freshet

pytestmark = pytest.mark.extended

COMMAND = """
import sys
from freshet.cli.main import main
sys.argv = ["freshet", "--help"]
assert "numpy" not in sys.modules
try:
    main()
except SystemExit:
    pass
"""
BENCHMARKS = """
import sys
import benchmarks
assert "numpy" not in sys.modules
"""
BMI = """
from extensions.bmi import Freshet
Freshet().initialize("extensions/bmi/example/13235000.json")
"""
COMPUTE = """
import json, os
import numpy, torch
for one in (numpy.ones((700, 700), numpy.float32), torch.ones(700, 700)):
    one @ one
print(json.dumps({"torch": torch.get_num_threads(), "threads": len(os.listdir("/proc/self/task"))}))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts threads in /proc")
@pytest.mark.parametrize("entry", [COMMAND, BENCHMARKS], ids=["command", "benchmarks"])
def test_products_start_no_thread(entry: str) -> None:
    assert computed(entry) == {"torch": 1, "threads": 1}


def test_a_basin_behind_bmi_computes_on_one_thread_of_its_host() -> None:
    assert computed(BMI)["torch"] == 1


def test_the_setting_is_the_number_of_blocks_at_once(empty: Freshet) -> None:
    assert empty("basins", FRESHET_CORES="3").code == 0
    assert cores_in_use() == 3
    assert empty("basins", FRESHET_CORES="1").code == 0
    assert cores_in_use() == 1


def computed(entry: str) -> dict[str, int]:
    """Return what a process with four threads in its environment computes with, after an entry."""
    environment = {name: value for name, value in os.environ.items() if name not in ONE_THREAD}
    done = subprocess.run(
        [sys.executable, "-c", entry + COMPUTE],
        env=environment | {"OMP_NUM_THREADS": "4", "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    counted: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return counted
