"""Loads the fastest library of the recurrence for this processor. `setup.py` builds one for each kind.

Where none fits, or it is not built, the networks run on torch's own operations, several times slower.
"""

import ctypes
import platform
from functools import cache
from pathlib import Path

import structlog
import torch

from models.nets.compiled.call import BucketsCall, Call
from models.nets.compiled.sources import fingerprint
from models.nets.compiled.variants import Variant, built_for, machine_of

FOLDER = Path(__file__).parent
PRECISIONS = ("double", "float", "half")
HALF_UNITS = (None, "vector unit", "matrix unit")
MEND = "install Freshet again, or in its sources run `python setup.py build_ext --inplace`"

log = structlog.get_logger()


class NoLibraryError(Exception):
    """The compiled recurrence is not available here; the message gives the reason."""


@cache
def library() -> ctypes.CDLL | None:
    """Return the compiled recurrence, or None where there is none (which is logged once)."""
    try:
        return load(choose())
    except NoLibraryError as problem:
        log.warning("recurrence.slow", reason=str(problem))
        return None


@cache
def half_unit() -> str | None:
    """Return the unit with which this processor multiplies bfloat16, if any. Matrix (AMX) or vector unit."""
    loaded = library()
    return None if loaded is None else HALF_UNITS[loaded.freshet_half_unit()]


def program() -> str:
    """Return the program that runs MC-LSTM on this processor. The name of a variant, or `torch`."""
    return "torch" if library() is None else choose().name


def choose() -> Variant:
    """Return the fastest variant that this processor can run."""
    variants, capabilities = built_for(machine_of(platform.machine())), torch.cpu.get_capabilities()
    for variant in variants:
        if not variant.lacking(capabilities):
            return variant
    if not variants:
        raise NoLibraryError(f"The recurrence is not built for processors of the kind {platform.machine()}.")
    raise NoLibraryError(f"The recurrence needs a processor with {', '.join(variants[-1].lacking(capabilities))}.")


def passed_over() -> dict[str, list[str]]:
    """Return the missing capabilities for each variant that this processor cannot run, by its name."""
    capabilities = torch.cpu.get_capabilities()
    variants = built_for(machine_of(platform.machine()))
    return {variant.name: lacking for variant in variants if (lacking := variant.lacking(capabilities))}


def load(variant: Variant) -> ctypes.CDLL:
    """Load the library of a variant; `NoLibraryError` where it was not built, or of other sources."""
    path = FOLDER / f"recurrence-{variant.name}.so"
    if not path.exists():
        raise NoLibraryError(f"{path} is missing: {MEND}.")
    try:
        loaded = ctypes.CDLL(str(path))
        loaded.freshet_sources.restype = ctypes.c_int64
        built_of_these = fingerprint(FOLDER) in (None, loaded.freshet_sources())  # None: installed without them
        sizes = loaded.freshet_call_bytes(), loaded.freshet_buckets_call_bytes()
        if not built_of_these or sizes != (ctypes.sizeof(Call), ctypes.sizeof(BucketsCall)):
            raise NoLibraryError(f"{path} was built of other sources: {MEND}.")
        for precision in PRECISIONS:
            function = getattr(loaded, f"freshet_{precision}")
            function.argtypes, function.restype = [ctypes.c_void_p, ctypes.c_int], ctypes.c_int
        for function in (loaded.freshet_buckets_double, loaded.freshet_buckets_float):
            function.argtypes, function.restype = [ctypes.c_void_p, ctypes.c_int], None
    except (OSError, AttributeError) as problem:
        raise NoLibraryError(f"{path} cannot be loaded ({problem}): {MEND}.") from problem
    return loaded
