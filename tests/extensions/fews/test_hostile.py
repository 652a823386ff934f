"""What is read of a run is hostile until it is checked."""

from pathlib import Path

import netCDF4
import numpy as np
import pytest

from extensions.fews import netcdf_series, xml_series
from extensions.fews.adapter import prepared
from extensions.fews.run_file import opened, read
from hydrology.base.errors import InvalidInput, Problem
from ingestion import base
from ingestion.base import SourceError
from testing.files.fews import ROOT, run_xml, stamped

pytestmark = pytest.mark.extended

TIMES = {"start": stamped("2004-10-01"), "time0": stamped("2005-05-01"), "end": stamped("2005-05-11")}
LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'
EXTERNAL = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


def written(folder: Path, content: str) -> Path:
    """Write a run file."""
    file = folder / "run.xml"
    file.write_text(content)
    return file


@pytest.mark.parametrize("prologue", [LAUGHS, EXTERNAL, "<!DOCTYPE Run>"])
def test_document_types_and_entities_are_refused(tmp_path: Path, prologue: str) -> None:
    with pytest.raises(SourceError, match="has a document type"):
        opened(written(tmp_path, prologue + run_xml(**TIMES)))
    with pytest.raises(SourceError, match="has a document type"):
        list(xml_series.read(f"{prologue}<TimeSeries {ROOT}/>".encode(), "forcing.xml"))


@pytest.mark.parametrize(
    "content", ["", "<Run", "<Run/>", f"<TimeSeries {ROOT}/>", "\0", '<?xml version="1.0" encoding="u7"?><a/>']
)
def test_what_is_no_run_file_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(SourceError, match=r"run.xml: is not (XML|a Run)"):
        opened(written(tmp_path, content))


def test_a_file_that_is_larger_than_any_of_data_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "LARGEST_FILE", 100)
    with pytest.raises(SourceError, match="bytes, where a file of this kind has less"):
        opened(written(tmp_path, run_xml(**TIMES)))


@pytest.mark.parametrize("path", ["/etc/passwd", "../../other.xml", "out/../../../x.xml", "away/flow.xml", ".", "run/"])
@pytest.mark.parametrize("element", ["outputDiagnosticFile", "outputTimeSeriesFile", "inputTimeSeriesFile"])
def test_paths_outside_the_runs_folders_are_refused(tmp_path: Path, path: str, element: str) -> None:
    folder = tmp_path / "module" / "run"
    folder.mkdir(parents=True)
    (folder / "away").symlink_to(tmp_path)
    if path == "run/":
        path = str(folder)
    content = run_xml(**TIMES).replace(
        {"outputDiagnosticFile": "log/diag.xml", "outputTimeSeriesFile": "out/flow.xml"}.get(element, "in/forcing.xml"),
        path,
    )
    with pytest.raises(InvalidInput, match=f"{element} lies outside workDir"):
        read(opened(written(folder, content)))


@pytest.mark.parametrize("work", ["/", "../..", "nowhere", "/etc/passwd"])
def test_a_working_directory_is_a_folder_and_not_everything(tmp_path: Path, work: str) -> None:
    file = written(tmp_path, run_xml(**TIMES, work=f"<workDir>{'/' if work == '../..' else work}</workDir>"))
    with pytest.raises(InvalidInput, match="workDir is not a folder of this machine, or is its root"):
        opened(file)


def test_a_working_directory_may_be_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "from").mkdir()
    run = read(opened(written(tmp_path / "from", run_xml(**TIMES, work=f"<workDir>{tmp_path / 'work'}</workDir>"))))
    assert run.output_series == tmp_path / "work" / "out" / "flow.xml"
    assert run.series == (tmp_path / "work" / "in" / "forcing.xml",)


def series(header: str = "", event: str = "", step: str = '<timeStep unit="day"/>') -> bytes:
    """Return a document with one series."""
    needed = "<type>mean</type><locationId>1</locationId><parameterId>tmax</parameterId>"
    content = f"<series><header>{header or needed}{step}<missVal>-999</missVal></header>{event}</series>"
    return f"<TimeSeries {ROOT}><timeZone>1</timeZone>{content}</TimeSeries>".encode()


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (series(header="<type>mean</type>"), "without locationId"),
        (
            series(header="<type>sum</type><locationId>1</locationId><parameterId>tmax</parameterId>"),
            "a type other than",
        ),
        (series(step='<timeStep unit="hour"/>'), "timeStep is not a day"),
        (series(step='<timeStep unit="nonequidistant"/>'), "timeStep is not a day"),
        (series(step='<timeStep unit="day" divider="0"/>'), "timeStep is not a day"),
        (series(event='<event date="2005-02-30" time="00:00:00" value="1"/>'), "a date or a time"),
        (series(event='<event date="2005-02-03" time="00:00:00+01:00" value="1"/>'), "a date or a time"),
        (series(event='<event date="2005-02-03" time="00:00:00" value="dry"/>'), "a value that is not a number"),
        (series(event='<event date="2005-02-03" time="00:00:00"/>'), "a value that is not a number"),
        (series(event='<event date="2005-02-03" time="00:00:00" value="1" flag="bad"/>'), "flag that is not a number"),
        (series().replace(b"<timeZone>1<", b"<timeZone>nan<"), "a timeZone that is not a number"),
        (series().replace(b"<header>", b"<head>").replace(b"</header>", b"</head>"), "without a header"),
    ],
)
def test_an_unusable_series_is_refused_with_the_reason(content: bytes, cause: str) -> None:
    with pytest.raises(SourceError, match=cause):
        list(xml_series.read(content, "forcing.xml"))


def test_a_file_that_is_not_netcdf_is_refused() -> None:
    for content in (b"", b"CDF\x01", b"CDF\x01" + bytes(100), b"\x89HDF\r\n\x1a\n" + bytes(100)):
        with pytest.raises(SourceError, match=r"NetCDF|has not a time"):
            list(netcdf_series.read(content, "forcing.nc"))


def test_bounds_of_netcdf_are_checked_and_their_end_is_the_stamp(tmp_path: Path) -> None:
    def content(first: int, length: int) -> bytes:
        path = tmp_path / "forcing.nc"
        with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as dataset:
            for axis, size in (("time", 3), ("station", 1), ("letters", 8), ("nv", 2)):
                dataset.createDimension(axis, size)
            time = dataset.createVariable("time", "f8", ("time",))
            time.setncatts({"standard_name": "time", "units": "hours since 2008-09-20", "bounds": "time_bnds"})
            time[:] = 24 * np.arange(3)
            bounds = dataset.createVariable("time_bnds", "f8", ("time", "nv"))
            bounds[:] = 24 * np.arange(3)[:, None] + [first, first + length]
            station = dataset.createVariable("id", "S1", ("station", "letters"))
            station.cf_role = "timeseries_id"
            station[:] = netCDF4.stringtochar(np.array(["mill"], "S8"))
            dataset.createVariable("precipitation", "f4", ("time", "station"))[:] = 1
        return path.read_bytes()

    (given,) = netcdf_series.read(content(0, 24), "forcing.nc")
    assert str(given.stamps[0]) == "2008-09-21T00:00:00"
    for first, length in ((0, 23), (24, -24), (0, 168), (48, 24)):
        with pytest.raises(SourceError, match=r"forcing\.nc: has time_bnds\[0\]"):
            list(netcdf_series.read(content(first, length), "forcing.nc"))


def test_every_failure_writes_the_diagnostics(tmp_path: Path) -> None:
    file = written(tmp_path, run_xml(**TIMES))
    diagnostics = tmp_path / "log" / "diag.xml"
    with pytest.raises(Problem, match="creek"), prepared(file):
        raise InvalidInput("The <creek> is\x01 dry.")
    assert 'level="0" description="The &lt;creek&gt; is? dry."' in diagnostics.read_text()
    with pytest.raises(ZeroDivisionError), prepared(file):
        raise ZeroDivisionError("the river is a point")
    assert "Freshet failed: ZeroDivisionError: the river is a point" in diagnostics.read_text()
