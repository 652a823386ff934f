"""Reads flows of rivals: tables in CSV or Parquet, data sets in NetCDF or Zarr, of basins, issues and days.

Columns and dimensions have our names or those of TEEHR's tables and of archives of global services: see `NAMES`. What
has no issue is a simulation. Of several members a day has quantiles.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from hydrology.base.basins import basin_id
from hydrology.base.calendar import Day, day
from hydrology.base.errors import InvalidInput, counted
from hydrology.base.products import DISCHARGE, OBSERVED
from hydrology.base.units import converted
from hydrology.uncertainty.error_model import LEVELS
from ingestion.base import SourceError
from records.verification.rivals import Flow, RivalKind

NAMES: Mapping[str, Sequence[str]] = {
    "basin": ("basin", "location_id", "gauge_id", "gauge", "station_id"),
    "issued": ("issued", "reference_time", "issue_time", "forecast_reference_time", "init_time"),
    "date": ("date", "value_time", "valid_time", "time"),
    "lead": ("lead", "lead_time", "step", "forecast_period"),
    "member": ("member", "realization", "number", "trace"),
    "discharge": ("discharge", "streamflow", "value"),
}
"""What a column or a dimension is, by its name."""
SUFFIXES = (".csv", ".parquet", ".nc", ".zarr")
MAX_LEAD = 366
MAX_FLOW = next(one.highest for one in OBSERVED if (one.variable, one.unit) == (DISCHARGE, "m3/s"))
_UNIT_COLUMN = "unit_name"
_UNITS = {
    **dict.fromkeys(("m3/s", "m^3/s", "m3s-1", "m^3s^-1", "m**3s**-1", "cms", "cumec", "cumecs"), "m3/s"),
    **dict.fromkeys(("cfs", "ft3/s", "ft^3/s", "ft3s-1", "ft^3s^-1"), "cfs"),
}


@dataclass(frozen=True, slots=True)
class RivalFlows:
    """Flows of a rival, m3/s, (values, days) by basin and day of the issue, which is the first of the days."""

    kind: RivalKind
    values_per_day: int
    flows: Mapping[tuple[str, Day], Flow]


def read(path: Path, unit: str | None = None, names: Mapping[str, str] | None = None) -> RivalFlows:
    """Read a file, entirely or not at all.

    Args:
        unit: of the flow, where the file does not state it.
        names: identifiers of basins by those of the file; by default they are ours. Others of the file are left out.

    Raises:
        SourceError: it cannot be read, or a value is impossible; with its row, counted from 1.
        InvalidInput: the unit is none of discharge.
    """
    file = _Frame(path)
    frame = file.discharge(unit)
    frame["basin"] = file.basins(frame["basin"], names)
    frame = frame[frame["basin"] != ""]
    if frame.empty:
        raise file.fault("there is no flow of a basin in it", "give rows, or name their basins (--basins)")
    return _forecasts(file, frame) if "issued" in frame else _simulation(file, frame)


@dataclass(frozen=True, slots=True)
class _Frame:
    """A file, and its errors."""

    path: Path

    def fault(self, cause: str, remedy: str, row: int | None = None) -> SourceError:
        return SourceError(self.path.name, cause if row is None else f"row {row + 1}: {cause}", remedy)

    def refuse(self, frame: pd.DataFrame, where: Any, cause: str, remedy: str) -> None:
        """Refuse the file where a condition holds in a row."""
        if (at := np.flatnonzero(np.asarray(where))).size:
            raise self.fault(cause, remedy, int(frame.index[at[0]]))

    def discharge(self, unit: str | None) -> pd.DataFrame:
        """Return rows of basin, days and flow in m3/s, those without a flow left out."""
        read, stated = self._opened()
        frame = self._named(read)
        column = frame.pop("unit") if "unit" in frame else None
        if column is not None and (column != column.iloc[0]).any():
            raise self.fault("its rows have several units", "give each a file of its own")
        stated = stated if column is None or frame.empty else str(column.iloc[0])
        flow = pd.to_numeric(frame["discharge"], errors="coerce")
        self.refuse(frame, flow.isna() & ~_is_empty(frame["discharge"]), "the flow is not a number", "correct it")
        frame["discharge"] = converted(flow, unit=self._unit(unit or stated), into="m3/s", area=None)
        frame = frame[frame["discharge"].notna()].copy()
        cause = f"the flow is not between 0 and {MAX_FLOW:g} m3/s"
        remedy = "leave out what is missing, and check the unit"
        self.refuse(frame, ~frame["discharge"].between(0, MAX_FLOW), cause, remedy)
        for name in {"issued", "date"} & {*frame}:
            frame[name] = self._times(frame, name)
        if "date" not in frame:
            frame["date"] = frame["issued"] + self._leads(frame.pop("lead"))
        cause, remedy = "its day begins at no midnight", "give means of days, dated by their day"
        self.refuse(frame, frame["date"] != frame["date"].dt.floor("D"), cause, remedy)
        return frame

    def basins(self, stated: pd.Series, names: Mapping[str, str] | None) -> pd.Series:
        """Return identifiers of basins, empty where `names` has none."""
        known = {text: self._basin(str(text), names) for text in stated.unique()}
        return stated.map(known)

    def _basin(self, text: str, names: Mapping[str, str] | None) -> str:
        if names is not None:
            return names.get(text, "")
        try:
            return basin_id(re.sub("^usgs-", "USGS-", text))
        except InvalidInput as error:
            raise self.fault(f"a basin has no identifier: {error}", "name it, or give --basins") from None

    def _opened(self) -> tuple[pd.DataFrame, str | None]:
        """Return the rows, and the unit that a data set states."""
        if not self.path.exists():
            raise self.fault("is not there", "check its name")
        try:
            match self.path.suffix.lower():
                case ".csv":
                    return pd.read_csv(self.path, dtype=str, na_filter=False), None
                case ".parquet":
                    return pd.read_parquet(self.path), None
                case ".nc" | ".zarr":
                    engine = "zarr" if self.path.suffix == ".zarr" else "netcdf4"
                    with xr.open_dataset(self.path, engine=engine, decode_timedelta=True) as opened:
                        return self._rows(opened)
        except (OSError, ValueError, KeyError, TypeError) as error:
            cause = f"cannot be read ({type(error).__name__})"
            raise self.fault(cause, "give it whole, in the format that its name ends in") from None
        raise self.fault("is of no known format", f"give a file that ends in {', '.join(SUFFIXES)}")

    def _rows(self, opened: xr.Dataset) -> tuple[pd.DataFrame, str | None]:
        flow = next((name for name in opened.data_vars if str(name).lower() in NAMES["discharge"]), None)
        if flow is None:
            remedy = f"name it {', '.join(NAMES['discharge'])}"
            raise self.fault("none of its variables is a flow", remedy)
        variable = opened[flow].rename("discharge")
        return variable.to_dataframe().reset_index(), variable.attrs.get("units")

    def _named(self, read: pd.DataFrame) -> pd.DataFrame:
        """Return the known columns by our names."""
        found: dict[str, str] = {}
        for name, others in NAMES.items():
            columns = [column for column in read.columns if str(column).lower() in others]
            if len(columns) > 1:
                raise self.fault(f"{' and '.join(map(str, columns))} are both {name}", "leave one")
            found |= dict.fromkeys(columns, name)
        if _UNIT_COLUMN in read.columns:
            found[_UNIT_COLUMN] = "unit"
        here = {*found.values()}
        for name, needed in {"basin": {"basin"}, "discharge": {"discharge"}, "date": {"date", "lead"}}.items():
            if not here & needed:
                raise self.fault(f"no column is the {name}", f"name it {', '.join(NAMES[name])}")
        if "date" not in here and "issued" not in here:
            raise self.fault("leads need issues", f"name these {', '.join(NAMES['issued'])}")
        frame = read[[*found]].rename(columns=found)
        return frame.drop(columns="lead") if "date" in here and "lead" in here else frame

    def _unit(self, stated: str | None) -> str:
        if stated is None:
            raise self.fault("states no unit of its flow", "give it (--unit m3/s)")
        unit = _UNITS.get(re.sub(r"\s|\*(?=s)", "", stated.lower()))
        if unit is None:
            raise self.fault(
                "has a unit that is not of discharge", f"give flow in {' or '.join(sorted({*_UNITS.values()}))}"
            )
        return unit

    def _times(self, frame: pd.DataFrame, name: str) -> pd.Series:
        times = (
            pd.to_datetime(frame[name], errors="coerce", utc=True, format="ISO8601")
            .dt.tz_localize(None)
            .astype("datetime64[s]")
        )
        self.refuse(frame, times.isna(), f"the {name} is none", "write it like 2005-03-20, or with its time")
        return times

    def _leads(self, leads: pd.Series) -> pd.Series:
        """Return the time from the issue to the day, of a number of days or a duration."""
        if pd.api.types.is_timedelta64_dtype(leads):
            return leads.astype("timedelta64[s]")
        days = pd.to_numeric(leads, errors="coerce")
        self.refuse(leads.to_frame(), ~days.between(0, MAX_LEAD), "the lead is not a number of days", "correct it")
        return pd.to_timedelta(days, unit="D").astype("timedelta64[s]")


def _is_empty(column: pd.Series) -> pd.Series:
    return column.isna() | (column == "")


def _forecasts(file: _Frame, frame: pd.DataFrame) -> RivalFlows:
    frame["issued"] = frame["issued"].dt.floor("D")
    frame["ahead"] = (frame["date"] - frame["issued"]).dt.days
    cause = f"the day is before its issue, or more than {MAX_LEAD} days after it"
    file.refuse(frame, ~frame["ahead"].between(0, MAX_LEAD), cause, "correct one of them")
    members = frame["member"].nunique() if "member" in frame else 1
    key = ["basin", "issued", "ahead", *(["member"] if "member" in frame else [])]
    file.refuse(
        frame, frame.duplicated(key), "the day comes twice", "give one issue of a day, and each of its days once"
    )
    return RivalFlows("forecasts", 1 if members == 1 else len(LEVELS), dict(_by_issue(frame, members)))


def _by_issue(frame: pd.DataFrame, members: int) -> Iterator[tuple[tuple[str, Day], Flow]]:
    places = frame["member"].factorize()[0] if members > 1 else np.zeros(len(frame), int)
    for (basin, issued), rows in frame.assign(place=places).groupby(["basin", "issued"], sort=True):
        ahead = rows["ahead"].to_numpy()
        flow = np.full((members, ahead.max() + 1), np.nan)
        flow[rows["place"], ahead] = rows["discharge"]
        values = flow if members == 1 else np.quantile(flow, LEVELS, axis=0)  # NaN where a member lacks
        yield (str(basin), day(str(issued.date()))), values.astype(np.float32)


def _simulation(file: _Frame, frame: pd.DataFrame) -> RivalFlows:
    if "member" in frame and frame["member"].nunique() > 1:
        raise file.fault(f"a simulation has {counted(frame['member'].nunique(), 'member')}", "give one, or their mean")
    file.refuse(frame, frame.duplicated(["basin", "date"]), "the day comes twice", "give each day once")
    flows = {}
    for basin, rows in frame.groupby("basin", sort=True):
        days = rows["date"].to_numpy().astype("datetime64[D]")
        flow = np.full((1, int((days.max() - days.min()).astype(int)) + 1), np.nan, np.float32)
        flow[0, (days - days.min()).astype(int)] = rows["discharge"]
        flows[str(basin), days.min()] = flow
    return RivalFlows("simulation", 1, flows)
