"""What fuzzing begins from is read, so that it goes into the readers and not round them."""

from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path

import pytest

from benchmarks.fuzz.findings import BadSentence, judged, store_finding
from benchmarks.fuzz.target import HOSTILE
from benchmarks.fuzz.targets import TARGETS
from hydrology.base.errors import InvalidInput

pytestmark = pytest.mark.extended


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The current folder, one for all targets, as a process of the fuzzer has it."""
    with chdir(tmp_path_factory.mktemp("fuzz")):
        yield Path.cwd()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", TARGETS)
def test_the_first_seed_is_read_and_hostile_ones_refused_in_a_sentence(name: str) -> None:
    target = TARGETS[name]
    first, *others = target.seeds()
    assert max(map(len, (first, *others))) <= target.longest
    target.read(first)
    for other in (*others, *HOSTILE):
        judged(target.read, other)


def refusing(sentence: str) -> Callable[[bytes], object]:
    """Return a reader that refuses everything."""

    def read(_content: bytes) -> object:
        raise InvalidInput(sentence)

    return read


@pytest.mark.parametrize("sentence", ["a\x1b[2Jb", "a\nb", "a\ud800b", "a" * 4_001])
def test_a_refusal_that_no_log_should_hold_is_a_finding(sentence: str) -> None:
    judged(refusing("It is not a day: write YYYY-MM-DD."), b"")
    with pytest.raises(BadSentence):
        judged(refusing(sentence), b"")


def test_findings_of_one_kind_are_stored_once(tmp_path: Path) -> None:
    def divided(content: bytes) -> float:
        return 1 / len(content.strip())

    for content in (b"", b" "):
        with pytest.raises(ZeroDivisionError) as caught:
            judged(divided, content)
        store_finding(tmp_path, content, caught.value)
    stored = [path for path in tmp_path.iterdir() if path.suffix != ".txt"]
    assert [path.read_bytes() for path in stored] == [b""]
