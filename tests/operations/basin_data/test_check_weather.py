"""Weather in a unit that its label does not state is refused on every way in; right weather is stored as it came."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import pytest

from extensions.caravan.source import CaravanSource
from hydrology.base.calendar import Days, Period, as_date
from hydrology.base.errors import Problem
from hydrology.base.series import Flag
from ingestion.base import Source
from ingestion.sources.camels import CamelsSource
from ingestion.sources.tables import TablesSource
from jobspec.feed_kinds import NewFeed, read_settings
from operations.basin_data.ingest import ingest
from operations.basin_data.sources import Intake
from operations.feeds.fetch import fetch
from operations.weather.import_forecasts import add
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.feeds import feeds
from records.series import revisions, series, series_writer
from records.weather import weather_issues
from runtime.clock import Clock
from runtime.settings import Settings
from testing.files import caravan
from testing.records import NOW, daily
from testing.synthetic import archive as synthetic
from testing.work import work_of
from tests.weather_lies import LIES, Array, latitude, right

CLOCK = Clock(NOW)
YEAR = Period.parse("2001-10-01..2002-09-30")
OWN, CARAVAN, SYNTH = "OWN-mill", "CARAVAN-own_1", "SYNTH-05"
COLUMNS = {
    "precipitation": "precipitation_mm_per_day",
    "tmax": "tmax_degC",
    "tmin": "tmin_degC",
    "srad": "srad_W_per_m2",
    "vp": "vp_Pa",
}
UNITS = {"precipitation": "mm/day", "tmax": "degC", "tmin": "degC", "srad": "W/m2", "vp": "Pa"}
OF_CARAVAN = {
    "precipitation": "total_precipitation_sum",
    "tmax": "temperature_2m_max",
    "tmin": "temperature_2m_min",
    "srad": "surface_net_solar_radiation_mean",
}
Values = Mapping[str, Array]
Way = Callable[[Path, Database, Days, Values], str]


@pytest.fixture
def empty(migrated_sqlite: Path, tmp_path: Path) -> Iterator[Database]:
    """A database with one basin that has no weather yet."""
    database = Database(f"sqlite:///{shutil.copy(migrated_sqlite, tmp_path / 'own.sqlite')}")
    with database.transaction() as session:
        basins.upsert(session, Basin(OWN, "Mill", latitude(), -115.6))
    yield database
    database.close()


def _ingested(database: Database, source: Source, *wanted: str) -> str:
    (outcome,) = ingest(work_of(database, CLOCK), source, wanted)
    return outcome.error or ""


def table(days: Days, values: Values, names: Mapping[str, str] = COLUMNS, head: str = OWN) -> str:
    rows = [",".join(["basin", "date", *names.values()])]
    for at, *cells in zip(days, *(values[name] for name in names), strict=True):
        rows.append(",".join([head, str(at), *map(str, cells)]))
    return "\n".join(rows)


def by_tables(folder: Path, database: Database, days: Days, values: Values) -> str:
    (folder / "own.csv").write_text(table(days, values))
    try:
        return _ingested(database, TablesSource(None, folder / "own.csv", "own", [OWN]))
    except Problem as problem:
        return str(problem)


def by_a_feed(folder: Path, database: Database, days: Days, values: Values) -> str:
    (folder / "own.csv").write_text(table(days, values))
    result = {"adapter": "files", "product": "own", "from": [str(folder / "own.csv")]}
    with database.transaction() as session:
        feeds.create(session, NewFeed(name="own", settings=read_settings(result)), None, NOW)
    settings = Settings(data=folder)
    intake = Intake(folder / "downloads", (), None, lambda *_: None, lambda _: None)
    (fetched,) = fetch(work_of(database, CLOCK, settings), intake, "own", period=Period(days[0], days[-1]))
    return str(fetched.reason) if fetched.status == "failed" else ""


def by_caravan(folder: Path, database: Database, days: Days, values: Values) -> str:
    columns = {OF_CARAVAN[name]: values[name].tolist() for name in OF_CARAVAN}
    files = {
        "timeseries/csv/own/own_1.csv": caravan.csv(columns, [as_date(at) for at in days]),
        "attributes/own/attributes_other_own.csv": (
            f"gauge_id,gauge_lat,gauge_lon,gauge_name,country,area\nown_1,{latitude()},-115.6,Own,Nowhere,100\n"
        ).encode(),
        "attributes/own/attributes_caravan_own.csv": b"gauge_id,p_mean\nown_1,2.5\n",
    }
    return _ingested(database, CaravanSource([caravan.folder(folder / "set", files)]))


def by_camels(folder: Path, database: Database, days: Days, values: Values) -> str:
    synthetic.write(folder / "camels", first_day=days[0], last_day=days[-1])
    (file,) = (folder / "camels").glob(f"basin_mean_forcing/*/*/{SYNTH}_*.txt")
    head = file.read_text().splitlines()[:4]
    names = ("daylength", "precipitation", "srad", "swe", "tmax", "tmin", "vp")
    columns = [values.get(name, np.zeros(len(days))) for name in names]
    rows = [
        "\t".join([f"{as_date(at):%Y\t%m\t%d}", "12", *(f"{cell:.6f}" for cell in cells)])
        for at, *cells in zip(days, *columns, strict=True)
    ]
    file.write_text("\n".join([*head, *rows]) + "\n")
    return _ingested(database, CamelsSource([folder / "camels"]), SYNTH)


def _added(database: Database, path: Path) -> str:
    try:
        return " ".join(add(work_of(database, CLOCK), path).refused.values())
    except Problem as problem:
        return str(problem)


def by_weather_csv(folder: Path, database: Database, days: Days, values: Values) -> str:
    own = table(days, values).splitlines()
    rows = [f"office,hand,{days[0]}T00:00:00Z,{row}" for row in own[1:]]
    (folder / "weather.csv").write_text("\n".join([f"source,model,reference_time,{own[0]}", *rows]))
    return _added(database, folder / "weather.csv")


def by_weather_json(folder: Path, database: Database, days: Days, values: Values) -> str:
    result: dict[str, Any] = {
        "source": "office",
        "model": "hand",
        "reference_time": f"{days[0]}T00:00:00Z",
        "units": UNITS,
        "basins": {OWN: {"time": list(map(str, days)), "traces": {"0": {n: values[n].tolist() for n in UNITS}}}},
    }
    (folder / "weather.json").write_text(json.dumps(result))
    return _added(database, folder / "weather.json")


def by_weather_netcdf(folder: Path, database: Database, days: Days, values: Values) -> str:
    with netCDF4.Dataset(folder / "weather.nc", "w") as dataset:
        dataset.setncatts({"institution": "office", "source": "hand"})
        for name, size in {"station": 1, "time": len(days), "n": 8}.items():
            dataset.createDimension(name, size)
        station = dataset.createVariable("station_id", "S1", ("station", "n"))
        station.cf_role = "timeseries_id"
        station[:] = netCDF4.stringtochar(np.array([OWN], "S8"))
        for name, axes in (("time", ("time",)), ("forecast_reference_time", ())):
            variable = dataset.createVariable(name, "f8", axes)
            variable.setncatts({"standard_name": name, "units": f"days since {days[0]}"})
            variable[:] = np.arange(len(days)) if axes else 0
        for name, unit in UNITS.items():
            variable = dataset.createVariable(name, "f4", ("station", "time"))
            variable.units = unit
            variable[:] = values[name][None]
    return _added(database, folder / "weather.nc")


OBSERVED: Mapping[str, tuple[Way, str, str]] = {
    "tables": (by_tables, OWN, "own"),
    "feed": (by_a_feed, OWN, "own"),
    "caravan": (by_caravan, CARAVAN, "era5_land"),
    "camels": (by_camels, SYNTH, "synthetic"),
}
FORECAST: Mapping[str, Way] = {"csv": by_weather_csv, "json": by_weather_json, "netcdf": by_weather_netcdf}
_WITHOUT_VP = ("hPa", "kPa")


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("way", [*OBSERVED, *FORECAST])
def test_a_year_in_another_unit_is_refused_and_nothing_is_stored(
    empty: Database, tmp_path: Path, way: str, lie: str
) -> None:
    if way == "caravan" and lie in _WITHOUT_VP:
        pytest.skip("Caravan has no vapour pressure")
    days, values = right(YEAR)
    change, sentence = LIES[lie]
    enter = OBSERVED[way][0] if way in OBSERVED else FORECAST[way]
    refusal = enter(tmp_path, empty, days, change(values))
    if way in FORECAST and lie == "swapped":
        sentence = "tmin is above tmax on 2001-10-01"  # a forecast is refused for one such day
    assert sentence in refusal
    with empty.reading() as session:
        assert all(series.catalogue(session, one.id) == [] for one in basins.list_basins(session))
        assert weather_issues.list_issues(session, NOW) == []


@pytest.mark.parametrize("way", OBSERVED)
def test_right_weather_is_stored_as_it_came(empty: Database, tmp_path: Path, way: str) -> None:
    days, values = right(YEAR)
    enter, basin, product = OBSERVED[way]
    assert enter(tmp_path, empty, days, values) == ""
    with empty.reading() as session:
        for name in OF_CARAVAN:
            stored = series.read(session, basin, product, name)
            assert stored is not None
            assert np.allclose(stored.values, values[name], atol=1e-4)


@pytest.mark.parametrize("way", FORECAST)
def test_a_right_weather_forecast_is_stored_as_it_came(empty: Database, tmp_path: Path, way: str) -> None:
    days, values = right(YEAR)
    assert FORECAST[way](tmp_path, empty, days, values) == ""
    with empty.reading() as session:
        (issue,) = weather_issues.list_issues(session, NOW)
        stored = weather_issues.read(session, issue.id, OWN, NOW)
    assert all(np.allclose(stored.values[name][0], values[name], atol=1e-3) for name in UNITS)


def test_vapour_pressure_alone_is_compared_with_the_stored_temperature(empty: Database, tmp_path: Path) -> None:
    days, values = right(YEAR)
    temperatures = {name: COLUMNS[name] for name in ("tmax", "tmin")}
    (tmp_path / "own.csv").write_text(table(days, values, temperatures))
    assert _ingested(empty, TablesSource(None, tmp_path / "own.csv", "own", [OWN])) == ""
    (tmp_path / "vp.csv").write_text(table(days[:3], {"vp": values["vp"][:3] / 100}, {"vp": "vp_Pa"}))
    refusal = _ingested(empty, TablesSource(None, tmp_path / "vp.csv", "own", [OWN]))
    assert refusal.startswith(f"{tmp_path / 'vp.csv'}: vp of own has a median of")
    assert "look like hPa" in refusal


def test_wrong_weather_that_is_stored_does_not_refuse_what_comes(empty: Database, tmp_path: Path) -> None:
    days, values = right(YEAR)
    with empty.transaction() as session:
        source = revisions.register_source(session, "old", "0" * 64, 1, NOW)
        for name, of_days in {"vp": values["vp"] / 100, "tmin": values["tmin"]}.items():
            old = daily(str(days[0]), *of_days.tolist(), unit=UNITS[name])
            series_writer.write(session, OWN, "own", name, old, source, NOW)
    rain = {"precipitation": COLUMNS["precipitation"]}
    (tmp_path / "rain.csv").write_text(table(days, values, rain))
    assert _ingested(empty, TablesSource(None, tmp_path / "rain.csv", "own", [OWN])) == ""
    (tmp_path / "vp.csv").write_text(table(days, values, {"vp": "vp_Pa"}))
    assert _ingested(empty, TablesSource(None, tmp_path / "vp.csv", "own", [OWN])) == ""


def test_rare_days_of_tmin_above_tmax_are_stored_flagged_and_warned_of(empty: Database, tmp_path: Path) -> None:
    days, values = right(YEAR)
    low = values["tmin"].copy()
    low[[5, 90]] = values["tmax"][[5, 90]] + 0.5
    (tmp_path / "own.csv").write_text(table(days, {**values, "tmin": low}))
    source = TablesSource(None, tmp_path / "own.csv", "own", [OWN])
    (outcome,) = ingest(work_of(empty, CLOCK), source)
    (sentence,) = outcome.input_warnings
    assert f"tmin of own is above tmax on 2 of 365 days (first on {days[5]}" in sentence
    with empty.reading() as session:
        for name in ("tmin", "tmax"):
            stored = series.read(session, OWN, "own", name)
            assert stored is not None
            assert np.flatnonzero(stored.flags & Flag.SUSPECT).tolist() == [5, 90]
        report = [one for found in revisions.findings_of(session, OWN).values() for one in found]
    assert [one["severity"] for one in report if one["code"] == "tmin-above-tmax"] == ["warning"]
    assert [one.status for one in ingest(work_of(empty, CLOCK), source)] == ["unchanged"]


def test_a_short_forecast_is_compared_with_the_stored_climate(empty: Database, tmp_path: Path) -> None:
    days, values = right(Period.parse("1997-01-01..2001-12-31"))
    assert by_tables(tmp_path, empty, days, values) == ""
    ahead, right_values = right(Period.parse("2002-01-10..2002-01-19"))
    hot = {**right_values, **{name: right_values[name] * 1.8 + 32 for name in ("tmax", "tmin")}}
    hot = {name: hot[name] for name in COLUMNS}
    refusal = by_weather_json(tmp_path, empty, ahead, hot)
    assert "what the stored own has in these months" in refusal
    assert by_weather_json(tmp_path, empty, ahead, right_values) == ""


def test_odd_weather_of_a_forecast_is_warned_of(empty: Database, tmp_path: Path) -> None:
    days, values = right(Period.parse("2002-04-01..2002-04-05"))
    rising = {**values, "precipitation": np.array([3, 5, 9, 9, 11.0])}
    own = table(days, rising).splitlines()
    rows = [f"office,hand,{days[0]}T00:00:00Z,{row}" for row in own[1:]]
    (tmp_path / "weather.csv").write_text("\n".join([f"source,model,reference_time,{own[0]}", *rows]))
    added = add(work_of(empty, CLOCK), tmp_path / "weather.csv")
    assert added.new == (OWN,)
    assert "it looks accumulated" in added.warnings[OWN][0]
