"""Writes tables of invented basins and their weather up to a day, for the tour of the service in containers."""

import csv
import json
from collections.abc import Iterator
from datetime import date, timedelta
from math import pi, sin
from pathlib import Path

PRODUCT = "invented"
VERSION = Path(__file__).parents[1] / "models" / "pretrained" / "mclstm-maurer-447" / "version.json"
WEATHER = ("precipitation_mm_per_day", "tmax_degC", "tmin_degC", "srad_W_per_m2", "vp_Pa")


def names(count: int) -> list[str]:
    """Return the identifiers of a number of basins."""
    return [f"TOUR-{number:04}" for number in range(count)]


def write_basins(file: Path, count: int) -> None:
    """Write the basins: the attributes of each are the means of those that the shipped ensemble learnt from."""
    version = json.loads(VERSION.read_text())
    attributes = dict(zip(version["config"]["inputs"]["static"], version["scaler"]["static_mean"], strict=True))
    _write(file, (_basin(name, n) | attributes for n, name in enumerate(names(count))))


def write_days(file: Path, count: int, first: date, last: date, rain: int = 0) -> None:
    """Write the weather of the basins from a day to another, with some mm of rain more each day."""
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    _write(file, (_day(name, n, day, rain) for n, name in enumerate(names(count)) for day in days))


def _basin(name: str, number: int) -> dict[str, object]:
    return {"id": name, "latitude": 35 + number % 13, "longitude": -120 + number % 47, "area_km2": 100 + number}


def _day(basin: str, number: int, day: date, rain: int) -> dict[str, object]:
    warmth = -sin((day.timetuple().tm_yday + 80) / 365 * 2 * pi)
    wet = rain + max(0.0, 9 * sin(day.toordinal() * (1.1 + number % 17 / 31)) - 3)
    values = (wet, 12 + 14 * warmth, 2 + 10 * warmth, 320 + 140 * warmth, 800 + 500 * warmth)
    weather = (round(value, 1) for value in values)
    return {"basin": basin, "date": day.isoformat()} | dict(zip(WEATHER, weather, strict=True))


def _write(file: Path, rows: Iterator[dict[str, object]]) -> None:
    first = next(rows)
    with file.open("w", newline="") as opened:
        writer = csv.DictWriter(opened, first)
        writer.writeheader()
        writer.writerow(first)
        writer.writerows(rows)
