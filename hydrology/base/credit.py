"""The credit and licence of a data source, included in every answer that uses its data."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Credit:
    """Credit and licence of a data source.

    Attributes:
        credit: a sentence that names the source, in the source's own wording.
        licence: under which the data may be used.
    """

    credit: str
    licence: str
