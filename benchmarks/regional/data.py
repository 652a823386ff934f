"""The basins, the periods and the database of the experiment."""

from pathlib import Path

from ingestion.sources.camels import CamelsSource
from operations.data.ingest import ingest
from records.basins import basins as basin_records
from records.database.engine import Database
from runtime.clock import Clock
from runtime.settings import Settings

TRAINING, VALIDATION, TEST = "1999-10-01..2008-09-30", "1980-10-01..1989-09-30", "1989-10-01..1999-09-30"
EVERY_YEAR = "1980-10-01..2008-09-30"
PRODUCT = "maurer_extended"
BASINS = "basin_lists/447_basin_file.txt"
FILES = (
    "maurer_extended.zip",
    "basin_timeseries_v1p2_metForcing_obsFlow.zip",
    "camels_attributes_v2.0",
    "swe_reference.zip",
)


def camels() -> Path:
    """Return the folder of CAMELS-US."""
    folder = Settings.load().camels
    if folder is None:
        raise SystemExit("Set FRESHET_CAMELS to the folder of real CAMELS-US data.")
    return folder


def basins() -> list[str]:
    """Return the 447 basins that all published models cover."""
    path = camels() / BASINS
    if not path.exists():
        raise SystemExit(f"{path} is missing: FRESHET_CAMELS must name a folder with the list of the 447 basins.")
    return [f"USGS-{number}" for number in path.read_text().split()]


def source() -> CamelsSource:
    """Return the files that the experiment reads."""
    return CamelsSource([camels() / name for name in FILES])


def opened() -> Database:
    """Return the database of FRESHET_DATA with the 447 basins in it; those that are missing are ingested."""
    database = Database(Settings.load().database_url)
    database.migrate()
    with database.reading() as session:
        there = {basin.id for basin in basin_records.list_basins(session)}
    if missing := [basin for basin in basins() if basin not in there]:
        print(f"{len(missing)} basins are ingested first")
        require_all(
            {outcome.basin: outcome.error for outcome in ingest(database, source(), Clock(), missing) if outcome.error}
        )
    return database


def require_all(left_out: dict[str, str]) -> None:
    """Stop where basins are left out: fewer of them are another experiment."""
    if left_out:
        raise SystemExit("\n".join([f"{len(left_out)} of the 447 basins cannot serve:", *left_out.values()]))
