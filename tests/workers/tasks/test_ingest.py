"""What a job may not read, tried on a real worker: files elsewhere, pipes, devices, addresses of the own network."""

import os
from pathlib import Path
from typing import Any

import pytest

from ingestion.sources.tables import TablesSource
from operations.basin_data.ingest import ingest
from records.jobs import jobs
from testing.job_service import Shop
from tests.ingestion.servers import serving, status, whole

SECRET = "root:$6$salt$hash:19000:0:99999:7:::"


def refused(shop: Shop, kind: str, **params: Any) -> str:
    """Post a job that must fail, and return everything that others can read of it."""
    job = shop.ended(shop.post(kind, None, **params).id)
    assert job.status == "failed"
    assert job.attempt == 1
    assert job.problem is not None
    with shop.database.reading() as session:
        shown = f"{jobs.get(session, job.id)}"
    assert "salt" not in shown
    return str(job.problem["detail"])


@pytest.mark.parametrize("source", ["camels", "caravan", "benchmarks"])
def test_files_outside_the_folders_pipes_and_devices_are_refused_by_name(
    sqlite_shop: Shop, tmp_path: Path, source: str
) -> None:
    incoming = tmp_path / "incoming"
    incoming.mkdir()
    (tmp_path / "shadow").write_text(SECRET)
    os.mkfifo(incoming / "fifo")
    (incoming / "link").symlink_to(tmp_path / "shadow")
    sqlite_shop.worker()
    elsewhere = [Path("/dev/zero"), Path("/etc/shadow"), Path("/proc/self/mem")]
    for path in (tmp_path / "shadow", incoming / "link", *elsewhere):
        sentence = refused(sqlite_shop, "ingest", **{"source": source, "from": [str(path)]})
        assert sentence.startswith(f"{path}: is not in a folder that jobs read from")
    assert "is not a regular file" in refused(
        sqlite_shop, "ingest", **{"source": source, "from": [str(incoming / "fifo")]}
    )


def test_tables_are_uploads_or_in_the_folders(sqlite_shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "shadow.csv").write_text(SECRET)
    sqlite_shop.worker()
    sentence = refused(sqlite_shop, "upload", product="own", observations_file=str(tmp_path / "shadow.csv"))
    assert "is not in a folder that jobs read from" in sentence


def test_an_address_of_the_own_network_is_not_asked(sqlite_shop: Shop) -> None:
    sqlite_shop.worker()
    with serving() as inner:
        inner.answers = [whole(SECRET.encode()), status(200)]
        for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]"):
            sentence = refused(
                sqlite_shop, "ingest", **{"source": "benchmarks", "from": [inner.url("/scores.csv", host)]}
            )
            assert "has no public address" in sentence
    assert inner.requests == []


def test_an_upload_is_deleted_when_it_was_taken_in_or_never_can_be(sqlite_shop: Shop, tmp_path: Path) -> None:
    uploads = tmp_path / "uploads"
    uploads.mkdir()
    sqlite_shop.worker()
    (tmp_path / "mill.csv").write_text("id,latitude,longitude,area_km2\nOWN-mill,47.1,8.5,12.5\n")
    ingest(sqlite_shop.database, TablesSource(tmp_path / "mill.csv", None, "own"), sqlite_shop.clock)
    (uploads / "good.csv").write_text("basin,date,discharge_cfs\nOWN-mill,2008-04-01,7\n")
    (uploads / "bad.csv").write_text(SECRET)
    good = sqlite_shop.post("upload", None, product="own", observations_file=str(uploads / "good.csv"))
    assert sqlite_shop.ended(good.id).status == "succeeded"
    refused(sqlite_shop, "upload", product="own", observations_file=str(uploads / "bad.csv"))
    sqlite_shop.until(good.id, lambda _: list(uploads.iterdir()) == [])  # the job ends first
