"""The base class of every error that a user can fix.

A `Problem` is a sentence for a person: what is wrong, where, and how to fix it. Its `kind` is a stable slug (the API's
problem type), its `exit_code` the exit code of the command line.
"""


class Problem(Exception):  # noqa: N818 - named after RFC 9457's "problem details", which it becomes
    """A problem that a user can fix. Its text states what happened, where, and what to do."""

    kind = "problem"
    exit_code = 2
    status = 500
    remedy = "Read `detail`: it states what is wrong in this case and how to fix it."


def printable(words: str) -> str:
    """Remove control characters from foreign text, for use in a sentence or a log."""
    return "".join(letter if letter.isprintable() else "?" for letter in words)


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: `1 basin`, `2 basins`.

    Args:
        plural: of the noun, where it does not end in another s.
    """
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"


def excerpt(words: object) -> str:
    """Return the beginning of foreign text in printable characters, for use in a sentence."""
    return ascii(str(words))[1:-1][:200]


class NotFound(Problem):
    """The requested object does not exist here."""

    kind = "not-found"
    exit_code = 3
    status = 404
    remedy = "Check the spelling. The address without its last part lists what there is."


class InvalidInput(Problem):
    """An argument or a value that cannot be used."""

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
