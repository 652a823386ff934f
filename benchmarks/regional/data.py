"""The basins, the periods and the database of the experiment."""

from dataclasses import dataclass
from pathlib import Path

from benchmarks.regional.sources import fused
from benchmarks.regional.sources.fused import FusedSource
from hydrology.base.calendar import Period
from ingestion.base import Source
from ingestion.sources.camels import CamelsSource
from operations.basin_data.ingest import ingest
from operations.weather.fuse import fuse
from records.database.engine import Database
from records.series import series
from runtime.clock import Clock
from runtime.settings import Settings
from testing.work import work_of

TRAINING, VALIDATION, TEST = "1999-10-01..2008-09-30", "1980-10-01..1989-09-30", "1989-10-01..1999-09-30"
PRODUCT, DAYMET = "maurer_extended", "daymet"
FUSED = "maurer_daymet"
"""The mean of both products, as `freshet weather fuse` derives it."""
BASINS = "basin_lists/447_basin_file.txt"
METRICS = ("nse", "kge", "beta_nse", "flv", "fhv")
"""The scores of every table."""


@dataclass(frozen=True, slots=True)
class Product:
    """A forcing product of the experiment.

    Attributes:
        archives: its zip files, below FRESHET_CAMELS.
        validation: the days on which choices are based, with weather for the warm-up before them.
    """

    archives: tuple[str, ...]
    validation: str = VALIDATION

    @property
    def every_year(self) -> str:
        """All years, from the first that choices are based on."""
        return str(Period(Period.parse(self.validation).first, Period.parse(TRAINING).last))


PRODUCTS = {
    PRODUCT: Product(("maurer_extended.zip",)),
    # Most of its records begin on 1980-10-01, so the first validation year is the warm-up.
    DAYMET: Product(("daymet_400.zip",), "1981-10-01..1989-09-30"),
    **{
        name: Product(("maurer_extended.zip", "daymet_400.zip"), "1981-10-01..1989-09-30")
        for name in (FUSED, *(f"fused-{shift}" for shift in fused.SHIFTS))
    },
}
OTHER_FILES = ("basin_timeseries_v1p2_metForcing_obsFlow.zip", "camels_attributes_v2.0", "swe_reference.zip")
FILES = (*PRODUCTS[PRODUCT].archives, *OTHER_FILES)


def camels() -> Path:
    """Return the folder of CAMELS-US."""
    folder = Settings.load().camels
    if folder is None:
        raise SystemExit("Set FRESHET_CAMELS to the folder of real CAMELS-US data.")
    return folder


def basins(product: str = PRODUCT) -> list[str]:
    """Return the 447 basins that all published models cover, as far as a product covers them."""
    path = camels() / BASINS
    if not path.exists():
        raise SystemExit(f"{path} is missing: FRESHET_CAMELS must name a folder with the list of the 447 basins.")
    every = [f"USGS-{number}" for number in path.read_text().split()]
    if product == PRODUCT:
        return every
    covered = set(CamelsSource([camels() / PRODUCTS[product].archives[-1]]).basins())
    return [basin for basin in every if basin in covered]


def source(product: str = PRODUCT) -> Source:
    """Return the data that the experiment reads: weather of a product, flow, attributes and snow."""
    files = CamelsSource([camels() / name for name in (*PRODUCTS[product].archives, *OTHER_FILES)])
    return FusedSource(files, product.removeprefix("fused-"), TRAINING) if product.startswith("fused-") else files


def opened(product: str = PRODUCT) -> Database:
    """Return the database of FRESHET_DATA with a product's basins in it; those that are missing are ingested."""
    if product == FUSED:
        for part in (PRODUCT, DAYMET):
            opened(part).close()
    database = Database(Settings.load().database_url)
    database.migrate()
    wanted = basins(product)
    with database.reading() as session:
        there = {basin for basin, _ in series.extent(session, wanted, product, ["precipitation"])}
    if missing := [basin for basin in wanted if basin not in there]:
        print(f"{len(missing)} basins of {product} are ingested first")
        work = work_of(database, Clock())
        if product == FUSED:
            _, outcomes = fuse(work, FUSED, (PRODUCT, DAYMET))
        else:
            outcomes = ingest(work, source(product), missing)
        require_all({outcome.basin: outcome.error for outcome in outcomes if outcome.error})
    return database


def require_all(left_out: dict[str, str]) -> None:
    """Stop where basins are left out: fewer of them are another experiment."""
    if left_out:
        raise SystemExit("\n".join([f"{len(left_out)} of the 447 basins cannot serve:", *left_out.values()]))
