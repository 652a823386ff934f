"""What a source's data come from: paths, and downloads that are deleted when they have been taken in."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hydrology.base.errors import InvalidInput
from ingestion.base import SourceError
from ingestion.download import DownloadError
from operations.basin_data.sources import DOWNLOAD_DAYS, Intake
from tests.ingestion.servers import Server, serving, whole


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as state:
        state.answers = [whole(b"first"), whole(b"second")]
        yield state


def intake(folder: Path, server: Server) -> Intake:
    """An intake for jobs, whose folder is `incoming`."""
    return Intake(
        folder / "downloads", [server.host], (folder / "incoming",), lambda _done, _total: None, lambda _name: None
    )


def test_downloads_are_read_beside_the_folders_and_deleted(server: Server, tmp_path: Path) -> None:
    (tmp_path / "incoming").mkdir()
    (tmp_path / "incoming" / "b.csv").write_bytes(b"own")
    places = [server.url("/one/a.csv"), str(tmp_path / "incoming" / "b.csv"), server.url("/two/a.csv")]
    with intake(tmp_path, server).of(places) as (paths, files):
        assert [files.read(path)[1] for path in paths] == [b"first", b"own", b"second"]
        with pytest.raises(SourceError, match="not in a folder"):
            files.read(paths[0].with_name("other"))
    assert list((tmp_path / "downloads").iterdir()) == []
    assert paths[1].exists()


def test_files_that_could_not_be_ingested_stay_for_some_days(server: Server, tmp_path: Path) -> None:
    with pytest.raises(SourceError), intake(tmp_path, server).of([server.url()]):
        raise SourceError("a.csv", "is broken", "mend it")
    (folder,) = (tmp_path / "downloads").iterdir()
    (file,) = folder.iterdir()
    assert file.read_bytes() == b"first"
    with intake(tmp_path, server).of([]):
        pass
    assert file.exists()
    old = time.time() - (DOWNLOAD_DAYS + 1) * 86_400
    for path in (file, folder):
        os.utime(path, (old, old))
    with intake(tmp_path, server).of([]):
        pass
    assert not folder.exists()


def test_a_download_that_another_job_reads_is_not_touched(server: Server, tmp_path: Path) -> None:
    place, old = server.url("/a.csv"), time.time() - (DOWNLOAD_DAYS + 1) * 86_400
    with intake(tmp_path, server).of([place]) as ((path,), files):
        for one in (path, path.parent):
            os.utime(one, (old, old))
        with pytest.raises(DownloadError, match="is being read by another job"), intake(tmp_path, server).of([place]):
            pass
        assert files.read(path)[1] == b"first"
    assert not path.parent.exists()


@pytest.mark.parametrize("fragment", ["md5=1", "sha256=1", "top"])
def test_a_fragment_that_is_not_a_checksum_is_refused(server: Server, tmp_path: Path, fragment: str) -> None:
    with (
        pytest.raises(InvalidInput, match="not a checksum"),
        intake(tmp_path, server).of([server.url(f"/a#{fragment}")]),
    ):
        pass
    assert server.requests == []
