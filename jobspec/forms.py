"""Forms of texts: the pattern that programs check, and its words for readers, who are never shown a pattern."""

_WORDS: dict[str, str] = {}


def form(pattern: str, words: str) -> str:
    """Return a pattern, and note its words.

    Args:
        words: what a text of the form is, with an example: `1 to 12 digits, such as 0101`.
    """
    _WORDS[pattern] = words
    return pattern


def words_of(pattern: str) -> str | None:
    """Return the words of a pattern; None where it has none."""
    return _WORDS.get(pattern)
