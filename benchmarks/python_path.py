"""The environment in which a process of Python finds the benchmarks, wherever it is started."""

import os
from collections.abc import Mapping
from pathlib import Path


def with_benchmarks(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment, by default this process's, whose PYTHONPATH begins with the folder of the benchmarks."""
    chosen = os.environ if environment is None else environment
    path = [str(Path(__file__).resolve().parents[1]), *filter(None, [chosen.get("PYTHONPATH")])]
    return {**chosen, "PYTHONPATH": os.pathsep.join(path)}
