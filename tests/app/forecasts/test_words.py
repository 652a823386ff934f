"""A forecast in words contains its own numbers and claims nothing beyond them."""

from dataclasses import replace
from datetime import date

import pytest

from app.forecasts.discharge import Calibration, PeakOfRun
from app.forecasts.stored_water import SnowAtT0, SnowRead, Storage
from app.forecasts.words import RESTS_ON, in_words, number
from hydrology.extremes.return_periods import Bound
from records.runs.run_summary import KnownSkill

T0 = date(2008, 4, 20)
DAYS = [date(2008, 4, 21), date(2008, 4, 22), date(2008, 4, 23)]
MEMBERS = {"median": [2.0, 4.5, 3.0]}
CALIBRATED = {"median": [2.1, 2.0, 1.9], "p10": [1.5, 1.3, 1.1], "p90": [3.0, 3.3, 3.6]}
USED = Calibration(
    kind="observed",
    hash="h",
    weather="observed",
    weather_issues=None,
    recalibration=None,
    fitted_on="a",
    own_days=1,
    last_observed_day=date(2008, 4, 20),
    last_observed=2.25,
    last_simulated=1.75,
)


def _peak(years: float, bound: Bound | None = None) -> PeakOfRun:
    (first, middle, last), period = DAYS, {"return_period_years": years, "return_period_bound": bound}
    return PeakOfRun.model_validate(
        {"p05": 3, "median": 4.5, "p95": 6, "day_p05": first, "day_median": middle, "day_p95": last} | period
    )


def test_it_gives_observed_and_expected_flow_with_its_uncertainty() -> None:
    answer = in_words(
        t0=T0,
        days=DAYS,
        discharge=MEMBERS,
        calibrated=CALIBRATED,
        calibration=USED,
        storage=None,
        weather="climatology",
        units="m3/s",
    )
    assert answer == (
        "2.25 m³/s was observed on 20 April; 1.75 was simulated. 2.10 m³/s is expected on 21 April and 1.90 on "
        "23 April, with the weather of other years. Likely, with four chances in five, it is between 1.50 and 3.00 "
        "m³/s on 21 April, and between "
        "1.10 and 3.60 on 23 April."
    )


@pytest.mark.parametrize("kind", ["provisional", "backfilled"])
def test_a_range_that_rests_on_few_or_no_issued_forecasts_is_labelled(kind: str) -> None:
    answer = in_words(
        t0=T0,
        days=DAYS,
        discharge=MEMBERS,
        calibrated=CALIBRATED,
        calibration=USED.model_copy(update={"kind": kind, "weather": "a/b", "weather_issues": 0}),
        storage=None,
        weather="supplied",
        units="m3/s",
    )
    assert "Likely, with four chances in five" in answer
    assert answer.endswith(RESTS_ON[kind])


def test_without_calibrated_quantiles_it_gives_no_probabilities() -> None:
    answer = in_words(
        t0=T0,
        days=DAYS,
        discharge=MEMBERS,
        calibrated=None,
        calibration=None,
        storage=Storage(at_t0=322.0, total=[321.0, 1.0, 1.0], snow=None, snow_read=None),
        weather="supplied",
        units="cfs",
        peak=_peak(5.0),
    )
    assert answer == (
        "2.00 ft³/s is expected on 21 April and 3.00 on 23 April, with a weather forecast; the highest is 4.50 on "
        "22 April (return period about 5 years). No uncertainty estimate yet. On 20 April the basin held 322 mm of "
        "water."
    )


def test_a_dry_spell_is_described_as_hypothetical() -> None:
    answer = in_words(
        t0=T0,
        days=DAYS,
        discharge=MEMBERS,
        calibrated=None,
        calibration=None,
        storage=None,
        weather="dry",
        units="m3/s",
        peak=_peak(0.5, "less"),
    )
    assert answer == (
        "2.00 m³/s would flow on 21 April and 3.00 on 23 April, if no more rain or snow fell; the highest is 4.50 on "
        "22 April. No uncertainty estimate yet."
    )


def test_a_single_day_is_given_once() -> None:
    one = {name: values[:1] for name, values in CALIBRATED.items()}
    snow = Storage(at_t0=None, total=[100.0], snow=[40.0], snow_read=None)
    answer = in_words(
        t0=T0,
        days=DAYS[:1],
        discharge=MEMBERS,
        calibrated=one,
        calibration=None,
        storage=snow,
        weather="observed",
        units="mm/day",
    )
    assert answer == (
        "2.10 mm/day is expected on 21 April, with observed weather (a hindcast). Likely, with four chances in "
        "five, it is between 1.50 and 3.00 mm/day. At the end of 21 April the basin holds 100 mm of "
        "water, of which 40.0 mm reads as snow."
    )


SKILL = KnownSkill(
    version="v",
    products=("uaz",),
    period="1989-10-01..1999-09-30",
    basins=None,
    r=0.95,
    bias_pct=-3.0,
    bare_mm=7.25,
)
AT_T0 = SnowAtT0(
    mean=41.0,
    p05=36.0,
    p95=46.0,
    normal=None,
    percent_of_normal=None,
    snow17=None,
    reference=None,
    uncertain=False,
    uncertain_reason=None,
    in_words="41 mm",
)


def test_snow_is_described_with_its_spread_mapping_and_false_snow() -> None:
    read = SnowRead(
        mapping="basin", mapping_note="It is its own.", p05=[35.0], p95=[45.0], volume_m3=None, at_t0=AT_T0, skill=SKILL
    )
    held = Storage(at_t0=102.0, total=[100.0], snow=[40.0], snow_read=read)
    answer = in_words(
        t0=T0,
        days=DAYS[:1],
        discharge=MEMBERS,
        calibrated=None,
        calibration=None,
        storage=held,
        weather="observed",
        units="mm/day",
    )
    assert answer.endswith(
        "On 20 April the basin held 102 mm of water, of which 41.0 mm reads as snow (5 to 95 % of the members: 36.0 to "
        "46.0 mm). "
        "Where there was no snow, such cells held 7.25 mm in the mean."
    )
    regional = {"mapping": "regional", "mapping_note": "Cells of others."}
    hardly = read.model_copy(update={"skill": replace(SKILL, bare_mm=0.2), **regional})
    answer = in_words(
        t0=T0,
        days=DAYS[:1],
        discharge=MEMBERS,
        calibrated=None,
        calibration=None,
        storage=held.model_copy(update={"snow_read": hardly}),
        weather="observed",
        units="mm/day",
    )
    assert answer.endswith("36.0 to 46.0 mm). Cells of others.")


@pytest.mark.parametrize(
    ("value", "answer"),
    [(0.0, "0"), (0.01234, "0.0123"), (0.9996, "1.000"), (4.567, "4.57"), (99.96, "100.0"), (12345.6, "12300")],
)
def test_numbers_have_three_digits(value: float, answer: str) -> None:
    assert number(value) == answer
