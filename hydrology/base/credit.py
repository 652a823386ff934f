"""The credit and licence of a data source, included in every answer that uses its data."""

from collections.abc import Iterable
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


def credit_of_all(of_sources: Iterable[Credit | None]) -> Credit | None:
    """Return one credit that names every source, each once; None where none has a credit."""
    known = dict.fromkeys(credit for credit in of_sources if credit is not None)
    if not known:
        return None
    licences = dict.fromkeys(credit.licence for credit in known)
    return Credit(" ".join(dict.fromkeys(credit.credit for credit in known)), "; ".join(licences))
