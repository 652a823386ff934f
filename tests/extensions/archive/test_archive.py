"""The archive over HTTP: what a reader of Zarr gets, and what nobody gets."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx2
import numpy as np
import pytest
from starlette.testclient import TestClient

from extensions.archive.archive_runs import Archived, RunSelection, archive_runs, extend
from extensions.archive.forecast_archive import STORE, contents
from freshet_client import Client
from records.database.engine import Database
from runtime.clock import Clock
from testing.records import BASIN, NOW
from testing.work import work_of
from tests.app.conftest import serving
from tests.app.exports.conftest import FORECAST, SECOND, fill_records

ROOT = f"/v1/archive/{STORE}"
CLOCK = Clock(NOW)


@pytest.fixture(scope="module")
def archive(migrated_sqlite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, Path]]:
    """A service whose archive holds its only official run, with members; and the folder of the archive."""
    folder = tmp_path_factory.mktemp("archive")
    file = shutil.copy(migrated_sqlite, folder / "service.sqlite")
    database = Database(f"sqlite:///{file}")
    fill_records(database)
    store = folder / "served" / STORE
    assert archive_runs(work_of(database, CLOCK), store, RunSelection(), members=True) == Archived(1, 0)
    assert archive_runs(work_of(database, CLOCK), store, RunSelection()) == Archived(0, 1)
    assert extend(work_of(database, CLOCK), store.parent) is None
    database.close()
    (folder / "served" / "private").symlink_to(folder)
    with pytest.MonkeyPatch.context() as patch, serving(f"sqlite:///{file}") as client:
        patch.setenv("FRESHET_ARCHIVE", str(store.parent))
        yield client, store


class _Transport(httpx2.BaseTransport):
    """Leads a client's requests to a service in this process, and records the ranges that they ask for."""

    def __init__(self, service: TestClient) -> None:
        self._service = service._transport
        self.ranges: list[str] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.ranges += request.headers.get_list("Range")
        return self._service.handle_request(request)


def test_xarray_reads_the_numbers_of_the_api_by_ranges(archive: tuple[TestClient, Path]) -> None:
    service, _ = archive
    transport = _Transport(service)
    client = Client("http://localhost", transport=transport)
    (store,) = client.read_archive().stores
    assert (store.name, store.issues, store.basins, store.has_members) == (STORE, 1, 2, True)
    dataset = client.open_archive(store.name)
    answer = service.get(f"{FORECAST}?members=true").json()
    (issue,) = dataset["issue"].values
    assert issue == answer["run"]
    assert dataset.attrs["Conventions"] == "CF-1.8"
    of_basin = dataset.sel(issue=issue, basin=BASIN)
    assert str(of_basin["t0"].values)[:10] == answer["t0"]
    assert [str(day)[:10] for day in of_basin["time"].values] == answer["time"]
    for level, name in ((0.5, "median"), (0.05, "p05")):
        calibrated = of_basin["calibrated"].sel(calibrated_quantile=level)
        np.testing.assert_allclose(calibrated, answer["calibrated"][name], rtol=1e-6)
        np.testing.assert_allclose(
            of_basin["discharge"].sel(discharge_quantile=level), answer["discharge"][name], rtol=1e-6
        )
    np.testing.assert_allclose(of_basin["members"].T, [*answer["members"].values()], rtol=1e-6)
    assert np.isnan(dataset["calibrated"].sel(basin=SECOND)).all()
    meanings = dataset["status"].attrs["flag_meanings"].split()
    found = {basin: meanings[int(dataset["status"].sel(basin=basin)[0])] for basin in (BASIN, SECOND)}
    assert found == {BASIN: "issued", SECOND: "issued_uncalibrated"}
    assert transport.ranges


def test_files_are_read_whole_by_range_and_by_tag(archive: tuple[TestClient, Path]) -> None:
    service, store = archive
    name = "calibrated/c/0/0/0/0"
    content = (store / name).read_bytes()
    whole = service.get(f"{ROOT}/{name}")
    assert (whole.status_code, whole.content, whole.headers["accept-ranges"]) == (200, content, "bytes")
    assert whole.headers["cache-control"] == "public, max-age=60"
    for grows in ("zarr.json", "t0/c/0", "issue/c/0", "version/c/0", "time/c/0/0", "calibrated/zarr.json"):
        assert service.get(f"{ROOT}/{grows}").headers["cache-control"] == "public, no-cache"
    held = {"If-None-Match": whole.headers["etag"]}
    assert service.get(f"{ROOT}/{name}", headers=held).status_code == 304
    for asked, expected in {
        "bytes=0-0": content[:1],
        "bytes=5-": content[5:],
        "bytes=-7": content[-7:],
        f"bytes=3-{10**17}": content[3:],
    }.items():
        part = service.get(f"{ROOT}/{name}", headers={"Range": asked})
        assert (part.status_code, part.content) == (206, expected)
        assert part.headers["content-range"].endswith(f"/{len(content)}")
    for ignored in ("bytes=7-3", "bytes=-", "bytes=0-1,4-5", "lines=1-2"):
        assert service.get(f"{ROOT}/{name}", headers={"Range": ignored}).content == content
    after = service.get(f"{ROOT}/{name}", headers={"Range": f"bytes={len(content)}-"})
    assert (after.status_code, after.json()["type"]) == (416, "/problems/range-not-satisfiable")
    assert after.headers["content-range"] == f"bytes */{len(content)}"
    assert service.get(f"{ROOT}/{name}", headers={**held, "Range": f"bytes={len(content)}-"}).status_code == 304
    head = service.head(f"{ROOT}/{name}")
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(len(content)))


def test_a_range_of_another_version_is_answered_by_the_whole_file(archive: tuple[TestClient, Path]) -> None:
    service, store = archive
    name = "calibrated/c/0/0/0/0"
    content, tag = (store / name).read_bytes(), service.head(f"{ROOT}/{name}").headers["etag"]
    for of, asked, status, expected in (
        (tag, "bytes=0-4", 206, content[:5]),
        ('"another"', "bytes=0-4", 200, content),
        (f"W/{tag}", "bytes=0-4", 200, content),
        ("Wed, 21 Oct 2015 07:28:00 GMT", "bytes=0-4", 200, content),
        ('"another"', f"bytes={len(content)}-", 200, content),
    ):
        part = service.get(f"{ROOT}/{name}", headers={"Range": asked, "If-Range": of})
        assert (part.status_code, part.content) == (status, expected)


@pytest.mark.parametrize(
    "path",
    [
        "forecasts.zarr",
        "forecasts.zarr/nothing",
        "forecasts.zarr/.lock",
        "forecasts.zarr//zarr.json",
        "../service.sqlite",
        "%2e%2e/service.sqlite",
        "forecasts.zarr/%2e%2e/%2e%2e/service.sqlite",
        "private/service.sqlite",
        "%2Fetc%2Fpasswd",
        "forecasts.zarr%00/zarr.json",
    ],
)
def test_nothing_but_files_of_the_archive_is_read(archive: tuple[TestClient, Path], path: str) -> None:
    service, _ = archive
    answer = service.get(f"/v1/archive/{path}")
    assert answer.status_code == 404, answer.text
    assert b"SQLite" not in answer.content


def test_a_service_without_an_archive_has_none(exporting: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FRESHET_ARCHIVE", raising=False)
    assert exporting.get("/v1/archive").json() == {"stores": []}
    assert exporting.get(f"{ROOT}/zarr.json").json()["type"] == "/problems/unknown-archive-file"


def test_an_archive_of_chosen_basins_stays_one(archive: tuple[TestClient, Path], tmp_path: Path) -> None:
    _, store = archive
    database = Database(f"sqlite:///{store.parents[1] / 'service.sqlite'}")
    only = RunSelection(basins=[SECOND])
    assert archive_runs(work_of(database, CLOCK), tmp_path / STORE, only) == Archived(1, 0)
    held = contents(tmp_path / STORE)
    assert held is not None
    assert held.basins == [SECOND]
    sentence = extend(work_of(database, CLOCK), tmp_path)
    assert sentence is not None
    assert "name another folder" in sentence
    damaged = tmp_path / STORE / "issue" / "c" / "0"
    damaged.write_bytes(damaged.read_bytes()[:-7])
    assert "damaged" in str(extend(work_of(database, CLOCK), tmp_path))
    database.close()
