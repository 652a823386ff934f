"""The printed table, and what may be held against it."""

import csv
from pathlib import Path

import numpy as np
import pytest

from hydrology.base.calendar import Period
from hydrology.scores.comparisons import BASINS, MC_LSTM, PERIOD, REGIONAL, TABLE, is_comparable
from hydrology.scores.scores import SCORES


def test_every_model_has_the_four_printed_scores_and_each_its_source() -> None:
    assert len({one.model for one in TABLE}) == len(TABLE) == 14
    for model in TABLE:
        printed = [one for one in model.medians if one.source != REGIONAL]
        assert [one.metric for one in printed] == ["nse", "beta_nse", "flv", "fhv"]
        assert all(one.metric in SCORES for one in model.medians)
        for one in model.medians:
            assert (one.p25 is None) == (one.p75 is None)
            assert one.p25 is None or one.p75 is None or one.p25 < one.median < one.p75


def test_the_other_study_prints_another_low_flow_bias_of_six_models() -> None:
    other = {one.model: [m for m in one.medians if m.source == REGIONAL] for one in TABLE}
    differing = {model: medians for model, medians in other.items() if medians}
    assert len(differing) == 6
    assert {one.metric for medians in differing.values() for one in medians} == {"flv"}


def test_only_the_same_days_and_exactly_the_same_basins_are_comparable(camels: Path) -> None:
    listed = (camels / "basin_lists" / "447_basin_file.txt").read_text().split()
    names = [f"USGS-{number}" for number in listed]
    assert len(names) == BASINS
    assert is_comparable(PERIOD, names[::-1])
    assert not is_comparable(PERIOD, names[1:])
    assert not is_comparable(PERIOD, [*names, "USGS-01013500"])
    assert not is_comparable(Period.parse("1989-10-01..1999-09-29"), names)


def test_an_empty_list_does_not_mean_all_basins() -> None:
    assert not is_comparable(PERIOD, [])


def test_the_table_agrees_with_the_published_files(camels: Path) -> None:
    names = {
        "SAC-SMA": "SAC_SMA",
        "VIC, basin": "VIC_basin",
        "mHM, basin": "mHm_basin",
        "HBV, upper": "HBV_ub",
        "FUSE 900": "FUSE_900",
    }
    with (camels / "benchmarks" / "benchmark_models_per_basin.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["in_447"] == "1"]
    printed = {one.model: next(m for m in one.medians if (m.metric, m.source) == ("nse", MC_LSTM)) for one in TABLE[4:]}
    for name, column in names.items():
        values = [float(row["NSE"]) for row in rows if row["model"] == column]
        assert len(values) == BASINS
        assert float(np.median(values)) == pytest.approx(printed[name].median, abs=6e-4)
