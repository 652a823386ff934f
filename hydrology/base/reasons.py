"""The catalogue of reasons why a value is missing.

A text is a whole sentence for a reader of an answer: what is missing and, where somebody can mend it, how. Braces hold
its parameters.
"""

from enum import Enum, unique


@unique
class Reason(Enum):
    """Reasons, by subject; the value is the text. The names are stored: a renamed one needs a migration."""

    # Errors
    FAILED = "{message}"
    """An operation failed with an error; its message is for users."""

    # Snow
    NO_SNOW_CELLS = "No snow cells were chosen for this basin."
