"""Reads published scores from CSV, a row for each basin and model.

The file gives the KGE of 2012: its `Gamma` is the ratio of the variation coefficients, as the NSE of its rows shows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hydrology.base.calendar import Period
from hydrology.scores.comparisons import PERIOD
from ingestion.base import ANY_FILES, Files, SourceFile
from ingestion.sheet import Sheet

SOURCE = "sruzzante/NSE-and-Variance-Components@fc9d925d"
CITATION = (
    "Hydrological models: Kratzert 2019, CAMELS benchmark models, doi:10.4211/hs.474ecc37e7db45baa425cdb4fc1b61e1, "
    "scored in sruzzante/NSE-and-Variance-Components@fc9d925d. LSTM_multiforcing_ens10 is of another study, takes "
    "several weather products, and is scored in the same repository."
)
COLUMNS = ("gauge_id", "model", "NSE", "KGE", "rPearson", "Beta", "Gamma", "KGElf", "in_447", "in_531")
METRICS = {"NSE": "nse", "KGE": "kge_2012", "rPearson": "pearson_r", "Beta": "beta_kge"}
"""The stored columns, by the names of the same scores here; `Gamma` and `KGElf` have none."""
_BOUNDED_BY_ONE = ("nse", "kge_2012", "pearson_r")


@dataclass(frozen=True, slots=True)
class Publication:
    """The scores of a file by model, basin and metric (None where it gives none), with their origin and citation."""

    source: str
    citation: str
    period: Period
    file: SourceFile
    scores: Mapping[tuple[str, str, str], float | None]


def read(path: Path, files: Files = ANY_FILES) -> Publication:
    """Read benchmark_models_per_basin.csv, entirely or not at all."""
    sheet = Sheet.of_csv(*files.read(path))
    if tuple(sheet.columns) != COLUMNS:
        cause = f"the columns are not {', '.join(COLUMNS)}"
        raise sheet.fault(cause, "give benchmark_models_per_basin.csv as it was published", sheet.header)
    scores: dict[tuple[str, str, str], float | None] = {}
    for line, row in sheet.rows:
        basin = sheet.basin(row["gauge_id"], "gauge_id is not a gauge's number", "write it like 01013500", line)
        if not row["model"]:
            raise sheet.fault("no model is named", "name it", line)
        of_row = {(row["model"], basin, metric): _value(sheet, row, name, line) for name, metric in METRICS.items()}
        if scores.keys() & of_row.keys():
            raise sheet.fault("the model comes twice for the gauge", "give each once", line)
        scores |= of_row
    if not scores:
        raise sheet.fault("there is no score in it", "give a row for each basin and model")
    return Publication(SOURCE, CITATION, PERIOD, sheet.file, scores)


def _value(sheet: Sheet, row: dict[str, str], name: str, line: int) -> float | None:
    if not row[name]:
        return None
    value = sheet.number(row[name], name, line)
    if METRICS[name] in _BOUNDED_BY_ONE and value > 1:
        raise sheet.fault(f"{name} is above 1, which it never is", "mend the value", line)
    return value
