"""What an answer of the API states about the fields of a class: in their annotations, once for both.

A property whose annotation has a `Doc` is shown like a field.
"""

from dataclasses import dataclass
from typing import Annotated

from hydrology.base.calendar import Day, Period


@dataclass(frozen=True, slots=True)
class Doc:
    """What a field is, in words, with examples."""

    text: str
    examples: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Why:
    """Why a field is null, where the reason is always the same."""

    text: str


@dataclass(frozen=True, slots=True)
class Text:
    """In the annotation of a text: the class of the day, or period, that it writes."""

    kind: type


IsoDay = Annotated[str, Text(Day)]
"""A day as it is stored in JSON, `YYYY-MM-DD`."""
IsoPeriod = Annotated[str, Text(Period)]
"""A period as it is stored in JSON, `FIRST..LAST`."""
