"""Equality of examples but for the last digits of numbers, which depend on the processor."""

import math
import re
from typing import Any

RELATIVE, ABSOLUTE = 1e-2, 1e-6
"""Largest difference of two numbers that count as equal. Examples have four digits, numbers in sentences three."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")


def difference(one: Any, other: Any, path: str = "") -> str | None:
    """Return where and how two examples differ; None if they are equal but for the last digits."""
    if isinstance(one, dict) and isinstance(other, dict) and [*one] == [*other]:
        parts = [(f"{path}.{name}", one[name], other[name]) for name in one]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        parts = [(f"{path}[{index}]", *pair) for index, pair in enumerate(zip(one, other, strict=True))]
    elif _equal(one, other):
        return None
    else:
        return f"{path}: {one!r} and {other!r}"
    return next((found for name, left, right in parts if (found := difference(left, right, name))), None)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    if isinstance(one, str) and isinstance(other, str) and "." in one:  # a sentence, or numbers of text
        numbers = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=False)
        return _NUMBER.sub("#", one) == _NUMBER.sub("#", other) and all(
            left == right or ("." in left + right and _equal(float(left), float(right))) for left, right in numbers
        )
    return bool(one == other)
