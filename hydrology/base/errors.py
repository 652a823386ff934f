"""The base class of every error that a user can fix, and of findings about data.

A `Problem` is a sentence for a person: what is wrong, where, and how to fix it. Its `kind` is a stable slug (the API's
problem type), its `exit_code` the exit code of the command line.
"""

import re
from dataclasses import dataclass
from typing import Any, Literal


class Problem(Exception):  # noqa: N818 - named after RFC 9457's "problem details", which it becomes
    """A problem that a user can fix. Its text states what happened, where, and what to do."""

    kind = "problem"
    exit_code = 2
    status = 500
    remedy = "Read `detail`: it states what is wrong in this case and how to fix it."

    def __init_subclass__(cls) -> None:
        """Name a kind after its class (`UnknownRun`: `unknown-run`); a case of another kind has the name of that."""
        if "kind" not in vars(cls) and cls.__mro__[1].__module__ == __name__:
            cls.kind = re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower()


_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {
    chr(code)
    for first, last in ((0x180B, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF))
    for code in range(first, last + 1)
}
"""Fillers and variation selectors, which Python takes for printable."""


def is_shown(letter: str) -> bool:
    """Return whether a character shows, and changes neither the direction nor the joining of others."""
    return letter.isprintable() and letter not in _INVISIBLE


def printable(words: str) -> str:
    """Replace what does not show in foreign text, such as control characters, for use in a sentence or a log."""
    return "".join(letter if is_shown(letter) else "?" for letter in words)


def shown_part(words: str) -> str:
    """Return foreign text without what does not show, with a space for each line end."""
    if words.isascii() and words.isprintable():
        return words  # almost every stored text, of which a page may read thousands
    return "".join(letter if is_shown(letter) else " " if letter.isspace() else "" for letter in words)


def without_prefix(text: str) -> str:
    """Return a message without the words that pydantic puts before that of a `ValueError`."""
    return text.replace("Value error, ", "").replace("Assertion failed, ", "")


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: `1 basin`, `2 basins`; `plural` where it does not end in another s."""
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"


def excerpt(words: object) -> str:
    """Return the beginning of foreign text in printable characters, for use in a sentence."""
    return ascii(str(words))[1:-1][:200]


class NotFound(Problem):
    """The requested object does not exist here."""

    exit_code = 3
    status = 404
    remedy = "Check the spelling. The address without its last part lists what there is."


class InvalidInput(Problem):
    """An argument or a value that cannot be used."""

    exit_code = 2
    status = 422
    remedy = "Change what `detail` and `errors` name, and send the request again."


class DataProblem(Problem):
    """The stored or supplied data do not allow the work."""

    exit_code = 4
    status = 409
    remedy = "Mend the data that `detail` names (ingest them again, for example), and send the request again."


Severity = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding: a stable code, its severity, a sentence for people, and details that JSON can hold."""

    code: str
    severity: Severity
    sentence: str
    detail: dict[str, Any]
