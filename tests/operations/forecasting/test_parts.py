"""What the parts of a combined version share in a basin."""

from dataclasses import fields, replace
from typing import Any, cast

import numpy as np

from hydrology.base.absent import absent
from hydrology.base.calendar import Period, day
from hydrology.base.reasons import Reason
from models.forcing import Forcing
from operations.forecasting.results import products_there
from operations.forecasting.simulated_basin import StartedPart, of_largest_weight
from operations.forecasting.weather_skill import complete_years, other_weather
from records.runs.run_weather import RunSubset, subset_note
from records.versions.version_properties import VersionPart

AHEAD, T0 = Period.parse("2020-11-10..2020-11-12"), day("2020-11-09")
FIRST = VersionPart(
    version="1", name="maurer", product="maurer", trained_on="maurer", architecture="mclstm", weight=0.6, members=(0,),
    fitted=(), validation=None, basin_weights={"A": 0.1},
)  # fmt: skip
SECOND = replace(FIRST, version="2", name="daymet-mclstm", product="daymet", weight=0.4, basin_weights={"A": 0.9})
THIRD = replace(SECOND, version="3", name="daymet-buckets")


def record(first: str) -> Forcing:
    days = int((T0 - day(first)).astype(int)) + 1
    since = np.arange(days, dtype=np.float32)[None] + float((day(first) - day("1970-01-01")).astype(int))
    return Forcing(day(first), since, since[..., None], np.zeros((1, 0), np.float32), ("A",))


def test_the_same_place_is_the_same_year_in_all_parts() -> None:
    longer, shorter = record("1980-01-01"), record("1980-12-01")
    shared = complete_years(longer, AHEAD, T0) & complete_years(shorter, AHEAD, T0)
    of_parts = [other_weather(one, AHEAD, T0, shared) for one in (longer, shorter)]
    alone = other_weather(longer, AHEAD, T0)
    assert all(one is not None for one in (*of_parts, alone))
    first, second = (one.values for one in of_parts if one is not None)
    np.testing.assert_array_equal(first, second)
    assert alone is not None
    assert len(first) == len(alone.values) - 1


def test_the_largest_weight_is_that_of_the_basin() -> None:
    rest = {field.name: cast(Any, None) for field in fields(StartedPart)}
    parts = [StartedPart(**rest | {"part": part.in_basin("A")}) for part in (FIRST, SECOND)]
    assert of_largest_weight(parts).part.name == SECOND.name


def test_a_part_is_named_where_another_on_its_product_took_part() -> None:
    parts = (FIRST, SECOND, THIRD)
    assert products_there(parts, [SECOND, THIRD]) == (("daymet",), ())
    products, in_part = products_there(parts, [FIRST, SECOND])
    assert (products, in_part) == (("maurer", SECOND.name), ("daymet",))
    why = absent(Reason.NOT_SCORED_WITHOUT_PART, products="daymet")
    note = subset_note(RunSubset(products=products, missing={THIRD.name: absent(Reason.NO_STATE)}, without_nse=why))
    assert note.startswith(f"On maurer and {SECOND.name} alone. Missing is {THIRD.name}: ")
    assert note.endswith(str(why))


def test_parts_that_are_missing_for_one_reason_are_named_together() -> None:
    alike = dict.fromkeys((FIRST.name, SECOND.name), absent(Reason.NO_STATE))
    other = {THIRD.name: absent(Reason.NOT_SCORED_WITHOUT_PART, products="daymet")}
    note = subset_note(RunSubset(products=("daymet",), missing=alike | other))
    assert note.count(str(alike[FIRST.name])) == 1
    assert f"Missing are {FIRST.name} and {SECOND.name}: {alike[FIRST.name]} Missing is {THIRD.name}: " in note
