"""The words of code and docs: none that hides the field's noun, but for exceptions that have a reason."""

import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.language.words import READERS, Finding, in_cpp, in_file, in_python, in_text

ROOT = Path(__file__).parents[2]
EXCEPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "tests/language/words.py": "the list itself",
        "tests/language/test_words.py": "the list's own test",
        "client/freshet_client/models.py": "generated, with the public fields of answers",
        "docs/learn/glossary.md": "it lists the words to avoid beside those to use",
        "app/basins/observations.py: kept": "a public field of an answer",
        "tests/app/basins/test_observations.py: kept": "the same field",
        "app/http/limits/connections.py: connection_made": "a method of asyncio.Protocol",
        "tests/app/http/test_connections.py: timeout_keep_alive": "a setting of uvicorn",
        "tests/app/http/test_connections.py: keep": "HTTP's Connection: keep-alive",
        "tests/disks.py: tell": "a method of Python's files",
    }
)
"""Files, or `file: word`, with the reason."""
MAX_EXCEPTIONS = 40


def test_no_avoided_word_stands_in_code_or_docs_and_every_exception_is_needed() -> None:
    findings = _findings()
    found = [one for one in findings if not {one.file, f"{one.file}: {one.word}"} & EXCEPTIONS.keys()]
    listed = "\n".join(f"{one.file}:{one.line}: {one.word!r} in: {one.text}" for one in found[:40])
    assert not found, f"{len(found)} avoided words (docs/learn/glossary.md has the words to use):\n{listed}"
    names = {key for one in findings for key in (one.file, f"{one.file}: {one.word}")}
    assert not EXCEPTIONS.keys() - names
    assert len(EXCEPTIONS) <= MAX_EXCEPTIONS


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def told():\n    '''Return the flow.'''\n", ["told"]),
        ("MOST_TRIES = 3  # of them\nkeptWeather = _begun = 1\n", ["MOST_TRIES", "keptWeather", "_begun"]),
        ("x = 1  # what is said\n", ["said"]),
        ("x = f'It is kept in {folder}.'\n", ["kept"]),
        ('"""The page\n\nis no\nbackup, and so\nmany more."""\n', ["is no", "so many"]),
        ("held = stored = reported = made_of = 1\n", ["made_of"]),
    ],
)
def test_words_of_python(source: str, words: list[str]) -> None:
    assert [one.word for one in in_python("a.py", source)] == words


def test_words_of_cpp() -> None:
    source = "constexpr int MOST_ROWS = 4;\n// What a row keeps.\nint madeRows = kept;\n"
    found = [(one.line, one.word) for one in in_cpp("a.h", source)]
    assert found == [(2, "keeps"), (3, "kept"), (1, "MOST_ROWS"), (3, "madeRows"), (3, "kept")]


def test_words_of_a_page() -> None:
    text = (
        "There is no gauge. It is no longer there.\nThe most severe alert.\n\nHow sure, it tells: the most that\nfell."
    )
    found = [(one.line, one.word) for one in in_text("a.md", text)]
    assert found == [(4, "how sure"), (4, "tells"), (4, "the most")]


def _findings() -> list[Finding]:
    return [finding for name in _tracked() for finding in in_file(ROOT / name, name)]


def _tracked() -> list[str]:
    """Return the project's text files by git, or all of a source archive."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    return [name for name in listed.split("\0") if name.endswith((*READERS,)) and (ROOT / name).is_file()]


if __name__ == "__main__":
    chosen = [one for one in _findings() if one.file.startswith(tuple(sys.argv[1:] or [""]))]
    sys.stdout.writelines(f"{one.file}:{one.line}: {one.word}: {one.text[:160]}\n" for one in chosen)
    sys.stdout.write(f"{len(chosen)} {Counter(one.word for one in chosen).most_common()}\n")
