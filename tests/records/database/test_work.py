"""Basins are divided so that all processes are busy to the end."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.database.engine import Database
from records.database.work import Work
from testing.work import work_of


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Work]:
    database = Database(f"sqlite:///{tmp_path_factory.mktemp('work') / 'freshet.sqlite'}")
    yield work_of(database)
    database.close()


@given(count=st.integers(0, 3000), size=st.integers(1, 300), cores=st.integers(1, 70))
def test_parts_are_as_many_for_each_core(work: Work, count: int, size: int, cores: int) -> None:
    names = [f"own-{number}" for number in range(count)]
    parts = replace(work, cores=cores).parts(names, size)
    sizes = [len(part) for part in parts]
    at_once = min(cores, 2 * count // size)  # a process is worth its start from half of a part on
    assert [name for part in parts for name in part] == names
    assert max(sizes) <= size
    assert max(sizes) - min(sizes) <= 1
    assert min(sizes) > 0 or count == 0  # a part without basins would be one of all
    assert len(parts) % max(1, at_once) == 0 or len(parts) == count
    assert (len(parts) - max(1, at_once)) * size < max(1, count)


def test_447_basins_of_an_evaluation_are_eight_parts_for_two_cores(work: Work) -> None:
    assert [len(part) for part in replace(work, cores=2).parts(["USGS-1"] * 447, 64)] == [56] * 7 + [55]
