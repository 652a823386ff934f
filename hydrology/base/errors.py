"""The one base of every error that a user can mend.

A `Problem` is a sentence for a person: what is wrong, where, and how to mend it. Its `kind` is a stable
slug (the API's problem type), its `exit_code` what the command line ends with.
"""


class Problem(Exception):  # noqa: N818 - named after RFC 9457's "problem details", which it becomes
    """Something a user can mend. The text says what, where and how."""

    kind = "problem"
    exit_code = 2
    status = 500
    remedy = "Read `detail`: it says what is wrong this time and how to mend it."


def printable(words: str) -> str:
    """Return what others may have worded without control characters, as a sentence or a log may hold it."""
    return "".join(letter if letter.isprintable() else "?" for letter in words)


def excerpt(words: object) -> str:
    """Return the beginning of what others may have worded, fit for a sentence: short, and of printable letters."""
    return ascii(str(words))[1:-1][:200]


class NotFound(Problem):
    """The thing asked for is not kept here."""

    kind = "not-found"
    exit_code = 3
    status = 404
    remedy = "Check the spelling. The address without its last part lists what there is."


class InvalidInput(Problem):
    """An argument or a value that cannot be used as it is."""

    kind = "invalid-input"
    exit_code = 2
    status = 422
    remedy = "Change what `detail` and `errors` name, and send the request again."


class DataProblem(Problem):
    """The stored or supplied data do not allow the work."""

    kind = "data-problem"
    exit_code = 4
    status = 409
    remedy = "Mend the data that `detail` names (ingest them again, for example), and send the request again."
