"""What a job may not read: files elsewhere, pipes, devices, addresses of the own network."""

import os
from pathlib import Path
from typing import Any

import pytest

from ingestion.sources.tables import TablesSource
from operations.basin_data.ingest import ingest
from records.jobs import jobs
from testing.jobs.in_process import InProcessJobs
from testing.work import work_of
from tests.ingestion.servers import serving, status, whole

SECRET = "root:$6$salt$hash:19000:0:99999:7:::"


def refused(posted_jobs: InProcessJobs, kind: str, **params: Any) -> str:
    """Post a job that must fail, and return everything that others can read of it."""
    job = posted_jobs.ended(posted_jobs.post(kind, None, **params).id)
    assert job.status == "failed"
    assert job.attempt == 1
    assert job.problem is not None
    with posted_jobs.database.reading() as session:
        shown = f"{jobs.get(session, job.id)}"
    assert "salt" not in shown
    return str(job.problem["detail"])


@pytest.mark.parametrize("source", ["camels", "caravan", "benchmarks"])
def test_files_outside_the_folders_pipes_and_devices_are_refused_by_name(
    country_jobs: InProcessJobs, tmp_path: Path, source: str
) -> None:
    incoming = tmp_path / "incoming"
    incoming.mkdir()
    (tmp_path / "shadow").write_text(SECRET)
    os.mkfifo(incoming / "fifo")
    (incoming / "link").symlink_to(tmp_path / "shadow")
    elsewhere = [Path("/dev/zero"), Path("/etc/shadow"), Path("/proc/self/mem")]
    for path in (tmp_path / "shadow", incoming / "link", *elsewhere):
        sentence = refused(country_jobs, "ingest", **{"source": source, "from": [str(path)]})
        assert sentence.startswith(f"{path}: is not in a folder that jobs read from")
    assert "is not a regular file" in refused(
        country_jobs, "ingest", **{"source": source, "from": [str(incoming / "fifo")]}
    )


def test_tables_are_uploads_or_in_the_folders(country_jobs: InProcessJobs, tmp_path: Path) -> None:
    (tmp_path / "shadow.csv").write_text(SECRET)
    sentence = refused(country_jobs, "upload", product="own", observations_file=str(tmp_path / "shadow.csv"))
    assert "is not in a folder that jobs read from" in sentence


def test_an_address_of_the_own_network_is_not_asked(country_jobs: InProcessJobs) -> None:
    with serving() as inner:
        inner.answers = [whole(SECRET.encode()), status(200)]
        for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]"):
            sentence = refused(
                country_jobs, "ingest", **{"source": "benchmarks", "from": [inner.url("/scores.csv", host)]}
            )
            assert "has no public address" in sentence
    assert inner.requests == []


def test_an_upload_is_deleted_when_it_was_taken_in_or_never_can_be(country_jobs: InProcessJobs, tmp_path: Path) -> None:
    uploads = tmp_path / "uploads"
    uploads.mkdir()
    (tmp_path / "mill.csv").write_text("id,latitude,longitude,area_km2\nOWN-mill,47.1,8.5,12.5\n")
    ingest(work_of(country_jobs.database, country_jobs.clock), TablesSource(tmp_path / "mill.csv", None, "own"))
    (uploads / "good.csv").write_text("basin,date,discharge_cfs\nOWN-mill,2008-04-01,7\n")
    (uploads / "bad.csv").write_text(SECRET)
    (uploads / "future.csv").write_text("basin,date,discharge_cfs\nOWN-mill,2008-04-01,7\nOWN-mill,2030-01-01,7\n")
    good = country_jobs.post("upload", None, product="own", observations_file=str(uploads / "good.csv"))
    assert country_jobs.ended(good.id).status == "succeeded"
    refused(country_jobs, "upload", product="own", observations_file=str(uploads / "bad.csv"))
    sentence = refused(country_jobs, "upload", product="own", observations_file=str(uploads / "future.csv"))
    assert "line 3: discharge_cfs on 2030-01-01 (7) is of a day that has not ended at OWN-mill" in sentence
    assert list(uploads.iterdir()) == []
