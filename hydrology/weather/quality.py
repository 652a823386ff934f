"""Checks a basin's data before use, and reports findings in plain sentences."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent
from hydrology.base.arrays import Integers, Mask
from hydrology.base.calendar import Period
from hydrology.base.errors import Finding, Severity, counted
from hydrology.base.series import DailySeries, Flag, refused
from hydrology.base.units import area_by
from hydrology.weather.check_weather import weather_findings
from hydrology.weather.climate import BasinClimate
from hydrology.weather.daily_weather import CHECKED, DailyWeather
from hydrology.weather.runoff import AnnualRunoff, annual_runoff, area_findings, flow_findings

SeriesKey = tuple[str, str]
"""Product and variable."""

AREA_TOLERANCE = 0.10


def quality_report(
    series: Mapping[SeriesKey, DailySeries],
    areas: Mapping[str, float],
    latitude: float | None = None,
    climate: BasinClimate | None = None,
) -> list[Finding]:
    """Return the findings about one basin, of every series by product and variable, discharge in its source unit.

    The named drainage areas are in m2; a forcing product's own area has the product's name.
    """
    findings = [*_area_mismatch(areas), *area_findings(areas)]
    for product in dict.fromkeys(product for product, variable in series if variable in CHECKED):
        of_product = {variable: daily for (name, variable), daily in series.items() if name == product}
        findings += weather_findings(DailyWeather.of_series(product, of_product, latitude, climate))
    for (product, variable), daily in series.items():
        findings += _gaps(product, variable, daily)
        findings += _flags(product, variable, daily)
        match variable:
            case "precipitation":
                findings += _negative_precipitation(product, daily)
            # A snow product may well be 0 on all its days where it never snows.
            case "swe" if (product, "precipitation") in series:
                findings += _empty_swe(product, daily)
            case "discharge":
                findings += _refused_values(product, daily)
                findings += _constant_flow(product, daily)
                findings += _suspect_zeros(product, daily)
                findings += _runoff(product, daily, series, areas, latitude)
    return findings


def _finding(code: str, severity: Severity, sentence: str, product: str, **detail: Any) -> Finding:
    return Finding(code, severity, sentence, {"product": product, **detail})


def _area_mismatch(areas: Mapping[str, float]) -> Iterator[Finding]:
    if not areas:
        return
    low, high = min(areas, key=areas.__getitem__), max(areas, key=areas.__getitem__)
    if areas[high] > (1 + AREA_TOLERANCE) * areas[low]:
        sentence = (
            f"The drainage areas differ by more than 10 %: {high} is {areas[high] / 1e6:.1f} km2, "
            f"{low} is {areas[low] / 1e6:.1f} km2. Depths of runoff depend on which one is used."
        )
        detail = {"areas_m2": dict(areas), "ratio": areas[high] / areas[low]}
        yield Finding("area-mismatch", "warning", sentence, detail)


def _gaps(product: str, variable: str, series: DailySeries) -> Iterator[Finding]:
    if gaps := _ranges(np.isnan(series.values)):
        lengths = [last - first + 1 for first, last in gaps]
        count, longest = sum(lengths), max(lengths)
        severity: Severity = "info" if variable in ("discharge", "swe") else "warning"
        sentence = (
            f"{variable} of {product} misses {count} of {counted(len(series), 'day')}, at most {longest} in a row."
        )
        detail = {"count": count, "longest": longest, "ranges": _dates(gaps, series.period)}
        yield _finding("gaps", severity, sentence, product, variable=variable, **detail)


def _flags(product: str, variable: str, series: DailySeries) -> Iterator[Finding]:
    counts = {str(flag.name).lower(): int(((series.flags & flag) != 0).sum()) for flag in Flag}
    if counts := {name: count for name, count in counts.items() if count}:
        listed = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in counts.items())
        sentence = f"Days of {variable} of {product} by flag: {listed}."
        yield _finding("flags", "info", sentence, product, variable=variable, counts=counts)


def _negative_precipitation(product: str, series: DailySeries) -> Iterator[Finding]:
    negative = series.values < 0
    if count := int(negative.sum()):
        sentence = f"Precipitation of {product} is below 0 on {counted(count, 'day')}, which is not possible."
        detail = {"lowest": float(np.nanmin(series.values)), "ranges": _dates(_ranges(negative), series.period)}
        yield _finding("negative-precipitation", "error", sentence, product, count=count, **detail)


def _empty_swe(product: str, series: DailySeries) -> Iterator[Finding]:
    known = series.values[~np.isnan(series.values)]
    if len(known) and not known.any():
        sentence = f"Snow water equivalent of {product} is 0 on every day: a placeholder, not 'no snow'."
        yield _finding("swe-placeholder", "warning", sentence, product, days=len(known))


def _refused_values(product: str, series: DailySeries) -> Iterator[Finding]:
    suspect = series.flags & Flag.SUSPECT != 0
    if fault := refused(series):
        detail = {"count": int(suspect.sum()), "ranges": _dates(_ranges(suspect), series.period)}
        yield _finding("suspect-discharge", "warning", f"Discharge of {product}: {fault}.", product, **detail)


def _constant_flow(product: str, series: DailySeries) -> Iterator[Finding]:
    known = series.values[~np.isnan(series.values)]
    if len(known) > 1 and known.max() == known.min():
        sentence = (
            f"Discharge of {product} is {known[0]:g} {series.unit} on every known day: "
            "no score can be computed and no model can learn from it."
        )
        detail = {"value": float(known[0]), "unit": series.unit, "days": len(known)}
        yield _finding("constant-flow", "warning", sentence, product, **detail)


def _suspect_zeros(product: str, series: DailySeries) -> Iterator[Finding]:
    """Find zeros without a recession before or a rise after.

    The rule: a run of exactly 0 whose day before and day after both have at least the median of the days with flow. A
    river that dries up falls through low flows first; a failing gauge does not.
    """
    flow = series.values
    runs = _ranges(flow == 0)
    if not runs or not (flow > 0).any():
        return
    median = float(np.median(flow[flow > 0]))
    high = np.concatenate([[False], flow >= median, [False]])  # shifted by one; NaN is not high
    if suspect := [(first, last) for first, last in runs if high[first] and high[last + 2]]:
        days = sum(last - first + 1 for first, last in suspect)
        sentence = (
            f"Discharge of {product} is exactly 0 on {counted(days, 'day')} between days of at least its median flow: "
            "these are likely missing values."
        )
        detail = {"count": days, "ranges": _dates(suspect, series.period)}
        yield _finding("suspect-zeros", "warning", sentence, product, **detail)


def _runoff(
    product: str,
    discharge: DailySeries,
    series: Mapping[SeriesKey, DailySeries],
    areas: Mapping[str, float],
    latitude: float | None,
) -> Iterator[Finding]:
    """Compare runoff with the precipitation of every product, and by the area that converts discharge with it."""
    for forcing in dict.fromkeys(name for name, variable in series if variable == "precipitation"):
        if (area := area_by(areas, [forcing])) is None:
            continue
        weather = {variable: daily for (name, variable), daily in series.items() if name == forcing}
        annual = annual_runoff(discharge, weather, area, latitude)
        detail = {"discharge": product, "precipitation": forcing, "area": area.name, "area_m2": area.m2}
        if isinstance(annual, Absent):
            sentence = f"Runoff of {product} cannot be compared with the precipitation of {forcing}. {annual}"
            yield Finding("no-whole-water-year", "info", sentence, detail | {"reason": annual.code})
        elif annual is not None:
            yield from _excess_runoff(annual, detail)
            yield from flow_findings(product, discharge.unit, forcing, area, annual)


def _excess_runoff(annual: AnnualRunoff, detail: dict[str, Any]) -> Iterator[Finding]:
    if annual.runoff_mm > annual.precipitation_mm:
        above = "above" if annual.ratio is None else f"{annual.ratio:.2f} times"
        sentence = (
            f"Observed runoff of {detail['discharge']} is {above} the precipitation of {detail['precipitation']} over "
            f"{annual.days} common days of whole water years: no model that conserves mass can fit this basin."
        )
        amounts = {"runoff_mm": annual.runoff_mm, "precipitation_mm": annual.precipitation_mm, "days": annual.days}
        detail = detail | {"ratio": annual.ratio} | amounts
        yield Finding("runoff-above-precipitation", "warning", sentence, detail)


def _ranges(mask: Mask) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return [(int(first), int(after) - 1) for first, after in edges.reshape(-1, 2)]


def _dates(ranges: list[tuple[int, int]], period: Period) -> list[list[str]]:
    days = period.days
    return [[str(days[first]), str(days[last])] for first, last in ranges]


MAX_FILLED_GAP = 5  # days


def fill_short_gaps(values: npt.NDArray[np.float32]) -> Integers:
    """Interpolate gaps of up to MAX_FILLED_GAP days between known days, in place, and return the days filled."""
    missing = np.flatnonzero(np.isnan(values))
    filled = [np.zeros(0, dtype=np.int64)]
    for gap in np.split(missing, np.flatnonzero(np.diff(missing) > 1) + 1):
        if not 0 < len(gap) <= MAX_FILLED_GAP or gap[0] == 0 or gap[-1] == len(values) - 1:
            continue
        before, after = gap[0] - 1, gap[-1] + 1
        values[gap] = np.interp(gap, [before, after], [values[before], values[after]])
        filled.append(gap)
    return np.concatenate(filled)
