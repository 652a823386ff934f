"""What every test may ask for."""

import gc
import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import settings

from hydrology.water.probes import ProbeResult
from models.pretrained import probe_results
from models.pretrained.form import Ensemble
from runtime.process import collect_seldom

# How long an example takes is the machine's business.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# Where no test configures logging, structlog would render the local variables of every frame: half a minute each.
structlog.configure(
    processors=[
        *structlog.get_config()["processors"][:-1],
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
    ]
)

# What the modules of tests import lives until the end: to look for garbage in it takes seconds each time.
gc.disable()

pytest.register_assert_rewrite("testing")
pytest_plugins = ["testing.databases"]

ROOT = Path(__file__).parents[1]
COMPILED = ROOT / "models" / "nets" / "compiled"
TESTS = ROOT / "tests"
RECORDS = TESTS / "records"
FIRST = (TESTS / "guide", TESTS / "workers", TESTS / "e2e")
"""The folders of the longest tests."""
ALL_EXTENDED = "\npytestmark = pytest.mark.extended\n"
"""In a module whose tests are all for `make test-all`."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out modules of `make test-all` before they are imported, where only the other tests run."""
    if config.option.markexpr != "not extended" or collection_path.suffix != ".py":
        return None
    return ALL_EXTENDED in collection_path.read_text("utf-8") or None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None]:
    """Leave PostgreSQL to `make test-all`, but for `records` and the first test of each other folder.

    Each process of pytest-xdist begins with an equal part of the tests, in their order. The first parts begin with the
    longest, so that none of them is left to run alone at the end.
    """
    on_postgresql = [
        item
        for item in items
        if _database_of(item) == "postgresql"
        and RECORDS not in item.path.parents
        and item.get_closest_marker("extended") is None
    ]
    first_of_folders = {item.path.parent: item for item in reversed(on_postgresql)}.values()
    for item in on_postgresql:
        if item not in first_of_folders:
            item.add_marker(pytest.mark.extended)
    yield  # those that are not asked for are left out
    others = [item for item in items if not any(item.path.is_relative_to(folder) for folder in FIRST)]
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    in_parts: list[pytest.Item] = []
    for number, folder in enumerate(FIRST, start=1):
        in_parts += [item for item in items if item.path.is_relative_to(folder)]
        rest = max(number * len(items) // processes - len(in_parts), 0)
        in_parts += others[:rest]
        del others[:rest]
    items[:] = [*in_parts, *others]


def _database_of(item: pytest.Item) -> object:
    """Return the system that a test of both databases runs on."""
    chosen = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    return chosen.get("database_url", chosen.get("empty_url"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Look for garbage again, but only in what tests make."""
    gc.freeze()
    gc.enable()
    collect_seldom()


def pytest_sessionstart() -> None:
    """Refuse to test what was compiled from other sources than those that lie here."""
    changed = max(path.stat().st_mtime for pattern in ("*.h", "*.cpp") for path in COMPILED.glob(pattern))
    if old := [path.name for path in COMPILED.glob("*.so") if path.stat().st_mtime < changed]:
        pytest.exit(f"{', '.join(old)} are older than their sources: run `python setup.py build_ext --inplace`.", 2)


@pytest.fixture(scope="session", autouse=True)
def _processes_find_the_tests() -> None:
    """Let processes that tests start import `tests` and `testing`, which no process looks for in its folder."""
    os.environ["PYTHONPATH"] = str(ROOT)


@pytest.fixture(scope="session", autouse=True)
def _processes_compile_once() -> None:
    """Let processes that tests start store bytecode: to compile Freshet is a fifth of the start of each."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.fixture(scope="session", autouse=True)
def _shipped_ensembles_are_probed_once() -> Iterator[None]:
    """Run the physics probes once on the same content, which many tests install: they take a quarter of a second."""
    measured: dict[str, tuple[ProbeResult, ...]] = {}
    measure = probe_results.measure

    def of_content(shipped: Ensemble) -> tuple[ProbeResult, ...]:
        if shipped.content not in measured:
            measured[shipped.content] = measure(shipped)
        return measured[shipped.content]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(probe_results, "measure", of_content)
        yield


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what all test processes share (`tests.shared_folders`)."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def camels() -> Path:
    """The folder of real CAMELS-US data, where FRESHET_CAMELS names one."""
    folder = os.environ.get("FRESHET_CAMELS")
    if folder is None:
        pytest.skip("set FRESHET_CAMELS to the folder of real CAMELS-US data to run this test")
    assert Path(folder).is_dir(), f"FRESHET_CAMELS names {folder}, which is not a folder"
    return Path(folder)
