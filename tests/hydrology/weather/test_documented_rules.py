from typing import NamedTuple

from hydrology.base.errors import counted
from hydrology.weather.check_relations import (
    CROSSED_DAYS,
    DAYLENGTH_REFUSED,
    DAYLENGTH_WARNED,
    HOT_SHARE,
    HOTTEST_TMAX,
    HOTTEST_TMIN,
    MEAN_TOLERANCE,
    SRAD_CLEAR,
    SRAD_HIGH_REFUSED,
    SRAD_HIGH_WARNED,
    SRAD_HIGHEST,
    SRAD_LOW_DAYS,
    SRAD_LOW_REFUSED,
    SRAD_LOW_WARNED,
    VP_ALONE,
    VP_ALONE_REFUSED_DAYS,
    VP_ALONE_WARNED_DAYS,
    VP_COLDEST,
    VP_RATIO_REFUSED,
    VP_RATIO_WARNED,
)
from hydrology.weather.check_weather import (
    ANOMALY_REFUSED,
    DEFICIT,
    DRIZZLE_DAYS,
    DRIZZLE_EXPECTED_MM,
    DRIZZLE_MM,
    DRIZZLE_WET_DAYS,
    DRY_ANOMALY,
    DRY_DAYS,
    EXPECTED_DAYS,
    EXPECTED_MM,
    EXPLAINED,
    FALLS_PER_RISE,
    PLATEAU_MM,
    PLATEAUS_REFUSED,
    RISES_REFUSED,
    RISES_WARNED,
    RISES_WITH_PLATEAUS,
    RIVERLESS_DAYS,
    RIVERLESS_MM,
    RIVERLESS_WET_DAYS,
    TRACES_REFUSED,
    TRACES_SHARE,
    WARNED_SHARE,
    YEAR_DAYS,
    YEAR_REFUSED,
    YEAR_WARNED,
)
from tests.deployment.files import ROOT


class Rule(NamedTuple):
    """A check with its description: its refusals and its warnings."""

    code: str
    refused: str
    warned: str


RULES = (
    Rule(
        "tmin-above-tmax",
        f"in {CROSSED_DAYS} days or more, tmin above tmax on more than half of them",
        "tmin above tmax on fewer days; they are flagged suspect. tmax equal to tmin on every day",
    ),
    Rule(
        "tmean-outside",
        "",
        f"tmean more than {MEAN_TOLERANCE:g} K outside tmin to tmax on more than half of the days",
    ),
    Rule(
        "vapour-pressure",
        f"median below {VP_RATIO_REFUSED[0]:g} or above {VP_RATIO_REFUSED[1]:g} times the saturation at tmin (days of "
        f"{VP_COLDEST:g} degC and more); without a temperature, never {VP_ALONE:g} Pa in {VP_ALONE_REFUSED_DAYS} days",
        f"below {VP_RATIO_WARNED[0]:g} or above {VP_RATIO_WARNED[1]:g} times; without a temperature, never "
        f"{VP_ALONE:g} Pa in {VP_ALONE_WARNED_DAYS} days",
    ),
    Rule(
        "too-hot",
        f"tmax above {HOTTEST_TMAX:g} degC, tmin or tmean above {HOTTEST_TMIN:g} degC on more than {HOT_SHARE:.0%} of "
        "the days",
        "on any day",
    ),
    Rule(
        "radiation",
        f"median above {SRAD_HIGH_REFUSED:g} times the radiation above the air by latitude and day, or (latitude not "
        f"known) above {SRAD_HIGHEST:g} W/m2; in {SRAD_LOW_DAYS} days or more, below {SRAD_LOW_REFUSED:g} times where "
        f"the numbers as MJ/m2 a day are {SRAD_CLEAR[0]:g} to {SRAD_CLEAR[1]:g} times",
        f"above {SRAD_HIGH_WARNED:g} times; in {SRAD_LOW_DAYS} days or more, below {SRAD_LOW_WARNED:g} times",
    ),
    Rule(
        "daylength",
        f"median more than {DAYLENGTH_REFUSED:g} times off that of the latitude",
        f"more than {DAYLENGTH_WARNED:g} times off",
    ),
    Rule(
        "accumulated",
        f"precipitation that rises on {RISES_REFUSED} days or more with at most {FALLS_PER_RISE:g} falls a rise; or on "
        f"{RISES_WITH_PLATEAUS} days without a fall and {PLATEAUS_REFUSED} times repeats more than {PLATEAU_MM:g} mm. "
        f"Of a forecast, in each trace that is not dry, or, of {TRACES_REFUSED} such traces or more, the lesser "
        f"sign of the next column in {TRACES_SHARE:.0%} of them and no fall in any",
        f"rises on {RISES_WARNED} days without a fall and repeats more than {PLATEAU_MM:g} mm; of a forecast, in "
        f"{TRACES_SHARE:.0%} of the traces that are not dry, with no fall in any",
    ),
    Rule(
        "too-little",
        f"in {RIVERLESS_DAYS} days or more, precipitation on {RIVERLESS_WET_DAYS} days and never {RIVERLESS_MM:g} mm",
        f"in {DRIZZLE_DAYS} days or more, precipitation that is not always 0 and never {DRIZZLE_MM:g} mm, where the "
        f"climate is not known, or expects {DRIZZLE_EXPECTED_MM:g} mm and {DRIZZLE_WET_DAYS} days are above 0",
    ),
    Rule(
        "precipitation-climate",
        f"where the climate expects {EXPECTED_MM:g} mm: in {EXPECTED_DAYS} days or more, less than {DEFICIT:g} times "
        f"that; in {YEAR_DAYS} days or more, below {YEAR_REFUSED[0]:g} or above {YEAR_REFUSED[1]:g} times, if inches, "
        f"mm/h or tenths of mm give {EXPLAINED[0]:g} to {EXPLAINED[1]:g} times",
        f"in {YEAR_DAYS} days or more, below {YEAR_WARNED[0]:g} or above {YEAR_WARNED[1]:g} times",
    ),
    Rule(
        "temperature-climate",
        "the median of (tmax + tmin) / 2 is above the climate by more than "
        + ", ".join(f"{kelvin:g} K ({counted(days, 'day')} or more)" for days, kelvin in ANOMALY_REFUSED)
        + f", and °F would explain it; in {DRY_DAYS} days or more, by more than {DRY_ANOMALY:g} K where vapour "
        f"pressure is below {VP_RATIO_WARNED[0]:g} times the saturation and °F would explain more than half of it",
        f"above or below it by {WARNED_SHARE:.0%} of that",
    ),
)


def test_the_documented_rules_have_the_limits_of_the_code() -> None:
    rows = [f"| `{rule.code}` | {rule.refused or '-'} | {rule.warned or '-'} |" for rule in RULES]
    assert "\n".join(rows) in (ROOT / "docs" / "look-up" / "data.md").read_text(encoding="utf-8")
