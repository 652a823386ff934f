"""What other programs leave for Freshet: the files of Delft-FEWS, and backups."""

import json
import shutil
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import numpy as np

from benchmarks.fuzz.target import Target, laid_down, scratch
from extensions.fews import netcdf_series, run_file, states, xml_series
from extensions.fews.run_file import FewsLocations
from hydrology.base.calendar import day
from records.database.engine import Database
from records.upkeep import backup
from runtime.settings import Settings
from testing.files import fews as files

DAYS = {"start": files.stamped("2004-10-01"), "time0": files.stamped("2005-05-01"), "end": files.stamped("2005-05-11")}
CREATED_AT = datetime(2026, 11, 22, tzinfo=UTC)


def _members() -> files.Members:
    values = {name: np.array([1.0, 2.5, np.nan]) for name in files.NAMES}
    return {"0": {"creek": values}, "1": {"creek": values}}


def _series() -> list[bytes]:
    members = _members()
    return [
        files.pi_xml(members, day("2005-05-01")).encode(),
        files.pi_xml({None: members["0"]}, day("2005-05-01")).encode(),
    ]


def _netcdf() -> Iterator[bytes]:
    path = scratch() / "forcing.nc"
    files.write_netcdf(path, _members(), day("2005-05-01"))
    yield path.read_bytes()


def _read_run(content: bytes) -> None:
    run_file.read(run_file.opened(laid_down("run/run.xml", content)))


def _read_description(content: bytes) -> None:
    path = laid_down("run/state.xml", content)
    states.described(path, FewsLocations.of(path, None))


@cache
def _empty() -> Path:
    """Return a SQLite database at this code's revision, without a row."""
    path = scratch() / "empty.sqlite"
    database = Database(f"sqlite:///{path}")
    database.migrate()
    database.close()
    return path


def _archive(rows: bytes) -> bytes:
    """Return a backup with some rows, whose digests are right."""
    manifest = {
        "created_at": CREATED_AT.isoformat(),
        "code_version": "0",
        "row_count": 0,
        "sha256": {backup.ROWS: sha256(rows).hexdigest()},
    }
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr(backup.MANIFEST, json.dumps(manifest))
        opened.writestr(backup.ROWS, rows)
    return archive.getvalue()


def _restore(content: bytes) -> None:
    """Restore into an empty database."""
    folder = scratch() / "restored"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copyfile(_empty(), folder / "freshet.sqlite")
    database = Database(f"sqlite:///{folder / 'freshet.sqlite'}")
    try:
        backup.restore(Settings(data=folder), database, laid_down("backup", content), lambda _done, _total: None)
    finally:
        database.close()


def _rows() -> list[bytes]:
    return [_empty().read_bytes()]


_PI = ("<series>", "<header>", "<event date=", "<timeZone>", "<!DOCTYPE", "&amp;", files.ROOT, "multiplier=")
_CF = ("CDF", "\x89HDF\r\n\x1a\n", "units", "since ", "standard_name", "time", "cf_role", "timeseries_id", "_FillValue")
_ZIP = ("PK\x01\x02", "PK\x05\x06", backup.MANIFEST, backup.ROWS, "sha256")
_SQLITE = ("SQLite format 3", "CREATE TABLE", "CREATE TRIGGER", "alembic_version", "sqlite_sequence")

TARGETS = {
    "backup": Target(
        _restore,
        lambda: [_archive(_empty().read_bytes()), _archive(b"no rows")],
        ("PK\x01\x02", "PK\x05\x06", backup.MANIFEST, backup.ROWS, "sha256"),
        longest=1_048_576,
    ),
    "backup-rows": Target(lambda rows: _restore(_archive(rows)), _rows, _SQLITE, longest=1_048_576, in_c=True),
    "fews-series": Target(lambda content: list(xml_series.read(content, "forcing.xml")), _series, _PI),
    "fews-netcdf": Target(
        lambda content: list(netcdf_series.read(content, "forcing.nc")), _netcdf, _CF, longest=65_536, in_c=True
    ),
    "fews-run": Target(_read_run, lambda: [files.run_xml(**DAYS).encode()], (*_PI, "<workDir>", "<properties>")),
    "fews-state": Target(_read_description, lambda: [files.state_xml(day("2005-04-30")).encode()], _PI),
}
