"""The regional experiment: its folds, its members and its medians, without its data."""

from pathlib import Path

import pytest

from benchmarks.regional.data import BASINS, basins, require_all
from benchmarks.regional.members import FOLDS, fold, series, train
from benchmarks.regional.score import METRICS, quartiles


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A list of 17 basins where the experiment looks for its 447."""
    monkeypatch.setenv("FRESHET_CAMELS", str(tmp_path))
    path = tmp_path / BASINS
    path.parent.mkdir()
    path.write_text("".join(f"{number:08}\n" for number in range(17)))


@pytest.mark.usefixtures("listed")
def test_every_basin_is_left_out_by_one_fold_which_does_not_learn_from_it() -> None:
    left_out = [basin for number in range(1, FOLDS + 1) for basin in fold(number)]
    assert sorted(left_out) == basins()
    for number in range(1, FOLDS + 1):
        assert sorted([*series(f"fold-{number}").basins, *fold(number)]) == basins()


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize(("name", "member"), [("mclstm", 10), ("fold-1", 5), ("lstm", -1)])
def test_a_member_that_a_series_has_not_is_refused_before_anything_is_read(name: str, member: int) -> None:
    with pytest.raises(SystemExit, match=rf"{name} has the members 0 to \d; \[{member}\] are none of them"):
        train(name, [0, member])


def test_without_the_list_of_basins_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FRESHET_CAMELS", str(tmp_path))
    with pytest.raises(SystemExit, match=r"447_basin_file\.txt is missing"):
        basins()


def test_fewer_basins_are_another_experiment() -> None:
    require_all({})
    with pytest.raises(SystemExit, match="2 of the 447 basins cannot serve:\nthis\nthat"):
        require_all({"USGS-1": "this", "USGS-2": "that"})


def test_a_basin_without_a_score_takes_no_part_in_its_median() -> None:
    rows: list[dict[str, float | None]] = [dict.fromkeys(METRICS, value) for value in (0.1, 0.3, 0.7)]
    rows[1] |= {"flv": None}
    found = quartiles(rows)
    assert found["nse"] == pytest.approx([0.2, 0.3, 0.5])
    assert found["flv"] == pytest.approx([0.25, 0.4, 0.55])
