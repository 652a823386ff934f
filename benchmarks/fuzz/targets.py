"""Everything that is fuzzed, by name: the more bytes from strangers a reader sees, the earlier it stands."""

from benchmarks.fuzz import answers, asked, exchanged, formats, shipped, wire

_MODULES = (formats, answers, wire, asked, exchanged, shipped)

TARGETS = {name: target for module in _MODULES for name, target in module.TARGETS.items()}
MODULES = {name: module.__name__ for module in _MODULES for name in module.TARGETS}
"""Which module has a target. A process imports that one alone."""
