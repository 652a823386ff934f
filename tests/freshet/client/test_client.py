"""The client on a real service, and on servers that do what none should."""

import json
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import freshet.client
from app.basins.observations.schemas import Observations
from app.forecasts.schemas import BasinForecast
from freshet.client import Client, Refused, ServiceError
from freshet.client.connection import ATTEMPTS
from freshet.client.frames import to_pandas, to_xarray
from hydrology.base.errors import InvalidInput
from tests.freshet.conftest import BASINS
from tests.ingestion.servers import Server, serving, status, whole

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture
def server() -> Iterator[Server]:
    """A server with the answers that a test gives it."""
    with serving() as started:
        yield started


def page(*basins: str, following: str | None) -> bytes:
    """Return a page of basins with more fields than this version knows."""
    empty: dict[str, Any] = {
        "kind": "other",
        "name": None,
        "latitude": None,
        "longitude": None,
        "huc": None,
        "area": None,
    }
    shown = [{"id": basin, **empty, "missing": {}, "elevation": 12} for basin in basins]
    return json.dumps({"basins": shown, "next": following, "total": 3}).encode()


def test_answers_have_their_types(service: Client) -> None:
    assert service.ready()
    assert [basin.id for basin in service.basins()] == list(BASINS)
    assert [basin.id for basin in service.basins(q="-02")] == [BASINS[1]]
    detail = service.basin(BASINS[0])
    assert {series.variable for series in detail.series} >= {"precipitation", "discharge"}

    forecast = service.forecast(BASINS[0], units="mm/day", members=True)
    assert forecast.discharge is not None
    assert len(forecast.discharge["median"]) == forecast.horizon_days == len(forecast.members["0"])
    assert forecast.water_balance is not None
    assert forecast.water_balance.closes
    many = service.forecasts(BASINS, units="mm/day")
    assert [one.basin for one in many.forecasts] == list(BASINS)
    (run,) = service.runs(BASINS[0], t0_from=forecast.t0)
    assert run.id == forecast.run
    assert [*service.runs(t0_to=date(2000, 1, 1))] == []
    assert service.forecast_of_run(run.id, BASINS[0], units="mm/day").discharge == forecast.discharge
    assert next(service.models()).id == forecast.version

    observed = service.observations(BASINS[0], "synth", "discharge", start=date(2005, 9, 1), end=date(2005, 9, 3))
    assert observed.time == [date(2005, 9, day) for day in (1, 2, 3)]
    assert service.exceedance(BASINS[0], discharge=1.0).basin == BASINS[0]
    assert service.rain_margin(BASINS[0], discharge=1.0).basin == BASINS[0]
    assert [*service.alerts()] == []
    assert service.get("/v1/status")["status"] in ("ok", "degraded")


def test_tables_and_datasets_hold_the_answers_numbers(service: Client, tmp_path: Path) -> None:
    forecast = service.forecast(BASINS[0], members=True)
    assert forecast.discharge is not None
    assert forecast.storage is not None
    table, dataset = to_pandas(forecast), to_xarray(forecast)
    assert [day.date() for day in table.index] == forecast.time
    assert table["discharge_p90"].tolist() == forecast.discharge["p90"] == dataset["discharge_p90"].values.tolist()
    assert table["member_1"].tolist() == forecast.members["1"]
    assert table["storage_total"].tolist() == forecast.storage.total
    assert (table.attrs["run"], dataset.attrs["t0"]) == (forecast.run, forecast.t0.isoformat())
    units = {name: dataset[name].attrs["units"] for name in dataset.data_vars}
    some = {"discharge_p90": "m3/s", "member_1": "m3/s", "precipitation": "mm/day", "storage_total": "mm"}
    assert units.items() >= (some | {"lead_days": "days"}).items()

    observed = service.observations(BASINS[0], "synthetic", start=date(2005, 9, 1), end=date(2005, 9, 5))
    rain = to_xarray(observed)["precipitation"]
    assert rain.dims == ("time",)
    assert np.array_equal(rain.values, np.array(observed.values["precipitation"]))
    assert rain.attrs == {"units": "mm/day"}
    assert to_pandas(observed)["precipitation_flag"].tolist() == observed.flags["precipitation"]

    missing = forecast.model_copy(update={"precipitation": [None] * len(forecast.time)})
    answers: tuple[BasinForecast | Observations, ...] = (forecast, observed, missing)
    for number, answer in enumerate(answers):
        written, file = to_xarray(answer), tmp_path / f"{number}.nc"
        written.to_netcdf(file)
        with xarray.open_dataset(file) as copied:
            xarray.testing.assert_equal(copied, written)
            assert copied.attrs == written.attrs


def test_an_error_carries_the_problem_of_the_service(service: Client) -> None:
    with pytest.raises(Refused, match="The service refused GET /v1/basins/USGS-99999999") as refused:
        service.basin("USGS-99999999")
    problem = refused.value
    assert (problem.status, problem.type.rpartition("/")[2]) == (404, "unknown-basin")
    assert problem.title
    assert "No basin 'USGS-99999999' is stored here" in problem.detail
    with pytest.raises(Refused) as refused:
        service.forecast(BASINS[0], units="buckets")
    assert (refused.value.status, [fault.field for fault in refused.value.errors]) == (422, ["units"])
    with pytest.raises(Refused) as refused:
        service.post_job("forecast", {})
    assert refused.value.status == 401


def test_a_list_is_read_page_after_page_of_the_same_service(server: Server) -> None:
    server.answers[:] = [
        whole(page("SYNTH-01", following="/v1/basins?after=SYNTH-01")),
        whole(page("SYNTH-02", following=None)),
    ]
    with Client(server.url("/"), key="secret") as client:
        assert [basin.id for basin in client.basins()] == ["SYNTH-01", "SYNTH-02"]
    assert [request["path"] for request in server.requests] == ["/v1/basins", "/v1/basins?after=SYNTH-01"]
    assert {request["Authorization"] for request in server.requests} == {"Bearer secret"}


def test_the_key_goes_to_no_other_host(server: Server) -> None:
    with serving() as other, Client(server.url("/"), key="secret") as client:
        other.answers[:] = [whole(page(following=None))]
        for following in (other.url("/v1/basins"), f"//127.0.0.1:{other.port}/v1/basins"):
            server.answers[:] = [whole(page("SYNTH-01", following=following))]
            with pytest.raises(ServiceError, match="is not a path of the service"):
                list(client.basins())
        server.answers[:] = [status(307, Location=other.url("/v1/basins"))]
        with pytest.raises(ServiceError, match="sent on to another address"):
            list(client.basins())
        assert other.requests == []


def test_pagination_in_a_circle_ends(server: Server) -> None:
    server.answers[:] = [whole(page("SYNTH-01", following="/v1/basins?after=SYNTH-01"))]
    with Client(server.url("/")) as client, pytest.raises(ServiceError, match="lead back"):
        list(client.basins())


def test_a_reading_is_tried_again_and_not_for_ever(server: Server) -> None:
    busy = status(503, Retry_After="0")
    with Client(server.url("/")) as client:
        server.answers[:] = [busy, status(429, Retry_After="0"), whole(page(following=None))]
        assert list(client.basins()) == []
        assert len(server.requests) == 3

        server.requests.clear()
        server.answers[:] = [busy]
        with pytest.raises(ServiceError, match="was answered 503, not by a service of Freshet"):
            list(client.basins())
        assert len(server.requests) == ATTEMPTS

        server.requests.clear()
        server.answers[:] = [status(500)]
        with pytest.raises(ServiceError, match="was answered 500"):
            list(client.basins())
        assert len(server.requests) == 1


@pytest.mark.parametrize("content", [b"", b"<html>", b"[]", b'{"basins": 3}'])
def test_an_invalid_answer_is_reported(server: Server, content: bytes) -> None:
    server.answers[:] = [whole(content)]
    with Client(server.url("/")) as client, pytest.raises(ServiceError, match="The answer is not BasinPage"):
        list(client.basins())


def test_an_unreachable_service_is_reported() -> None:
    with Client("http://127.0.0.1:1") as client:
        assert not client.ready()
        with pytest.raises(ServiceError, match="does not answer"):
            client.basin("SYNTH-01")


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("127.0.0.1:8000", "is not the address of a service"),
        ("ftp://rivers.example", "is not the address of a service"),
        ("http://", "is not the address of a service"),
        ("http://rivers.example/?key=1", "is not the address of a service"),
        ("http://[", "is not the address of a service"),
        ("http://me:secret@rivers.example", "give the key by itself"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(address: str, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence) as refused:
        Client(address)
    assert "secret" not in str(refused.value)


@pytest.mark.extended
def test_no_module_of_the_client_loads_what_the_service_computes_and_answers_with() -> None:
    heavy = {"torch", "celery", "kombu", "fastapi", "starlette", "pandas", "xarray", "netCDF4", "scipy"}
    names = [module.name for module in pkgutil.walk_packages(freshet.client.__path__, "freshet.client.")]
    assert "freshet.client.frames" in names
    code = f"import sys, {', '.join(names)}; print({heavy} & set(sys.modules))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "set()\n"


def test_the_document_runs_as_it_stands(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = (DOCS / "do" / "client.md").read_text()
    known: dict[str, Any] = {}
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(code.replace("http://127.0.0.1:8000", address), known)
    known["service"].close()
    printed = capsys.readouterr().out
    assert "{'units': 'mm/day'}" in printed
    assert "404 " in printed
    assert "unknown-basin" in printed


def test_the_notebooks_cells_run(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRESHET_SERVICE", address)
    notebook = json.loads((DOCS / "learn" / "notebook.ipynb").read_text())
    assert notebook["nbformat"] == 4
    known: dict[str, Any] = {}
    codes = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell in codes:
        exec("".join(cell["source"]), known)
        assert cell["outputs"]  # it was run before it was saved
    known["service"].close()
    assert known["balance"].closes
    assert len(known["table"]) == known["forecast"].horizon_days
