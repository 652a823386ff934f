"""Writes issued forecasts and observed flow as Parquet tables that TEEHR loads.

Of a T0, the newest run of each version and weather is written: TEEHR distinguishes forecasts by these. A day stands at
its midnight, and the reference time at that of T0, so that the lead is in days.
"""

import re
import struct
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from sqlalchemy.orm import Session

from extensions.archive.archive_runs import MEMBERS, RunSelection, list_runs
from extensions.archive.teehr_schemas import SCHEMAS
from hydrology.base.basins import gauge_product
from hydrology.base.calendar import Day, Period
from hydrology.base.errors import DataProblem
from hydrology.base.units import Area, converted, mm_per_day_to_m3s
from hydrology.uncertainty.error_model import LEVELS
from records.basins import basins
from records.basins.basins import Site
from records.database.work import Work
from records.runs import run_arrays, run_types, runs
from records.series import series
from runtime.stored_files import replace_file

UNIT, VARIABLE = "m^3/s", "streamflow_daily_mean"
"""As TEEHR names them in its own tables."""
_RUN = re.compile("[0-9a-f]{22}")
Columns = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Exported:
    """The outcome; basins without the place of their gauge, which TEEHR needs, are left out."""

    runs: int
    basins: int
    without_place: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Forecast:
    """Values of a run (`median`, `paths` or `members`): one row a lead, a column a member, None for the median."""

    kind: str
    members: Sequence[str | None]
    values: Any


def export_teehr(work: Work, folder: Path, chosen: RunSelection, *, members: bool = False) -> Exported:
    """Write the tables of chosen runs below a folder; they replace an earlier export there."""
    work = replace(work, database=work.database.for_public())
    with work.database.reading() as session:
        found = list_runs(session, work.clock, chosen)
        newest = _newest(session, found, chosen.basins)
        names = sorted({basin for of_run in newest.values() for basin in of_run})
        sites = basins.sites(session, names)
    placed = {name: site for name, site in sites.items() if None not in (site.latitude, site.longitude)}
    if not placed:
        raise DataProblem("No chosen run has a basin with a known place: choose others, or give the basins a place.")
    configurations: dict[str, str] = {}
    wanted = [run for run in found if newest[run.id]]
    for done, run in enumerate(wanted):
        work.show(done, len(wanted), run.id)
        with work.database.reading() as session:
            of_run = [basin for basin in newest[run.id] if basin in placed]
            table = _table("secondary_timeseries", _secondary(session, run, of_run, configurations, members=members))
        _write(folder, f"secondary_timeseries/{run.id}", table)
    written = {"secondary_timeseries": {run.id for run in wanted}, "primary_timeseries": set[str]()}
    days = Period(min(run.t0 for run in wanted), max(run.t0 + run.horizon_days for run in wanted))
    for basin in placed:
        with work.database.reading() as session:
            if rows := _primary(session, basin, days, configurations):
                _write(folder, f"primary_timeseries/{basin}", _table("primary_timeseries", [rows]))
                written["primary_timeseries"].add(basin)
    for name, columns in _domains(placed, configurations).items():
        _write(folder, name, _table(name, [columns]))
    with work.database.reading() as session:
        _remove_others(session, folder, written)
    return Exported(len(wanted), len(placed), [name for name in names if name not in placed])


def _remove_others(session: Session, folder: Path, written: Mapping[str, Collection[str]]) -> None:
    """Remove the tables of runs and basins that an earlier export wrote and this one did not; no other file."""
    for name, stems in written.items():
        left = {file.stem: file for file in (folder / name).glob("*.parquet") if file.stem not in stems}
        own = basins.known(session, [*left]) if name == "primary_timeseries" else filter(_RUN.fullmatch, left)
        for stem in own:
            left[stem].unlink()


def location_id(basin: str) -> str:
    """Return TEEHR's identifier of a gauge: a USGS site as TEEHR's own downloads call it."""
    return basin.replace("USGS-", "usgs-")


def _newest(session: Session, found: Sequence[run_types.Run], only: Sequence[str] | None) -> dict[str, list[str]]:
    """Return the basins of each run that no newer run of the same configuration and T0 has."""
    by_run: dict[str, list[str]] = {run.id: [] for run in found}
    for of_run, basin in runs.issued_pairs(session, list(by_run)):
        if only is None or basin in only:
            by_run[of_run].append(basin)
    seen: set[tuple[Day, str, str]] = set()
    for run in reversed(found):
        fresh = [basin for basin in by_run[run.id] if (run.t0, _configuration(run), basin) not in seen]
        seen |= {(run.t0, _configuration(run), basin) for basin in fresh}
        by_run[run.id] = fresh
    return by_run


def _configuration(run: run_types.Run) -> str:
    weather = run.weather_name
    return re.sub(r"[^a-zA-Z0-9_]+", "_", f"freshet_{run.purpose}_{weather}_{run.version_id}")


def _secondary(
    session: Session, run: run_types.Run, of_run: Sequence[str], configurations: dict[str, str], *, members: bool
) -> Iterator[Columns]:
    names = (run_arrays.CALIBRATED, *((run_arrays.PATHS, MEMBERS) if members else ()))
    stored = runs.series_of_many(session, [(run.id, basin) for basin in of_run], names)
    for basin in of_run:
        about = runs.basin_of(session, run.id, basin)
        if about.area_m2 is None or about.area_name is None:
            continue
        area = Area(about.area_name, about.area_m2)
        for part in _forecasts(stored[run.id, basin]):
            configuration = f"{_configuration(run)}_{part.kind}"
            configurations[configuration] = f"Freshet: {_MEANINGS[part.kind]} of {run.purpose} runs"
            flow = mm_per_day_to_m3s(part.values, area=area)
            leads = run.t0 + 1 + np.arange(flow.shape[1])
            yield _flow_columns(np.tile(leads, len(flow)), flow.ravel(), configuration, basin) | {
                "reference_time": np.full(flow.size, run.t0, "datetime64[ms]"),
                "member": np.repeat(np.array(part.members, object), flow.shape[1]),
            }


_MEANINGS = {
    "median": "median of calibrated discharge",
    "paths": "equally likely paths of calibrated discharge",
    "members": "members and traces that are not calibrated",
}


def _forecasts(stored: Mapping[str, run_arrays.RunSeries]) -> Iterator[_Forecast]:
    if run_arrays.CALIBRATED in stored:
        yield _Forecast("median", [None], stored[run_arrays.CALIBRATED].values[[LEVELS.index(0.5)]])
    for name, kind in ((run_arrays.PATHS, "paths"), (MEMBERS, "members")):
        if name in stored:
            values = stored[name].values
            flat = values.reshape(-1, values.shape[-1])
            yield _Forecast(kind, [str(number) for number in range(len(flat))], flat)


def _primary(session: Session, basin: str, days: Period, configurations: dict[str, str]) -> Columns | None:
    product = gauge_product(basin)
    observed = series.read(session, basin, product, "discharge", days)
    if observed is None or observed.unit == "mm/day":
        return None
    flow = converted(observed.values, unit=observed.unit, into="m3/s", area=None)
    there = np.isfinite(flow)
    configuration = f"{product}_observations"
    configurations[configuration] = f"Observed daily discharge of {product}"
    return _flow_columns(observed.days[there], flow[there], configuration, location_id(basin))


def _flow_columns(times: Any, flow: Any, configuration: str, location: str) -> Columns:
    constant = {"variable_name": VARIABLE, "configuration_name": configuration, "unit_name": UNIT}
    rows = {name: [text] * len(flow) for name, text in (constant | {"location_id": location}).items()}
    return {"value_time": times.astype("datetime64[ms]"), "value": flow.astype(np.float32), **rows}


def _domains(placed: Mapping[str, Site], configurations: Mapping[str, str]) -> dict[str, Columns]:
    primary = [location_id(basin) for basin in placed]
    types = ["primary" if name.endswith("_observations") else "secondary" for name in configurations]
    return {
        "units": {"name": [UNIT], "long_name": ["Cubic Meters Per Second"]},
        "variables": {"name": [VARIABLE], "long_name": ["Daily Mean Streamflow"]},
        "configurations": {
            "name": list(configurations),
            "timeseries_type": types,
            "description": list(configurations.values()),
        },
        "locations": {
            "id": primary,
            "name": [site.name or basin for basin, site in placed.items()],
            "geometry": [_point(site) for site in placed.values()],
        },
        "location_crosswalks": {"primary_location_id": primary, "secondary_location_id": list(placed)},
    }


def _point(site: Site) -> bytes:
    """Return a place as well-known binary [OGC 06-103r4]."""
    return struct.pack("<BIdd", 1, 1, site.longitude, site.latitude)


def _table(name: str, parts: Any) -> pa.Table:
    """Return columns as a table; those that are not given are null."""
    schema = SCHEMAS[name]
    tables = [
        pa.Table.from_arrays(
            [pa.array(part.get(field.name, [None] * len(next(iter(part.values())))), field.type) for field in schema],
            schema=schema,
        )
        for part in parts
    ]
    return pa.concat_tables(tables) if tables else schema.empty_table()


def _write(folder: Path, name: str, table: pa.Table) -> None:
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, compression="zstd")
    replace_file(folder / f"{name}.parquet", sink.getvalue().to_pybytes())
