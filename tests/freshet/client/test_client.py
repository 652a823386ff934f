"""The client on a real service."""

import json
import re
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas
import pytest

from freshet_client import Client, Refused
from freshet_client.frames import to_pandas, to_xarray
from tests.freshet.conftest import BASINS

DOCS = Path(__file__).parents[3] / "docs"


def test_answers_have_their_types(service: Client) -> None:
    assert service.is_ready()
    assert [basin.id for basin in service.list_basins()] == list(BASINS)
    assert [basin.id for basin in service.list_basins(q="-02")] == [BASINS[1]]
    detail = service.read_basin(BASINS[0])
    assert {series.variable for series in detail.series} >= {"precipitation", "discharge"}

    forecast = service.read_latest_forecast(BASINS[0], units="mm/day", members=True)
    assert forecast.discharge is not None
    assert len(forecast.discharge["median"]) == forecast.horizon_days == len(forecast.members["0"])
    assert forecast.water_balance is not None
    assert forecast.water_balance.closes
    many = service.read_latest_forecasts(basins=",".join(BASINS), units="mm/day")
    assert [one.basin for one in many.forecasts] == list(BASINS)
    (run,) = service.list_runs(basin=BASINS[0], t0_from=forecast.t0)
    assert run.id == forecast.run
    assert [*service.list_runs(t0_to=date(2000, 1, 1))] == []
    assert service.read_run_of_basin(run.id, BASINS[0], units="mm/day").discharge == forecast.discharge
    assert next(service.list_models()).id == forecast.version

    first, last = date(2005, 9, 1), date(2005, 9, 3)
    observed = service.read_observations(BASINS[0], product="synth", variable="discharge", start=first, end=last)
    assert observed.time == [date(2005, 9, day) for day in (1, 2, 3)]
    assert service.read_exceedance(BASINS[0], discharge=1.0).basin == BASINS[0]
    assert service.read_rain_margin(BASINS[0], discharge=1.0).basin == BASINS[0]
    assert [*service.list_alerts()] == []
    assert service.get("/v1/status")["status"] in ("ok", "degraded")


def test_a_missing_value_has_its_reason(service: Client) -> None:
    forecast = service.read_latest_forecast(BASINS[0])
    assert forecast.missing.keys() >= {"calibrated"}
    assert forecast.calibrated is None


def test_tables_and_datasets_hold_the_answers_numbers(service: Client) -> None:
    forecast = service.read_latest_forecast(BASINS[0], members=True)
    assert forecast.discharge is not None
    assert forecast.storage is not None
    table = to_pandas(service.read_latest_forecast(BASINS[0], members=True, format="parquet"))
    dataset = to_xarray(service.read_latest_forecast(BASINS[0], members=True, format="netcdf"))
    assert [day.date() for day in table.index] == forecast.time
    assert table["discharge_p90"].tolist() == forecast.discharge["p90"]
    assert dataset["discharge"].sel(discharge_quantile=0.9).values[0].tolist() == forecast.discharge["p90"]
    assert table["member_1"].tolist() == forecast.members["1"]
    assert table["storage_total"].tolist() == forecast.storage.total
    assert set(table["run"]) == {forecast.run}
    some = {"discharge_p90": "m3/s", "member_1": "m3/s", "precipitation": "mm/day", "storage_total": "mm"}
    assert table.attrs["units"].items() >= some.items()
    assert dataset["discharge"].attrs["units"] == "m3 s-1"

    first = date(2005, 9, 1)
    observed = service.read_observations(BASINS[0], product="synthetic", start=first)
    rain = to_xarray(service.read_observations(BASINS[0], product="synthetic", start=first, format="netcdf"))
    assert rain["precipitation"].values[0].tolist() == observed.values["precipitation"]
    assert rain["precipitation"].attrs["units"] == "mm day-1"
    text = service.read_observations(BASINS[0], product="synthetic", start=first, format="csv")
    assert pandas.read_csv(BytesIO(text))["precipitation [mm/day]"].tolist() == observed.values["precipitation"]


def test_a_table_of_places_has_no_days(service: Client) -> None:
    assert to_pandas(service.list_basins(format="parquet"))["basin"].tolist() == list(BASINS)


def test_an_error_carries_the_problem_of_the_service(service: Client) -> None:
    with pytest.raises(Refused, match="The service refused GET /v1/basins/USGS-99999999") as refused:
        service.read_basin("USGS-99999999")
    problem = refused.value
    assert (problem.status, problem.type.rpartition("/")[2]) == (404, "unknown-basin")
    assert problem.title
    assert "No basin 'USGS-99999999' is stored here" in problem.detail
    with pytest.raises(Refused) as refused:
        service.read_latest_forecast(BASINS[0], units="buckets")  # type: ignore[call-overload]
    assert (refused.value.status, [fault.field for fault in refused.value.errors]) == (422, ["units"])
    with pytest.raises(Refused) as refused:
        service.post_job({"kind": "forecast", "params": {}})
    assert refused.value.status == 401


def test_the_document_runs_as_it_stands(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = (DOCS / "do" / "client.md").read_text()
    known: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(code.replace("http://127.0.0.1:8000", address), known)
    known["service"].close()
    printed = capsys.readouterr().out
    assert "'units': 'mm day-1'" in printed
    assert "404 " in printed
    assert "unknown-basin" in printed


def test_the_notebooks_cells_run(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRESHET_SERVICE", address)
    notebook = json.loads((DOCS / "learn" / "notebook.ipynb").read_text())
    assert notebook["nbformat"] == 4
    install = "pip install './client[pandas,xarray]'"
    assert install in notebook["cells"][0]["source"]
    assert install in (DOCS / "do" / "client.md").read_text()
    known: dict[str, Any] = {}
    codes = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell in codes:
        exec("".join(cell["source"]), known)
        assert cell["outputs"]  # it was run before it was saved
    known["service"].close()
    assert known["balance"].closes
    assert len(known["table"]) == known["forecast"].horizon_days
