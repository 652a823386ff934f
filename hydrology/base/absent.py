"""Explain why a value is missing: a reason code with parameters, from the computation to the answer.

Code and parameters of a `Reason` are stored, so that its text can be reworded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from string import Formatter
from typing import TypeVar, Union

from hydrology.base.errors import counted
from hydrology.base.reasons import Reason

Value = TypeVar("Value")


class _Sentence(Formatter):
    """Formats the fields of a reason's text: `{days:day}` is `1 day` or `2 days`."""

    def format_field(self, value: object, format_spec: str) -> str:
        if isinstance(value, int) and len(format_spec) > 1 and format_spec.isalpha():
            return counted(value, format_spec)
        return str(format(value, format_spec))


_SENTENCE = _Sentence()
Parameter = Union[str, int, float, "Absent"]


@dataclass(frozen=True, slots=True)
class Absent:
    """A missing value: the code of a `Reason` (lower case) and its parameters, of which an `Absent` is the cause."""

    code: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        needed = _fields(self.code)
        if needed != self.parameters.keys():
            raise ValueError(f"the reason {self.code!r} has the parameters {sorted(needed)}")

    def __str__(self) -> str:
        return _SENTENCE.vformat(Reason[self.code.upper()].value, (), self.parameters)


def absent(reason: Reason, **parameters: Parameter) -> Absent:
    """Return a missing value with its reason."""
    return Absent(reason.name.lower(), parameters)


def known(value: Value | Absent) -> Value | None:
    """Return a value, or None where it is missing."""
    return None if isinstance(value, Absent) else value


def text(reason: Absent | None) -> str | None:
    """Return the text of a reason, for a reader; None where nothing is missing."""
    return None if reason is None else str(reason)


def texts(absences: Mapping[str, Absent]) -> dict[str, str]:
    """Return the text of each missing value, for a reader."""
    return {name: str(reason) for name, reason in absences.items()}


def first_texts(absences: Mapping[str, Absent]) -> str:
    """Return the first few texts, for the message of an error that has many causes."""
    return " ".join(str(reason) for reason in islice(absences.values(), 3))


@cache
def _fields(code: str) -> frozenset[str]:
    if code.upper() not in Reason.__members__:
        raise ValueError(f"no reason is named {code!r}")
    template = Reason[code.upper()].value
    return frozenset(name for _, name, _, _ in Formatter().parse(template) if name is not None)


NOT_STORED = absent(Reason.NOT_STORED)
