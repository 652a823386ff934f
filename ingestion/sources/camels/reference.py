"""Reads references for forecasts: snow water equivalent (csv) and the output of another model."""

import re

from hydrology.base.series import DailySeries
from hydrology.base.variables import Quantity
from ingestion.base import SourceError, SourceFile
from ingestion.daily import daily_series, read_days
from ingestion.sheet import Sheet
from ingestion.sources.camels.text import Table, TextFile

_SWE = re.compile(r"([a-z][a-z0-9_]{0,39})_swe")
_MODEL_DATE = ("YR", "MNTH", "DY", "HR")
# OBS_RUN is not read: its zeros mean both missing values and a dry river.
_MODEL_COLUMNS = {
    "SWE": Quantity("swe", "mm", 0, 20_000),
    "PRCP": Quantity("precipitation", "mm/day", 0, 2_000),
    "RAIM": Quantity("rain_plus_melt", "mm/day", 0, 10_000),
    "TAIR": Quantity("air_temperature", "degC", -100, 70),
    "PET": Quantity("pet", "mm/day", 0, 1_000),
    "ET": Quantity("et", "mm/day", 0, 1_000),
    "MOD_RUN": Quantity("discharge_modelled", "mm/day", 0, 10_000),
}
_MODEL_HEADINGS = (*_MODEL_DATE, *_MODEL_COLUMNS, "OBS_RUN")


def parse_swe(file: SourceFile, content: bytes) -> dict[str, DailySeries]:
    """Parse `<ID>_swe.csv`: a day, then a column `<product>_swe` in mm per product. Empty is MISSING.

    Returns:
        The snow water equivalent (mm) by product.

    Raises:
        SourceError: the columns or a row are not of this format, or a value is impossible.
    """
    sheet = Sheet.of_csv(file, content)
    products = {name: match[1] for name in sheet.columns if (match := _SWE.fullmatch(name))}
    if not products or sheet.columns != ["date", *products]:
        cause = "the columns are not a date and snow water equivalents"
        remedy = "name them date and then <product>_swe for each product, in small letters"
        raise sheet.fault(cause, remedy, sheet.header)
    columns = dict.fromkeys(products, _MODEL_COLUMNS["SWE"])
    for rows, values in read_days(sheet, columns, lambda _row, _line: "").values():
        for name, column in values.items():
            rows.check(column, columns[name], name, may_lack=True)
        return {products[name]: daily_series(rows.days, column, "mm") for name, column in values.items()}
    raise SourceError(file.name, "there is no row after the header", "fetch the file again")


def parse_model_output(text: TextFile) -> dict[str, DailySeries]:
    """Parse `<ID>_<member>_model_output.txt`, the daily output of SAC-SMA with Snow-17 (Newman et al. 2015).

    Returns:
        swe (mm), precipitation, rain_plus_melt, pet, et and discharge_modelled (mm/day), air_temperature
        (degC), by name.

    Raises:
        SourceError: the columns or a row are not of this format.
    """
    if tuple(text.lines[0].split()) != _MODEL_HEADINGS:
        cause = f"the columns are not {' '.join(_MODEL_HEADINGS)}"
        raise text.fault(cause, "give a model output file of CAMELS", 1)
    return Table.parse(text, 1, _MODEL_HEADINGS).series(_MODEL_DATE, _MODEL_COLUMNS)
