"""Rating tables of ten gauges in the USGS's formats: there and back, refusals, hostile files."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydrology.base.units import M3_PER_FT3, M_PER_FT
from hydrology.ratings import MAX_JUMP, InvalidRating, Rating, jump, read_rating
from tests.hydrology.ratings.tables import GAUGES, base, channel, exsa


@pytest.mark.parametrize("gauge", range(10))
def test_stage_and_discharge_convert_there_and_back_within_the_precision_of_the_table(gauge: int) -> None:
    file = read_rating(exsa(gauge))
    assert (file.site, file.number, file.shifted) == (GAUGES[gauge], f"{gauge + 1}.0", "20180906102503 EST")
    assert file.largest_shift == pytest.approx(-0.12 * M_PER_FT)
    stages, flows, _ = channel(gauge)
    assert file.rating.discharge(stages * M_PER_FT) / M3_PER_FT3 == pytest.approx(flows, abs=1e-6)
    # a hundredth of a foot between the table's points, and flows between its flows
    between = np.random.default_rng(1).uniform(stages[0], stages[-1], 2000) * M_PER_FT
    assert file.rating.stage(file.rating.discharge(between)) == pytest.approx(between, abs=0.01 * M_PER_FT)
    asked = np.geomspace(flows[0] + 0.01, flows[-1], 2000) * M3_PER_FT3
    assert file.rating.discharge(file.rating.stage(asked)) == pytest.approx(asked, rel=1e-9)
    assert (np.diff(file.rating.discharge(np.sort(between))) >= 0).all()
    assert (np.diff(file.rating.stage(asked)) >= 0).all()


@pytest.mark.parametrize("gauge", [0, 4])
def test_a_base_table_is_joined_by_logarithms_above_its_offset(gauge: int) -> None:
    rating = read_rating(base(gauge)).rating
    stages, flows, offset = channel(gauge)
    low = stages < stages[0] + 2  # a weir: one power of the stage above its offset
    found = rating.discharge(stages[low] * M_PER_FT) / M3_PER_FT3
    assert found == pytest.approx(flows[low], rel=2e-3, abs=0.02)
    expanded = Rating(tuple(stages * M_PER_FT), tuple(flows * M3_PER_FT3), "logarithmic", (offset * M_PER_FT,))
    inside = (stages >= stages[0]) & (stages * M_PER_FT <= rating.stages[-1])
    assert (expanded.discharge(stages[inside] * M_PER_FT) >= 0).all()


@pytest.mark.parametrize("gauge", range(10))
def test_tables_jump_by_the_ratio_of_their_high_flows(gauge: int) -> None:
    stages, flows, _ = channel(gauge)

    def table(size: float = 1.0, datum: float = 0.0) -> Rating:
        return Rating(tuple((stages + datum) * M_PER_FT), tuple(np.maximum.accumulate(flows * size) * M3_PER_FT3))

    assert jump(table(), table()) == 1
    for size in (1.1, 1.5):
        assert jump(table(), table(size)) == pytest.approx(jump(table(size), table())) == pytest.approx(size)
    assert jump(table(), table(datum=500)) == np.inf
    # A bed that is moved below a few feet changes no high flow.
    moved = np.where(stages < stages[0] + 3, flows / 2, flows)
    shifted = Rating(tuple(stages * M_PER_FT), tuple(np.maximum.accumulate(moved) * M3_PER_FT3))
    assert jump(table(), shifted) == 1
    assert jump(table(), table(datum=3)) > MAX_JUMP


@pytest.mark.parametrize("gauge", range(10))
def test_nothing_outside_the_table_is_extrapolated(gauge: int) -> None:
    rating = read_rating(exsa(gauge)).rating
    assert np.isnan(rating.stage([rating.discharges[0] * 0.99, rating.discharges[-1] * 1.01])).all()
    assert np.isnan(rating.discharge([rating.stages[0] - 0.01, rating.stages[-1] + 0.01])).all()
    assert rating.stage(rating.discharges[-1]) == pytest.approx(rating.stages[-1])
    assert str(rating.why_no_stage(1e6)).endswith("not 1e+06: it is not extrapolated.")
    assert "ft, not 328.08: it is not extrapolated." in str(rating.flow_at(100.0))


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 300), st.integers(0, 10_000)), min_size=2, max_size=30), st.booleans())
def test_any_table_is_monotone_both_ways(steps: list[tuple[int, int]], logarithmic: bool) -> None:
    stages = np.cumsum([step for step, _ in steps]) / 100
    flows = np.cumsum([rise for _, rise in steps]) / 100
    if flows[0] == flows[-1]:
        return
    rating = Rating(tuple(stages), tuple(flows), "logarithmic" if logarithmic else "linear", (0.0,))
    found = rating.discharge(np.linspace(stages[0], stages[-1], 200))
    assert (np.diff(found) >= 0).all()
    back = rating.stage(found)
    assert (np.diff(back) >= 0).all()
    assert rating.discharge(back) == pytest.approx(found, rel=1e-9, abs=1e-9)


def test_metric_tables_come_as_csv() -> None:
    rating = read_rating("stage_m,discharge_m3_per_s\n0.5,0\n1.0,2.5\n2.0,10\n").rating
    assert rating.discharge([0.75, 1.5]).tolist() == [1.25, 6.25]
    feet = read_rating("\ufeffstage_ft,discharge_cfs\r\n1,10\r\n2,20\r\n").rating
    assert feet.stages == pytest.approx((0.3048, 0.6096))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The columns are none"),
        ("stage,flow\n1,2\n", "stage_ft, stage_m"),
        ("stage_ft,discharge_cfs\n1,2\n", "2 to 20000 points; this one has 1"),
        ("stage_ft,discharge_cfs\n1,2\n1,3\n", "stage does not rise"),
        ("stage_ft,discharge_cfs\n1,3\n2,2\n", "discharge falls"),
        ("stage_ft,discharge_cfs\n1,2\n2,nan\n", "Line 3 has 'nan', which is not a number"),
        ("stage_ft,discharge_cfs\n1,2\n2,1e999\n", "Line 3"),
        ("stage_ft,discharge_cfs\n1,2\n2,3,4\n", "Line 3 has 3 cells under 2 names"),
        ("stage_ft,discharge_cfs\n1," + "2" * 140_000, "not CSV"),
        ("stage_ft,discharge_cfs\n1,-2\n2,3\n", "start at 0 or above"),
        ("stage_ft,discharge_cfs\n1,2\n2,2\n", "start at 0 or above and rise"),
        ("# nothing\n", "no table"),
        (exsa(0).replace("INDEP\tSHIFT\tDEP", "STAGE\tSHIFT\tCORR"), "exsa or base"),
        (exsa(0).replace('CODE="00060"', 'CODE="00065"'), "not of discharge (00060)"),
        (exsa(0).replace('TYPE="STGQ"', 'TYPE="STGVQ"'), "STGQ"),
        (exsa(0).replace('"logarithmic"', '"spline"'), "only logarithmic and linear"),
        (exsa(0).replace("OFFSET1=", "OFFSET1=x"), "The header has"),
        (exsa(0).replace("OFFSET1=", "BREAKPOINT1=5 BREAKPOINT2=4 OFFSET2=1 OFFSET3=2 OFFSET1="), "breakpoints"),
        ("stage_ft,discharge_cfs\n" + "1,2\n" * 300_000, "at most 1048576 characters"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_the_place(text: str, sentence: str) -> None:
    with pytest.raises(InvalidRating, match=re.escape(sentence)):
        read_rating(text)
