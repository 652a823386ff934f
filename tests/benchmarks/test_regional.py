"""The regional experiment: its folds, its members and its medians, without its data."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot

from benchmarks.regional.data import BASINS, METRICS, TEST, basins, require_all
from benchmarks.regional.examination import summary, table
from benchmarks.regional.members import FOLDS, fold, series, train
from benchmarks.regional.pictures import drawn as pictures
from benchmarks.regional.pictures import uncertainty as uncertainty_pictures
from benchmarks.regional.published import PER_BASIN, of_three_products, paired
from benchmarks.regional.published import read as read_published
from benchmarks.regional.recipes import COMPARED
from benchmarks.regional.score import quartiles
from benchmarks.regional.trials import mean
from benchmarks.regional.uncertainty import Persistence, Rival, _figures, interval_score
from benchmarks.regional.us import choose_weights, weights_of_twin
from extensions.physics_exam.exam import NOT_ASKED, Question
from hydrology.uncertainty.error_model import LEVELS
from hydrology.verification.verify import CLIMATOLOGY
from models.pretrained import SHELF, combination
from models.pretrained.form import read


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
    for name in ("fold", "us-maurer-fold", "us-maurer-buckets-fold"):
        for number in range(1, FOLDS + 1):
            assert sorted([*series(f"{name}-{number}").basins, *fold(number)]) == basins()


@pytest.mark.usefixtures("listed")
def test_the_twins_of_a_part_learn_from_all_years_but_the_test_years() -> None:
    today, twins = series("us-maurer-today"), series("us-maurer-twins")
    assert (today.twin, today.members, today.basins) == (twins.folder, twins.members, twins.basins)
    assert str(today.config.train_period) == str(twins.config.train_period) == "1980-10-01..2008-09-30"
    assert (str(twins.config.held_out_period), today.config.held_out_period) == (TEST, None)


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize(("name", "member"), [("mclstm", 10), ("fold-1", 5), ("lstm", -1)])
def test_an_unknown_member_is_refused_before_anything_is_read(name: str, member: int) -> None:
    with pytest.raises(SystemExit, match=rf"{name} has the members 0 to \d; \[{member}\] are none of them"):
        train(name, [0, member])


def test_without_the_list_of_basins_it_reports_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
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


def test_every_picture_of_the_probabilities_is_stored_and_shown() -> None:
    shown = (pictures.PICTURES.parent / "understand" / "uncertainty.md").read_text()
    drawn = uncertainty_pictures.pictures()
    for name, figure in drawn.items():
        assert f"(../pictures/{name})" in shown
        assert 0 < (pictures.PICTURES / name).stat().st_size < 150_000
        pyplot.close(figure)
    assert len(drawn) == shown.count("(../pictures/")


def test_the_shares_of_the_pit_are_those_of_all_days_and_of_each_basin() -> None:
    flow = np.arange(400.0)
    high, low = (np.tile(np.array(LEVELS) + shift, (400, 1)) for shift in (400.0, -1.0))
    judged = [Rival.of(quantiles, flow, 390.0, 100.0) for quantiles in (high, low, low)]
    figures = _figures({CLIMATOLOGY: judged}, [Persistence(1.0, 0.5, 0.5)] * 3)[CLIMATOLOGY]["pit"]
    shares = [tenth["share"] for tenth in figures]
    assert shares == pytest.approx([1 / 3, *[0] * 8, 2 / 3])
    assert [tenth["of_basins"] for tenth in figures[::9]] == [[0, 0, 0.5], [1, 0.5, 1]]


def test_a_mean_of_an_unknown_series_names_the_known_ones() -> None:
    for part in ("unknown-0", "0.3:daymet", "members-x"):
        with pytest.raises(SystemExit, match=r"is not a trial: give NAME-SEED, NAME one of .*daymet"):
            mean([part])


def test_an_unknown_combination_names_the_known_ones() -> None:
    with pytest.raises(SystemExit, match="no combination; there are both, maurer, buckets, with-fused"):
        choose_weights(["both", "all"])


@pytest.mark.usefixtures("camels")
def test_the_folds_of_a_twin_are_of_its_parts_by_the_weights_it_is_shipped_with() -> None:
    for name in ("freshet-us-twin", "freshet-us-buckets-twin"):
        shipped = combination.read(SHELF / name).description
        assert weights_of_twin(name) == {
            part.name.removeprefix("freshet-").removesuffix("-twin"): part.weight for part in shipped.parts
        }
        assert dict.fromkeys(weights_of_twin(name), 1.0) == {
            part: weight for one in shipped.parts for part, weight in weights_of_twin(one.name).items()
        }


def test_a_question_is_summed_up_over_the_basins_that_are_asked() -> None:
    question = Question("q", "asks", "mm/day", 0.1, "Because.")
    figures = np.array([[0.0, 0.3, NOT_ASKED], [0.05, 0.2, NOT_ASKED], [0.02, 0.25, NOT_ASKED]])
    found = summary(question, figures)
    assert (found["asked"], found["failing"], found["asked_of_mean"], found["failing_of_mean"]) == (4, 2, 2, 1)
    assert (found["largest"], found["largest_of_mean"]) == (0.3, 0.25)
    assert found["median_of_failing"] == pytest.approx(0.25)
    row = table({"questions": {"q": found}}).splitlines()[-1]
    assert row == "| q | 0.1 mm/day | 50.0 % | 0.25, 0.3 | 50.0 % | 0.25 |"


def test_a_figure_that_is_not_a_number_fails_where_its_basin_is_asked() -> None:
    question = Question("q", "asks", "1", 0.1, "Because.")
    found = summary(question, np.array([[np.nan, 0.0], [np.nan, 0.0]]))
    assert (found["failing"], found["failing_of_mean"]) == (1, 1)


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize("name", ["mclstm", *COMPARED])
def test_a_shipped_ensemble_is_still_what_its_recipe_trains(name: str) -> None:
    trained = series(name)
    assert read(trained.folder).description.config == trained.config


def test_an_interval_is_penalised_for_the_values_it_misses() -> None:
    low, high = np.full(3, 1.0), np.full(3, 2.0)
    scores = interval_score(low, high, np.array([1.5, 0.5, 2.1]), 0.9)
    assert scores == pytest.approx([1.0, 1.0 + 20 * 0.5, 1.0 + 20 * 0.1])


def test_published_scores_are_paired_by_basin_and_nearness_to_the_perfect_score_decides(tmp_path: Path) -> None:
    path = tmp_path / "published.csv"
    rows = "".join(f"{number:08},0.{number},0.9,-0.2,-9,1,{'nan' if number == 3 else 9}\n" for number in range(1, 10))
    path.write_text("basin,NSE,alpha_nse,beta_nse,FHV,FMS,FLV\n" + rows)
    published = read_published(path)
    ours = {f"USGS-{number:08}": -0.1 for number in range(1, 13)} | {"USGS-00000001": None}
    bias = paired("beta_nse", dict(ours), published["beta_nse"])["gain"]
    assert (bias["n"], bias["better"], bias["worse"]) == (8, 8, 0)
    assert bias["median"] == pytest.approx(0.1)
    assert paired("flv", dict(ours), published["flv"])["gain"]["n"] == 7
    nse = paired("nse", dict.fromkeys(ours, 0.5), published["nse"])
    assert (nse["gain"]["better"], nse["gain"]["worse"]) == (4, 4)
    assert nse["theirs"]["median"] == pytest.approx(0.5)


def test_the_published_scores_on_three_products_are_read_by_basin(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FRESHET_CAMELS", str(tmp_path))
    path = tmp_path / PER_BASIN
    path.parent.mkdir()
    path.write_text(
        "gauge_id,model,NSE,KGE,rPearson,Beta,Gamma,KGElf,in_447,in_531\n"
        "01022500,HBV_ub,0.5,0.6,0.9,1,1,0.5,1,1\n"
        "01022500,LSTM_multiforcing_ens10,0.8,0.7,0.9,1,1,0.5,1,1\n"
    )
    assert of_three_products() == {"nse": {"USGS-01022500": 0.8}, "kge": {"USGS-01022500": 0.7}}
