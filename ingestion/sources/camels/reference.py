"""Reads references for forecasts. Snow water equivalent (csv) and the output of another model."""

import re
from collections.abc import Mapping
from datetime import date

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Days
from hydrology.base.series import DailySeries, Flag
from ingestion.sources.camels.days import Timeline, calendar_days
from ingestion.sources.camels.text import Table, TextFile

_SWE = "_swe"
_COLUMN = re.compile(r"[a-z][a-z0-9_]{0,39}_swe")

_MODEL_DATE = ("YR", "MNTH", "DY", "HR")
# OBS_RUN is not read: its zeros mean both missing values and a dry river.
_MODEL_COLUMNS = {
    "SWE": ("swe", "mm"),
    "PRCP": ("precipitation", "mm/day"),
    "RAIM": ("rain_plus_melt", "mm/day"),
    "TAIR": ("air_temperature", "degC"),
    "PET": ("pet", "mm/day"),
    "ET": ("et", "mm/day"),
    "MOD_RUN": ("discharge_modelled", "mm/day"),
}
_MODEL_HEADINGS = (*_MODEL_DATE, *_MODEL_COLUMNS, "OBS_RUN")


def parse_swe(text: TextFile) -> dict[str, DailySeries]:
    """Parse `<ID>_swe.csv`: a day, then a column `<product>_swe` in mm per product. Empty is MISSING.

    Returns:
        The snow water equivalent (mm) by product.

    Raises:
        SourceError: the columns or a row are not of this format, or a value is negative.
    """
    columns = [name.strip() for name in text.lines[0].split(",")]
    products = columns[1:]
    sound = all(_COLUMN.fullmatch(name) for name in products)
    if columns[0] != "date" or not products or not sound or len(columns) != len(set(columns)):
        cause = "the columns are not a date and snow water equivalents"
        raise text.fault(cause, "name them date and then <product>_swe for each product, in small letters", 1)
    table = Table.parse(
        text,
        1,
        [(name, "f8") for name in columns],
        delimiter=",",
        converters={0: _ordinal, **dict.fromkeys(range(1, len(columns)), _value_or_nan)},
    )
    timeline = Timeline.of(table, _days(table["date"]))
    return {name.removesuffix(_SWE): _swe_series(table, timeline, name) for name in products}


def _ordinal(text: str) -> float:
    return date.fromisoformat(text).toordinal()


def _days(ordinals: npt.NDArray[np.float64]) -> Days:
    days: Days = ordinals.astype(np.int64) - date(1970, 1, 1).toordinal() + np.datetime64("1970-01-01", "D")
    return days


def _value_or_nan(text: str) -> float:
    return float(text) if text.strip() else np.nan


def _swe_series(table: Table, timeline: Timeline, name: str) -> DailySeries:
    values = table[name]
    table.refuse((values < 0) | np.isinf(values), f"{name} is negative or infinite")
    return timeline.series(values, np.where(np.isnan(values), Flag.MISSING, 0).astype(np.uint8), "mm")


def parse_model_output(text: TextFile) -> Mapping[str, DailySeries]:
    """Parse `<ID>_<member>_model_output.txt`, the daily output of SAC-SMA with Snow-17 (Newman et al. 2015).

    Returns:
        swe (mm), precipitation, rain_plus_melt, pet, et and discharge_modelled (mm/day), air_temperature
        (degC), by name.

    Raises:
        SourceError: the columns or a row are not of this format.
    """
    if tuple(text.lines[0].split()) != _MODEL_HEADINGS:
        raise text.fault(
            f"the columns are not {' '.join(_MODEL_HEADINGS)}",
            "give a model output file of CAMELS",
            1,
        )
    table = Table.parse(text, 1, [(heading, "f8") for heading in _MODEL_HEADINGS])
    timeline = Timeline.of(table, calendar_days(table, "YR", "MNTH", "DY"))
    series = {}
    for heading, (variable, unit) in _MODEL_COLUMNS.items():
        values = table[heading]
        sound = np.isfinite(values) & (values > -100 if variable == "air_temperature" else values >= 0)
        table.refuse(~sound, f"{heading} is not a possible number in {unit}")
        series[variable] = timeline.series(values, np.zeros(len(values), dtype=np.uint8), unit)
    return series
