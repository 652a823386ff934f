"""Compares flood levels by Bulletin 17C with the published Bulletin 17 curves of the 447 gauges.

Both are of the same annual peaks of the USGS (`usgs_peaks_b17.zip` in FRESHET_CAMELS). The published curves name
neither their skew nor their treatment of peaks; `published_rule` is the number of them that are log-Pearson III by
the moments of all peaks, with the station's skew weighted by Bulletin 17B with a regional skew of 0.
"""

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hydrology.base.arrays import Array
from hydrology.extremes.bulletin_17c import fit_record, smallest_used
from hydrology.extremes.expected_moments import FloodRecord, RegionalSkew, factor, limits
from hydrology.extremes.frequency import LogPearson3
from runtime.settings import Settings

YEARS = np.array([2, 10, 100])
PUBLISHED = RegionalSkew(0.0, 0.302)
"""The regional skew that the published curves turn out to have, with the error that Bulletin 17B gives its map."""
_HISTORIC, _LESS_THAN, _GREATER_THAN = "7", "4", "8"
_LEFT_OUT = {"3", "O"}
"""Codes of peaks that are not floods of the climate: a dam failure, or measured because they were large."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """A gauge's peaks in cubic feet per second, and its published curve.

    Attributes:
        peaks: all values, historic ones too.
        record: with historic peaks as such.
        curve: published floods of `YEARS`.
        historic, bounded: number of historic peaks, and of peaks known as a bound.
    """

    peaks: Array
    record: FloodRecord
    curve: Array
    historic: int
    bounded: int


def measure(basins: int | None = None) -> dict[str, Any]:
    """Return differences in percent of the published flood: median, quartiles, 5 and 95 %, by variant and cause."""
    gauges = list(_gauges().values())[:basins]
    differences: dict[str, list[Array]] = {"station skew": [], "skew weighted with 0": [], "and peaks all alike": []}
    causes: dict[str, list[bool]] = {"low outliers": [], "historic or bounded peaks": [], "as published": []}
    within = []
    for gauge in gauges:
        alike = FloodRecord.complete(gauge.peaks)
        fits = [fit_record(gauge.record), fit_record(gauge.record, PUBLISHED), fit_record(alike, PUBLISHED)]
        for name, fitted in zip(differences, fits, strict=True):
            floods = 10 ** fitted.moments.quantile(1 - 1 / YEARS)
            differences[name].append(100 * (floods / gauge.curve - 1))
        low, high = (10**end for end in limits(fits[1], 1 - 1 / YEARS, 0.90))
        within.append((low <= gauge.curve) & (gauge.curve <= high))
        causes["low outliers"].append(smallest_used(gauge.peaks)[0] > 0)
        causes["historic or bounded peaks"].append(gauge.historic + gauge.bounded > 0)
        causes["as published"].append(_follows_rule(gauge))
    groups = {
        "none of them": ~np.array(causes["low outliers"]) & ~np.array(causes["historic or bounded peaks"]),
        **{name: np.array(of) for name, of in causes.items()},
    }
    weighted = np.array(differences["skew weighted with 0"])
    return {
        "gauges": len(gauges),
        "years of peaks, median": float(np.median([len(gauge.peaks) for gauge in gauges])),
        "difference in percent": {name: _summary(np.array(of)) for name, of in differences.items()},
        "skew weighted with 0, by cause": {name: _summary(weighted[of]) for name, of in groups.items() if of.any()},
        "published_rule": int(groups["as published"].sum()),
        "published curve within the 90 % limits": _by_years(100 * np.mean(within, axis=0)),
    }


def _follows_rule(gauge: Gauge) -> bool:
    """Return whether the published curve is that of all peaks by moments and the skew of Bulletin 17B, equation 6."""
    positive = gauge.peaks[gauge.peaks > 0]
    by_moments = LogPearson3.fit(positive)
    skew, n = float(by_moments.skew), len(positive)
    size = abs(skew)
    a = -0.33 + 0.08 * size if size <= 0.9 else -0.52 + 0.30 * size
    b = 0.94 - 0.26 * size if size <= 1.5 else 0.55
    error = 10 ** (a - b * np.log10(n / 10))
    weighted = skew * PUBLISHED.error / (PUBLISHED.error + error)
    floods = 10 ** (float(by_moments.mean) + float(by_moments.sd) * factor(1 - 1 / YEARS, weighted))
    return n == len(gauge.peaks) and bool(np.allclose(floods, gauge.curve, rtol=2e-3))


def _summary(differences: Array) -> dict[str, Any]:
    shares = np.percentile(differences, [5, 25, 50, 75, 95], axis=0).round(1) + 0.0  # no -0.0
    names = ("5 %", "25 %", "median", "75 %", "95 %")
    return {"gauges": len(differences)} | {
        f"{years} years": dict(zip(names, of, strict=True))
        for years, of in zip(YEARS.tolist(), shares.T.tolist(), strict=True)
    }


def _by_years(values: Array) -> dict[str, float]:
    return {f"{years} years": round(float(value), 1) for years, value in zip(YEARS.tolist(), values, strict=True)}


def _gauges() -> Mapping[str, Gauge]:
    settings = Settings.load()
    if settings.camels is None:
        raise SystemExit("Set FRESHET_CAMELS to the folder of real CAMELS-US data.")
    with zipfile.ZipFile(settings.camels / "usgs_peaks_b17.zip") as archive:
        names = sorted(name for name in archive.namelist() if name.startswith("b17-out_txt/"))
        return {
            name.removeprefix("b17-out_txt/"): _gauge(
                archive.read(name.replace("b17-out_txt", "usgs-peak_full")).decode(errors="replace"),
                archive.read(name).decode(),
            )
            for name in names
        }


def _gauge(peaks: str, published: str) -> Gauge:
    curve = {float(row.split()[0]): float(row.split()[2]) for row in published.splitlines() if row.strip()}
    rows = [row.split("\t") for row in peaks.splitlines() if row.startswith("USGS\t")]
    found: dict[int, tuple[float, set[str]]] = {}
    for row in rows:
        codes = set(filter(None, row[5].split(",")))
        if row[4] and not codes & _LEFT_OUT:
            year = int(row[2][:4]) + (int(row[2][5:7]) >= 10)
            found[year] = max(found.get(year, (-1.0, set())), (float(row[4]), codes), key=lambda one: one[0])
    historic = {year for year, (_, codes) in found.items() if _HISTORIC in codes}
    bounded = sum(bool(codes & {_LESS_THAN, _GREATER_THAN}) for _, codes in found.values())
    everything = np.array([float(row[4]) for row in rows if row[4]])
    return Gauge(
        everything, _record(found, historic), np.array([curve[years] for years in YEARS]), len(historic), bounded
    )


def _record(found: Mapping[int, tuple[float, set[str]]], historic: set[int]) -> FloodRecord:
    """Return the record; in years without a peak since the first historic one, floods were below the smallest."""
    bounds = []
    seen = min((found[year][0] for year in historic), default=0.0)
    for year, (peak, codes) in found.items():
        low = 0.0 if _LESS_THAN in codes else peak
        bounds.append((low, np.inf if _GREATER_THAN in codes else peak, seen if year in historic else 0.0))
    if historic:
        unseen = set(range(min(historic), max(found) + 1)) - found.keys()
        bounds += [(0.0, seen, seen)] * len(unseen)
    return FloodRecord(*np.array(bounds).T)
