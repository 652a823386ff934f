"""Files as Delft-FEWS writes them, from a stored record."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import netCDF4
import numpy as np

from hydrology.base.calendar import Day, Period, day
from records.database.engine import Database
from records.series import series

NAMES = ("precipitation", "srad", "tmax", "tmin", "vp")
UNITS = {"precipitation": "mm", "srad": "W/m2", "tmax": "°C", "tmin": "°C", "vp": "Pa"}
ROOT = 'xmlns="http://www.wldelft.nl/fews/PI"'
ONE_DAY = np.timedelta64(1, "D")

Weather = Mapping[str, np.ndarray]
Members = Mapping[str | None, Mapping[str, Weather]]
"""Weather by member and location; None is the weather without a member."""


def weather(database: Database, basin: str, period: Period, product: str = "synthetic") -> Weather:
    """Return the stored weather of a basin, by variable."""
    with database.reading() as session:
        values = series.read_many(session, [basin], product, NAMES, period)[0]
    return {name: values[:, at] for at, name in enumerate(NAMES)}


def moment(at: Day, time: str = "00:00:00") -> str:
    """Return the attributes of an instant."""
    return f'date="{at}" time="{time}"'


def pi_xml(members: Members, first: Day, time: str = "00:00:00", flags: Mapping[tuple[str, Day], int] = {}) -> str:
    """Return forcing as PI-XML: every day stamped at its end, NaN as missVal."""
    parts = []
    for member, by_location in members.items():
        label = (
            ""
            if member is None
            else f"<ensembleId>GEFS</ensembleId><ensembleMemberIndex>{member}</ensembleMemberIndex>"
        )
        for location, by_name in by_location.items():
            for name, values in by_name.items():
                last = first + np.timedelta64(len(values), "D")
                variable = name.partition(".")[0]  # a product may follow
                kind = "accumulative" if variable == "precipitation" else "mean"
                events = "".join(
                    f'<event {moment(first + at + 1, time)} value="{-999.0 if np.isnan(value) else value!r}" '
                    f'flag="{flags.get((name, first + at), 0)}"/>'
                    for at, value in enumerate(np.asarray(values, np.float64).tolist())
                )
                parts.append(
                    f"<series><header><type>{kind}</type><locationId>{escape(location)}</locationId>"
                    f"<parameterId>{name}</parameterId>{label}"
                    f'<timeStep unit="second" multiplier="86400"/><startDate {moment(first + ONE_DAY, time)}/>'
                    f"<endDate {moment(last, time)}/><missVal>-999.0</missVal><units>{UNITS[variable]}</units></header>"
                    f"{events}</series>"
                )
    return f'<TimeSeries {ROOT} version="1.14"><timeZone>0.0</timeZone>{"".join(parts)}</TimeSeries>'


def write_netcdf(path: Path, members: Members, first: Day) -> None:
    """Write forcing as NetCDF, its times in minutes, the ensemble last."""
    labels = [label for label in members if label is not None]
    locations = list(next(iter(members.values())))
    some = next(iter(members.values()))[locations[0]]
    days = len(some["precipitation"])
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as dataset:
        for axis, size in (("time", days), ("stations", len(locations)), ("realization", len(labels)), ("letters", 64)):
            dataset.createDimension(axis, size)
        time = dataset.createVariable("time", "f8", ("time",))
        time.setncatts({"standard_name": "time", "axis": "T", "units": "minutes since 1970-01-01 00:00:00.0 +0000"})
        ends = first + np.arange(1, days + 1)
        time[:] = ends.astype("datetime64[m]").astype(np.int64)
        station = dataset.createVariable("station_id", "S1", ("stations", "letters"))
        station.cf_role = "timeseries_id"
        station[:] = netCDF4.stringtochar(np.array(locations, "S64"))
        realization = dataset.createVariable("realization", "i4", ("realization",))
        realization.standard_name = "realization"
        realization[:] = [int(label) for label in labels]
        for name in NAMES:
            values = np.stack([[members[label][place][name] for label in labels] for place in locations])
            variable = dataset.createVariable(name, "f4", ("time", "stations", "realization"), fill_value=-999)
            variable.units = UNITS[name]
            variable[:] = np.where(np.isnan(values), -999, values).transpose(2, 0, 1)


def run_xml(
    start: str,
    time0: str,
    end: str,
    *,
    forcing: Sequence[str] = ("<inputTimeSeriesFile>in/forcing.xml</inputTimeSeriesFile>",),
    state: str = "",
    output: str = "<outputTimeSeriesFile>out/flow.xml</outputTimeSeriesFile>",
    diagnostics: str = "log/diag.xml",
    work: str = "",
    properties: str = "",
    hours: str = "0.0",
) -> str:
    """Return a run file, its elements in the order of the schema."""
    times = f"<startDateTime {start}/><endDateTime {end}/><time0 {time0}/>"
    return (
        f'<Run {ROOT} version="1.5"><timeZone>{hours}</timeZone>{times}{work}{state}{"".join(forcing)}'
        f"<outputDiagnosticFile>{diagnostics}</outputDiagnosticFile>{output}{properties}</Run>"
    )


def state_xml(at: Day, read: str = "state/in.safetensors", write: str = "state/out.safetensors") -> str:
    """Return the description of a state."""
    return (
        f'<State {ROOT} version="1.2"><stateId>warm</stateId><timeZone>0.0</timeZone><dateTime {moment(at)}/>'
        f'<stateLoc type="file"><readLocation>{read}</readLocation><writeLocation>{write}</writeLocation></stateLoc>'
        "</State>"
    )


STATE = "<inputStateDescriptionFile>state/state.xml</inputStateDescriptionFile>"


def placed(folder: Path, run: str, **files: str) -> Path:
    """Write a run file and others below its folder (`in_forcing` is in/forcing.xml), and return its path."""
    for name, content in files.items():
        path = folder / f"{name.replace('_', '/', 1)}.xml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    file = folder / "run.xml"
    file.write_text(run)
    return file


def stamped(text: str) -> str:
    """Return the attributes of the midnight that begins a day."""
    return moment(day(text))
