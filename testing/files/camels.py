"""Small files in each text format of CAMELS, as its publishers write them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

GAUGE = "01022500"
BASIN = f"USGS-{GAUGE}"
LATITUDE, AREA = 44.82, 587675987.0
FIRST = date(2000, 2, 27)

HEADINGS = {
    "daymet": "Year Mnth Day Hr dayl(s) prcp(mm/day) srad(W/m2) swe(mm) tmax(C) tmin(C) vp(Pa)",
    "maurer": "Year Mnth Day Hr\tDayl(s)\tPRCP(mm/day)\tSRAD(W/m2)\tSWE(mm)\tTmax(C)\tTmin(C)\tVp(Pa)",
    "nldas": "Year Mnth Day Hr\tDayl(s)\tPRCP(mm/day)\tSRAD(W/m2)\tSWE(mm)\tTmax(C)\tTmin(C)\tVp(Pa)",
    "maurer_extended": "Year\tMnth\tDay\tHr\tdayl(s)\tprcp(mm/day)\tsrad(W/m2)\tswe(mm)\ttmax(C)\ttmin(C)\tvp(Pa)",
}
KINDS = {"daymet": "cida", "maurer": "maurer", "nldas": "nldas", "maurer_extended": "maurer"}

# daylength, precipitation, srad, swe, tmax, tmin, vp
WEATHER = (
    (31185.94, 0.0, 233.66, 0.0, -1.04, -11.11, 250.13),
    (31302.07, 4.21, 198.52, 0.0, 0.36, -10.45, 256.83),
    (31370.89, 2.68, 181.57, 0.0, 3.23, -12.09, 226.09),
    (31449.60, 0.13, 240.38, 0.0, 5.24, -7.61, 353.94),
)


def days(count: int, first: date = FIRST) -> list[date]:
    """Consecutive days."""
    return [first + timedelta(days=n) for n in range(count)]


def forcing(
    product: str = "maurer_extended",
    rows: Sequence[Sequence[float]] = WEATHER,
    at: Sequence[date] | None = None,
    latitude: float = LATITUDE,
) -> str:
    """A forcing file: tabs and bare months in the extended set, padded months by blanks in the others."""
    lines = [f"  {latitude:.2f}", " 133.00", f" {AREA:.0f}", HEADINGS[product]]
    for day, row in zip(at or days(len(rows)), rows, strict=True):
        if product == "maurer_extended":
            stamp, numbers = f"{day.year}\t{day.month}\t{day.day}\t12", [str(value) for value in row]
        else:
            stamp, numbers = f"{day:%Y %m %d} 12", [f"{value:.2f}" for value in row]
        lines.append("\t".join((stamp, *numbers)))
    return "\n".join(lines) + "\n"


def streamflow(
    rows: Iterable[tuple[float, str]] = ((395, "A"), (350, "A:e"), (0, "A:<"), (-999, "M")),
    at: Sequence[date] | None = None,
    gauge: str = GAUGE,
) -> str:
    """A discharge file."""
    rows = list(rows)
    stamped = zip(at or days(len(rows)), rows, strict=True)
    return "".join(f"{gauge} {day:%Y %m %d} {flow:8.2f} {flag}\n" for day, (flow, flag) in stamped)


def swe(columns: str = "date,uaz_swe,snodas_swe", rows: Sequence[str] = ("12.5,", "13.0,12.1")) -> str:
    """A file of reference snow water equivalent."""
    lines = [f"{day},{row}" for day, row in zip(days(len(rows)), rows, strict=True)]
    return "\n".join((columns, *lines)) + "\n"


def model_output(rows: int = 2) -> str:
    """A model output file: SWE PRCP RAIM TAIR PET ET MOD_RUN OBS_RUN."""
    numbers = (39.38, 1.5, 0.03, -19.55, 0.1304, 0.1204, 0.1843, 0.0)
    lines = ["YR MNTH DY HR SWE PRCP RAIM TAIR PET ET MOD_RUN OBS_RUN"]
    lines += [f"{day:%Y %m %d} 12 " + " ".join(f"{n:11.7f}" for n in numbers) for day in days(rows)]
    return "\n".join(lines) + "\n"


TOPO = (
    "gauge_id;gauge_lat;gauge_lon;elev_mean;slope_mean;area_gages2;area_geospa_fabric\n"
    "01022500;44.60797;-67.93524;92.68;17.79072;573.6;NA\n"
)
NAME = "gauge_id;huc_02;gauge_name\n01022500;01;Narraguagus River at Cherryfield, Maine\n"
VEGE = (
    "gauge_id;frac_forest;dom_land_cover;root_depth_50\n"
    "01022500;0.9232;    Mixed Forests;NaN\n"
    "SYNTH-01;0.5;Grasslands;0.2\n"
)

FORCING_PATH = f"maurer_extended/01/{GAUGE}_lump_maurer_forcing_leap.txt"
FLOW_PATH = f"basin_dataset_public_v1p2/usgs_streamflow/01/{GAUGE}_streamflow_qc.txt"
SWE_PATH = f"swe_reference/01/{GAUGE}_swe.csv"
MODEL_PATH = f"model_output/flow_timeseries/daymet/01/{GAUGE}_05_model_output.txt"


def folder(where: Path, files: Mapping[str, str]) -> Path:
    """Write files below a folder."""
    for name, text in files.items():
        path = where / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return where


def zipped(path: Path, files: Mapping[str, str], compression: int = ZIP_DEFLATED) -> Path:
    """Write files into a zip."""
    with ZipFile(path, "w", compression) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path
