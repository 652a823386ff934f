"""Arrays as columns of JSON numbers."""

from math import isfinite
from typing import Any

import numpy.typing as npt


def column(values: npt.NDArray[Any]) -> list[float]:
    """Return values with 7 significant digits, the precision of the float32 that they were computed in."""
    return [float(f"{value:.7g}") for value in values.tolist()]


def rounded(value: float) -> float:
    """Return one value as `column` does."""
    return float(f"{value:.7g}")


def rounded_or_none(value: float | None) -> float | None:
    """Return one value as `column` does, or None where it is missing."""
    return None if value is None else rounded(value)


def gappy_column(values: npt.NDArray[Any]) -> list[float | None]:
    """Return values as `column` does, None where they are NaN."""
    return [float(f"{value:.7g}") if isfinite(value) else None for value in values.tolist()]
