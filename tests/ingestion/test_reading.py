"""Attacks by path: links out of the folders, pipes, devices, sockets, and files without end."""

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

from extensions.caravan.source import CaravanSource
from ingestion.base import ANY_FILES, LARGEST_FILE, Files, Source, SourceError
from ingestion.sources import benchmarks
from ingestion.sources.camels import CamelsSource
from ingestion.sources.tables import TablesSource
from testing.files import camels as write

SECRET = "root:$6$salt$hash:19000:0:99999:7:::\n"
OUTSIDE = "not in a folder that jobs read from"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder that jobs read from, beside one with a secret."""
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "shadow").write_text(SECRET)
    (tmp_path / "incoming").mkdir()
    return tmp_path / "incoming"


def refused(files: Files, path: Path) -> str:
    with pytest.raises(SourceError) as caught:
        files.read(path)
    assert "salt" not in str(caught.value)
    return str(caught.value)


def test_a_file_in_the_folder_is_read_with_its_checksum(root: Path) -> None:
    (root / "deep").mkdir()
    (root / "deep" / "a.csv").write_text("a,b\n")
    file, content = Files((root,)).read(root / "deep" / "a.csv")
    assert (file.name, file.size, content) == (str(root / "deep" / "a.csv"), 4, b"a,b\n")


def test_a_file_outside_the_folders_is_not_read(root: Path) -> None:
    files = Files((root,))
    for path in (root.parent / "etc" / "shadow", root / ".." / "etc" / "shadow", Path("/etc/shadow"), Path("/proc")):
        assert OUTSIDE in refused(files, path)
    assert OUTSIDE in refused(files, root.parent / "incoming-other")


def test_it_is_not_reported_whether_a_file_elsewhere_exists(root: Path) -> None:
    files, there, nowhere = Files((root,)), root.parent / "etc" / "shadow", root.parent / "etc" / "nobody"
    assert refused(files, there).replace("shadow", "nobody") == refused(files, nowhere)


def test_a_link_is_followed_within_the_folders_alone(root: Path) -> None:
    (root / "real.csv").write_text("a\n")
    (root / "inside.csv").symlink_to(root / "real.csv")
    (root / "outside.csv").symlink_to(root.parent / "etc" / "shadow")
    (root / "folder").symlink_to(root.parent / "etc")
    (root / "loop").symlink_to(root / "loop")
    files = Files((root,))
    assert files.read(root / "inside.csv")[1] == b"a\n"
    assert OUTSIDE in refused(files, root / "outside.csv")
    assert OUTSIDE in refused(files, root / "folder" / "shadow")
    assert "cannot be read" in refused(files, root / "loop")


def test_a_folder_may_itself_be_named_by_a_link(root: Path) -> None:
    (root / "a.csv").write_text("a\n")
    (root.parent / "link").symlink_to(root)
    assert Files((root.parent / "link",)).read(root / "a.csv")[1] == b"a\n"
    assert Files((root,)).read(root.parent / "link" / "a.csv")[1] == b"a\n"


@pytest.mark.parametrize("swapped", ["file", "folder"])
def test_a_link_put_in_place_after_the_check_is_not_followed(
    root: Path, monkeypatch: pytest.MonkeyPatch, swapped: str
) -> None:
    (root / "data").mkdir()
    (root / "data" / "shadow").write_text("a\n")
    resolve = os.path.realpath

    def resolve_then_swap(path: Path) -> str:
        resolved = resolve(path)
        if Path(path).name == "shadow":
            (root / "data").rename(root.parent / "moved")
            if swapped == "folder":
                (root / "data").symlink_to(root.parent / "etc")
            else:
                (root / "data").mkdir()
                (root / "data" / "shadow").symlink_to(root.parent / "etc" / "shadow")
        return resolved

    monkeypatch.setattr(os.path, "realpath", resolve_then_swap)
    assert "cannot be read" in refused(Files((root,)), root / "data" / "shadow")


@pytest.fixture
def strange(root: Path) -> Iterator[list[Path]]:
    """Paths that are not regular files: a FIFO that nobody writes to, a device without end, a socket, a folder."""
    os.mkfifo(root / "fifo")
    (root / "zero").symlink_to("/dev/zero")
    (root / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "socket"))
        yield [root / name for name in ("fifo", "zero", "folder", "socket")]


def test_a_path_that_is_not_a_regular_file_is_refused_at_once(root: Path, strange: list[Path]) -> None:
    for files in (ANY_FILES, Files((root, Path("/dev")))):
        for path in strange:
            assert any(cause in refused(files, path) for cause in ("not a regular file", "No such device"))


def test_every_source_refuses_them(root: Path, strange: list[Path]) -> None:
    files = Files((root, Path("/dev")))
    for path in strange:
        if not path.is_dir():
            for source in (CamelsSource, CaravanSource):
                with pytest.raises(SourceError):
                    source([path], files=files)
        with pytest.raises(SourceError):
            benchmarks.read(path, files)
        with pytest.raises(SourceError):
            TablesSource(path, None, "own", files=files)


def test_a_file_larger_than_any_file_of_data_is_not_read(root: Path) -> None:
    with (root / "large").open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    assert f"{LARGEST_FILE + 1} bytes" in refused(Files((root,)), root / "large")


@pytest.mark.parametrize("path", ["/a\0b", "/a\ud800b", "a\nb" * 2000])
def test_an_invalid_path_is_refused_in_a_sentence_that_can_be_stored(root: Path, path: str) -> None:
    sentence = refused(Files((root,)), Path(path))
    assert sentence.isprintable()
    assert len(sentence.encode()) < 2000


def held(source: Source) -> list[str]:
    return source.basins()


def test_sources_read_below_the_folders_alone(root: Path) -> None:
    flow = {write.FLOW_PATH: write.streamflow()}
    write.folder(root / "inside", flow)
    write.folder(root.parent / "outside", flow)
    write.zipped(root.parent / "outside.zip", flow)
    (root / "link").symlink_to(root.parent / "outside")
    (root / "link.zip").symlink_to(root.parent / "outside.zip")
    files = Files((root,))
    assert held(CamelsSource([root / "inside"], files=files)) == [write.BASIN]
    for path in (root.parent / "outside", root.parent / "outside.zip", root / "link", root / "link.zip"):
        with pytest.raises(SourceError, match=OUTSIDE):
            CamelsSource([path], files=files)
        with pytest.raises(SourceError, match=OUTSIDE):
            CaravanSource([path], files=files)


def test_a_link_within_a_folder_of_data_does_not_lead_out(root: Path) -> None:
    path = root / write.FLOW_PATH
    path.parent.mkdir(parents=True)
    path.symlink_to(root.parent / "etc" / "shadow")
    source = CamelsSource([root], files=Files((root,)))
    with pytest.raises(SourceError, match=OUTSIDE) as caught:
        source.read(write.BASIN)
    assert "salt" not in str(caught.value)


def test_the_caller_is_notified_of_each_file_before_it_is_read(root: Path) -> None:
    folder = write.folder(root / "a", {write.FLOW_PATH: write.streamflow()})
    archive = write.zipped(root / "b.zip", {write.FORCING_PATH: write.forcing(), "camels_topo.txt": write.TOPO})
    names: list[str] = []
    source = CamelsSource([folder, archive], files=Files((root,), names.append))
    source.read(write.BASIN)
    expected = [archive, f"{archive}!camels_topo.txt", folder / write.FLOW_PATH, f"{archive}!{write.FORCING_PATH}"]
    assert names == [str(name) for name in expected]


def test_a_folder_of_too_many_files_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingestion.sources.archives.MAX_FILES", 3)
    write.folder(root, {f"{n}/x": "" for n in range(2)})
    with pytest.raises(SourceError, match="more than 3 files and folders"):
        CamelsSource([root])
    with pytest.raises(SourceError, match="more than 3 members"):
        CamelsSource([write.zipped(root.parent / "a.zip", {f"{n}": "" for n in range(4)})])


def test_a_folder_without_a_bottom_is_refused(root: Path) -> None:
    here = os.open(root, os.O_RDONLY)
    for _ in range(60):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    with pytest.raises(SourceError, match="more than 40 levels"):
        CamelsSource([root])


def test_a_writer_that_comes_later_finds_nobody_waiting(root: Path) -> None:
    os.mkfifo(root / "fifo")
    reader = threading.Thread(target=lambda: refused(Files((root,)), root / "fifo"))
    reader.start()
    reader.join(30)
    assert not reader.is_alive()
    with pytest.raises(OSError, match="No such device"):
        os.open(root / "fifo", os.O_WRONLY | os.O_NONBLOCK)


def test_a_zip_of_links_is_refused(root: Path) -> None:
    from zipfile import ZipInfo

    link = ZipInfo(write.FLOW_PATH)
    link.external_attr = 0o120777 << 16
    with ZipFile(root / "a.zip", "w") as archive:
        archive.writestr(link, "/etc/shadow")
    with pytest.raises(SourceError, match="symbolic link"):
        CamelsSource([root / "a.zip"])
