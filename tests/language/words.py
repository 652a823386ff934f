"""Finds words that this project avoids, in identifiers and in prose.

The list holds what hides the field's nouns: a verb such as *tell* stands for report, return, describe, store,
notify and label, and a reader cannot search for it. `docs/learn/glossary.md` has the words to use.
"""

import io
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

IDENTIFIERS = frozenset(
    (
        *("tell", "tells", "told", "telling", "say", "says", "said", "saying", "keep", "keeps", "kept", "keeping"),
        *("begun", "dealt", "undealt", "untold", "made", "morning", "mornings", "courses", "whom"),
    )
)
"""Words that no identifier has among its parts (`_told`, `keptWeather`)."""
LIMIT_PREFIXES = ("MOST_", "LEAST_", "LONGEST_")
"""Of constants: they are `MAX_` and `MIN_`."""
PROSE = re.compile(
    r"""\b(?:
        tell|tells|told|telling | say|says|said|saying | keep|keeps|kept|keeping | begun | dealt | made | mornings?
        | (?:come|comes|came)\ of | courses\ of | so\ many | so\ much
        | the\ (?:most|least)(?=\ (?:of|that|a|it|which|days|years)\b|[,.;:)])
        | (?<!there\ )(?:is|are)\ no(?=\ (?!longer\b|more\b|less\b|fewer\b|other\b|one\b|later\b|earlier\b))
        | by\ whose | of\ whom | what\ of | how\ (?:true|sure|far\ off) | unmet | whereabouts
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)


class Finding(NamedTuple):
    """An avoided word and where it stands."""

    file: str
    line: int
    word: str
    text: str


_WORDED = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
"""Tokens with words; from Python 3.12 on those of a formatted string are taken apart."""


def in_python(file: str, source: str) -> Iterator[Finding]:
    """Yield avoided words of Python source: identifiers, strings and comments."""
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        number = token.start[0]
        if token.type == tokenize.NAME and _is_avoided(token.string):
            yield Finding(file, number, token.string, lines[number - 1].strip())
        elif token.type in _WORDED:
            for line, word in _in_prose(token.string):
                yield Finding(file, number + line, word, lines[number + line - 1].strip())


def in_text(file: str, text: str) -> Iterator[Finding]:
    """Yield avoided words of a page or a template."""
    lines = text.splitlines()
    for line, word in _in_prose(text):
        yield Finding(file, line + 1, word, lines[line].strip())


def in_cpp(file: str, source: str) -> Iterator[Finding]:
    """Yield avoided words of C++ source: identifiers and comments."""
    yield from in_text(file, source)
    for number, line in enumerate(source.splitlines(), start=1):
        for found in filter(_is_avoided, re.findall(r"[A-Za-z_]\w*", line.partition("//")[0])):
            yield Finding(file, number, found, line.strip())


READERS: Mapping[str, Callable[[str, str], Iterator[Finding]]] = MappingProxyType(
    {
        ".py": in_python,
        ".h": in_cpp,
        ".cpp": in_cpp,
        ".md": in_text,
        ".html": in_text,
        ".toml": in_text,
        ".yml": in_text,
    }
)
"""What finds the words of a file, by its suffix."""


def in_file(path: Path, name: str) -> list[Finding]:
    """Return the avoided words of a file, by its suffix."""
    return list(READERS[path.suffix](name, path.read_text(encoding="utf-8")))


def _is_avoided(identifier: str) -> bool:
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", identifier)
    return identifier.lstrip("_").startswith(LIMIT_PREFIXES) or any(part.lower() in IDENTIFIERS for part in parts)


def _in_prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line from 0, word), also of phrases that a line break divides."""
    flat = re.sub(r"\s", " ", text)
    for found in PROSE.finditer(flat):
        yield text.count("\n", 0, found.start()), found[0].lower()
