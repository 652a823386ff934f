"""A source that is read apart: what crashes the process that reads is named, and nothing else is lost."""

import ctypes
from functools import partial
from pathlib import Path

import pytest

from hydrology.base.errors import Problem
from ingestion.base import ANY_FILES, BasinData, Files, SourceError
from ingestion.sources.camels import CamelsSource
from operations.basin_data.sources import IsolatedSource
from testing.country import BASINS

pytestmark = pytest.mark.extended

CRASHES, BROKEN = BASINS[1], BASINS[2]


class Crashing(CamelsSource):
    """A source at one basin of which the process dies, as a fault in C lets it, and at another of which it fails."""

    def __init__(self, paths: list[Path], files: Files = ANY_FILES) -> None:
        super().__init__(paths, files=files)

    def read(self, basin: str) -> BasinData:
        data = super().read(basin)
        if basin == CRASHES:
            ctypes.string_at(0)
        if basin == BROKEN:
            raise SourceError("a file", "has no end", "end it")
        return data


def test_a_subprocess_reads_the_same_data(country: Path) -> None:
    here = CamelsSource([country])
    with IsolatedSource(partial(CamelsSource, [country]), None) as there:
        assert there.basins() == here.basins() == [*BASINS]
        for basin in BASINS:
            assert repr(there.read(basin)) == repr(here.read(basin))


def test_a_file_at_which_the_process_dies_is_named_and_the_others_go_on(country: Path) -> None:
    with IsolatedSource(partial(Crashing, [country]), None) as source:
        assert source.basins() == [*BASINS]
        first = source.read(BASINS[0])
        result = rf"{country}/.*{CRASHES}.*: the process that read it was killed by SIGSEGV .*, twice"
        with pytest.raises(SourceError, match=result):
            source.read(CRASHES)
        with pytest.raises(Problem, match="a file: has no end") as problem:
            source.read(BROKEN)
        assert repr(source.read(BASINS[0])) == repr(first)
    assert (problem.value.kind, problem.value.exit_code) == (SourceError.kind, SourceError.exit_code)


class Endless(CamelsSource):
    """A source at one basin of which a library never ends, nor lets Python do anything."""

    def __init__(self, paths: list[Path], files: Files = ANY_FILES) -> None:
        super().__init__(paths, files=files)

    def read(self, basin: str) -> BasinData:
        data = super().read(basin)
        if basin == CRASHES:
            ctypes.PyDLL(None).pause()
        return data


def test_a_file_at_which_the_process_never_ends_is_named_and_the_others_go_on(country: Path) -> None:
    with IsolatedSource(partial(Endless, [country]), None, patience=20.0) as source:
        first = source.read(BASINS[0])
        with pytest.raises(SourceError, match=rf"{country}/.*{CRASHES}.*: .* did not end within 20 seconds"):
            source.read(CRASHES)
        assert repr(source.read(BASINS[0])) == repr(first)


def test_a_subprocess_refuses_files_outside_the_roots(country: Path, tmp_path: Path) -> None:
    with (
        IsolatedSource(partial(CamelsSource, [country]), (tmp_path,)) as source,
        pytest.raises(Problem, match="not in a folder"),
    ):
        source.basins()
