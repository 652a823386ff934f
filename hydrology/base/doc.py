"""What an answer of the API states about the fields of a class: in their annotations, once for both."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Doc:
    """What a field is, in words."""

    text: str


@dataclass(frozen=True, slots=True)
class Why:
    """Why a field is null, where the reason is always the same."""

    text: str
