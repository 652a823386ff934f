"""The arguments of the compiled recurrences."""

import ctypes

_SIZES = ("days", "blocks", "cells", "padded", "drivers_count", "rank", "tags", "occupied")
_POINTERS = (
    "weight", "weight_tiles", "factor", "factor_bias", "wetness", "fixed", "drivers", "mass", "cells_before", "storage",
    "outflow", "discharge", "d_storage", "d_outflow", "d_discharge", "d_weight", "d_factor", "d_factor_bias",
    "d_wetness", "d_fixed", "d_drivers", "d_mass", "d_cells", "tag_mass", "tag_cells", "tag_discharge", "tag_loss",
)  # fmt: skip


class Call(ctypes.Structure):
    """`Call` of library.cpp."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in _SIZES),
        *((name, ctypes.c_void_p) for name in _POINTERS),
    )


_BUCKETS_SIZES = ("days", "components", "samples", "delays", "tags")
_BUCKETS_POINTERS = (
    "drivers", "constants", "routing", "before", "storage", "discharge", "evapotranspiration", "leak", "inflow",
    "d_storage", "d_discharge", "d_evapotranspiration", "d_leak", "d_drivers", "d_constants", "d_routing", "d_before",
    "tag", "tagged", "tag_discharge", "tag_loss",
)  # fmt: skip


class BucketsCall(ctypes.Structure):
    """`BucketsCall` of buckets.h."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in _BUCKETS_SIZES),
        *((name, ctypes.c_void_p) for name in _BUCKETS_POINTERS),
    )
