"""What every answer that rests on somebody's data says of them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Credit:
    """Whose data they are.

    Attributes:
        credit: the sentence that names the source, as it asks to be named.
        licence: under which the data may be used.
    """

    credit: str
    licence: str
