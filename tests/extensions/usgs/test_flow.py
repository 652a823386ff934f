"""Rows of daily discharge become one series of a gauge, with their flags."""

import numpy as np
import pytest

from extensions.usgs.flow import discharge, flow_row
from hydrology.base.calendar import day
from hydrology.base.series import Flag
from ingestion.feeds.base import FeedProblem

GAUGE, AT = "USGS-01031500", "2026-11-11"


@pytest.mark.parametrize(
    ("rows", "value", "flags"),
    [
        ([(None, ["P", "Ice"]), (None, ["P", "Bkw"])], np.nan, Flag.MISSING | Flag.ICE),
        ([(None, ["P", "Bkw"]), (None, ["P", "Ice"])], np.nan, Flag.MISSING | Flag.ICE),
        ([(None, ["A", "Ice"]), ("250", ["P", "e"])], 250, Flag.APPROVED | Flag.ICE | Flag.ESTIMATED),
        ([("250", ["P"]), ("250.0", ["P", "Ice"])], 250, Flag.ICE | Flag.ESTIMATED),
        ([("250", ["P"]), ("251", ["P", "Ice"])], np.nan, Flag.MISSING | Flag.SUSPECT | Flag.ICE),
        ([("-12.5", ["P"])], np.nan, Flag.MISSING | Flag.SUSPECT),
        ([("-3.5", "A:e")], np.nan, Flag.APPROVED | Flag.MISSING | Flag.SUSPECT),
        ([("3.5", "A:e")], 3.5, Flag.APPROVED | Flag.ESTIMATED),
        ([("Eqp", "P:Eqp")], np.nan, Flag.MISSING),
        ([("Ice", "P")], np.nan, Flag.MISSING | Flag.ICE),
        ([("Whale", "P")], np.nan, Flag.MISSING | Flag.SUSPECT),
        ([("0.0", ["P"])], 0, 0),
        ([("240", ["P", "&"])], 240, 0),
        ([("240", ["P", "Whale"])], 240, Flag.SUSPECT),
        ([("-9999", ["A"])], np.nan, Flag.APPROVED | Flag.MISSING),
    ],
)
def test_rows_of_one_day_are_one_day_with_the_flags_of_all(
    rows: list[tuple[str | None, list[str] | str]], value: float, flags: int
) -> None:
    """Of DOI-USGS dataRetrieval issue 113: the service gives a day twice."""
    flow = discharge([flow_row(GAUGE, AT, text, codes) for text, codes in rows], day("2026-11-21"))
    assert flow is not None
    np.testing.assert_array_equal(flow.values, [value])
    assert flow.flags.tolist() == [flags]


@pytest.mark.parametrize("written", ["-3.5x", "1,250", "1_000", 10**400])
def test_digits_that_are_not_a_number_are_refused_with_their_day(written: str | int) -> None:
    with pytest.raises(FeedProblem, match=rf"{GAUGE} on {AT} is not a number \({str(written)[:5]}"):
        flow_row(GAUGE, AT, written, "P")


def test_the_name_of_a_gauge_in_an_answer_is_not_repeated_as_it_came() -> None:
    with pytest.raises(FeedProblem) as refusal:
        flow_row("USGS-\x1b[2J" + "1" * 5000, AT, "-3.5x", "P")
    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) < 400
