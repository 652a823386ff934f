"""Basins that are not of CAMELS, from Caravan files and from own tables: trained on and forecast like any other."""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from starlette.testclient import TestClient

from app.main import create_app
from extensions.caravan.source import CaravanSource
from hydrology.base.calendar import Period, as_date, day
from hydrology.base.units import Area, mm_per_day_to_m3s, to_mm_per_day
from ingestion.base import BasinData, Source
from ingestion.sources.camels import CamelsSource
from ingestion.sources.tables import TablesSource
from jobspec.jobs.forecasting import ForecastParams
from jobspec.training import InputsConfig
from operations.basin_data.ingest import ingest
from operations.forecasting.forecast import forecast
from operations.forecasting.plans import NothingToForecast
from operations.verification.evaluate import evaluate
from records.basins import basins
from records.database.engine import Database
from records.runs import runs
from records.runs.runs import RunRequest
from records.series import series
from runtime.settings import Settings
from testing.country import BASINS, CLOCK, configuration
from testing.files import caravan
from testing.training import train
from testing.work import work_of

HELD_OUT = Period.parse("2004-10-01..2005-09-30")
STATIC = ("elev_mean", "p_mean")
Columns = dict[str, npt.NDArray[np.float64]]


@pytest.fixture
def empty(migrated_sqlite: Path, tmp_path: Path) -> Iterator[Database]:
    """A database without rows."""
    database = Database(f"sqlite:///{shutil.copy(migrated_sqlite, tmp_path / 'own.sqlite')}")
    yield database
    database.close()


@pytest.fixture(scope="module")
def country_data(country: Path) -> dict[str, BasinData]:
    """The synthetic country, to be written in other formats, by the number of each basin."""
    source = CamelsSource([country])
    return {basin.removeprefix("SYNTH-"): source.read(basin) for basin in BASINS}


def columns_of(data: BasinData) -> tuple[Period, Columns]:
    """The basin's weather, and its discharge in mm/day."""
    by_name = {one.variable: one.series for one in data.series if one.product in ("synthetic", "synth")}
    period = by_name["precipitation"].period
    columns = {name: by_name[name].values.astype(np.float64) for name in ("precipitation", "srad", "tmax", "tmin")}
    flow = by_name["discharge"].over(period)
    columns["discharge"] = to_mm_per_day(flow.values, unit=flow.unit, area=Area("own", data.areas["synthetic"]))
    return period, columns


def as_caravan(where: Path, country: Mapping[str, BasinData], kind: str) -> CaravanSource:
    names = {
        "precipitation": "total_precipitation_sum",
        "srad": "surface_net_solar_radiation_mean",
        "tmax": "temperature_2m_max",
        "tmin": "temperature_2m_min",
        "discharge": "streamflow",
    }
    files = {}
    other, climate = ["gauge_id,gauge_lat,gauge_lon,gauge_name,country,area"], ["gauge_id,elev_mean,p_mean"]
    for number, data in country.items():
        period, columns = columns_of(data)
        created = {names[name]: values.tolist() for name, values in columns.items()}
        if kind == "csv":
            content = caravan.csv(created, [as_date(one) for one in period.days])
        else:
            content = caravan.netcdf(created, counted=f"days since {period.first} 00:00:00")
        files[f"timeseries/{kind}/own/own_{number}.{'nc' if kind == 'netcdf' else 'csv'}"] = content
        other.append(f"own_{number},{data.latitude},{data.longitude},Own,Nowhere,{data.areas['synthetic'] / 1e6}")
        climate.append(f"own_{number},{data.attributes['elev_mean']},{data.attributes['p_mean']}")
    files["attributes/own/attributes_other_own.csv"] = "\n".join(other).encode()
    files["attributes/own/attributes_caravan_own.csv"] = "\n".join(climate).encode()
    return CaravanSource([caravan.folder(where, files)])


def as_tables(where: Path, country: Mapping[str, BasinData]) -> TablesSource:
    names = "precipitation_mm_per_day,srad_W_per_m2,tmax_degC,tmin_degC,discharge_m3_per_s"
    rows, lines = ["id,name,latitude,longitude,area_km2,elev_mean,p_mean"], [f"basin,date,{names}"]
    for number, data in country.items():
        period, columns = columns_of(data)
        area = Area("own", data.areas["synthetic"])
        columns["discharge"] = mm_per_day_to_m3s(columns["discharge"], area=area)
        given = (data.latitude, data.longitude, area.m2 / 1e6, data.attributes["elev_mean"], data.attributes["p_mean"])
        rows.append(",".join([f"OWN-{number}", "Own", *map(str, given)]))
        for at, *values in zip(period.days, *columns.values(), strict=True):
            lines.append(",".join([f"OWN-{number}", str(at), *("" if np.isnan(v) else str(v) for v in values)]))
    (where / "basins.csv").write_text("\n".join(rows))
    (where / "observations.csv").write_text("\n".join(lines))
    return TablesSource(where / "basins.csv", where / "observations.csv", "own_weather")


@pytest.mark.extended
@pytest.mark.parametrize("kind", ["caravan-csv", "caravan-netcdf", "tables"])
def test_own_basins_go_the_way_of_all_others(
    empty: Database, country_data: dict[str, BasinData], tmp_path: Path, kind: str
) -> None:
    source: Source
    if kind == "tables":
        source, product = as_tables(tmp_path, country_data), "own_weather"
    else:
        source, product = as_caravan(tmp_path / "set", country_data, kind.removeprefix("caravan-")), "era5_land"
    outcomes = ingest(work_of(empty, CLOCK), source)
    assert {one.status for one in outcomes} == {"new"}
    assert {one.status for one in ingest(work_of(empty, CLOCK), source)} == {"unchanged"}
    names = tuple(one.basin for one in outcomes)

    inputs = InputsConfig(product=product, auxiliary=("srad", "tmax", "tmin"), static=STATIC)
    trained = train(work_of(empty, CLOCK), configuration(inputs=inputs), names)
    assert (trained.basins, trained.left_out) == (names, {})
    skill = evaluate(work_of(empty, CLOCK), trained.version_id, HELD_OUT, names)
    assert ([one.basin for one in skill.basins], skill.left_out) == (list(names), {})
    (run,) = forecast(
        work_of(empty, CLOCK), RunRequest(ForecastParams(basins=list(names), horizon=5, t0=day("2005-03-10")))
    )
    assert (run.status, run.product) == ("issued", product)
    with empty.reading() as session:
        for name, data in zip(names, country_data.values(), strict=True):
            result = runs.basin_of(session, run.id, name)
            assert result.status == "issued"
            assert result.area_m2 == pytest.approx(data.areas["synthetic"])
            assert all(ledger.closes for ledger in runs.ledger_of(session, run.id, name))
            assert np.isfinite(runs.series_of(session, run.id, name)["discharge"].values).all()
            assert basins.get(session, name).attributes["elev_mean"] == data.attributes["elev_mean"]
            rain = series.read(session, name, product, "precipitation")
            assert rain is not None
            np.testing.assert_allclose(rain.values, columns_of(data)[1]["precipitation"], rtol=1e-6)
    with TestClient(
        create_app(Settings.load(data=tmp_path, database_url=empty.url)), base_url="http://localhost"
    ) as api:
        for name in names:
            answer = api.get(f"/v1/basins/{name}/forecasts/latest").json()
            assert (answer["run"], answer["product"], len(answer["discharge"]["median"])) == (run.id, product, 5)
            assert answer["water_balance"]["closes"] is True


def test_a_basin_without_an_attribute_that_the_model_takes_is_reported(
    empty: Database, country_data: dict[str, BasinData], tmp_path: Path
) -> None:
    names = tuple(one.basin for one in ingest(work_of(empty, CLOCK), as_tables(tmp_path, country_data)))
    inputs = InputsConfig(product="own_weather", auxiliary=("tmax",), static=("elev_mean",))
    version = train(work_of(empty, CLOCK), configuration(inputs=inputs, members=1), names).version_id
    (tmp_path / "more.csv").write_text("id,latitude,longitude,area_km2,p_mean\nOWN-new,1,1,1,3\n")
    (tmp_path / "rain.csv").write_text(
        "basin,date,precipitation_mm_per_day,tmax_degC\nOWN-new,2005-03-09,1,5\nOWN-new,2005-03-10,1,5\n"
    )
    ingest(work_of(empty, CLOCK), TablesSource(tmp_path / "more.csv", tmp_path / "rain.csv", "own_weather"))
    with pytest.raises(NothingToForecast, match="OWN-new has no attribute elev_mean"):
        forecast(
            work_of(empty, CLOCK),
            RunRequest(ForecastParams(basins=["OWN-new"], t0=day("2005-03-09"), horizon=1, version=version)),
        )
