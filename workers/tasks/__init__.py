"""The handler of each kind of job: `HANDLERS`. A handler is thin: the operations do the work.

Only the operations load torch, in the computing process.
"""

from collections import ChainMap
from typing import Any

from jobspec.kinds import KINDS, handlers_of_extensions
from workers.job import Handler
from workers.tasks import data, forecasting, training

_NAMES: ChainMap[str, Any] = ChainMap(*map(vars, (data, forecasting, training)))
_OF_EXTENSIONS = handlers_of_extensions()
HANDLERS: dict[str, Handler] = {
    kind: _NAMES[kind.replace("-", "_")] for kind in KINDS if kind not in _OF_EXTENSIONS
} | _OF_EXTENSIONS
"""By kind of job: the function of its name in a module of this folder, or what an extension declares."""
