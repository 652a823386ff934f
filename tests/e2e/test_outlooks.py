"""Every reader shows the outlooks of stores that the service itself has filled."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from records.database.engine import Database
from testing.country import BASINS
from testing.filled_store import FILLED_UNTIL, fill
from tests.app.conftest import serving
from tests.app.outlooks.readers import READERS, Shown
from tests.freshet.conftest import Freshet, freshet

__all__ = ["freshet"]

pytestmark = pytest.mark.extended

REAL: tuple[str, ...] = (
    *("01022500", "01031500", "02011400", "03439000", "04015330", "05057200"),
    *("06221400", "08013000", "09081600", "11264500", "12010000", "13235000"),
)
"""Twelve basins of CAMELS-US, of rain, snow and both."""
ARCHIVES = ("maurer_extended.zip", "basin_timeseries_v1p2_metForcing_obsFlow.zip", "camels_attributes_v2.0")
T0, AT = "1997-03-14", datetime(1997, 3, 15, 12, tzinfo=UTC)


def faults(url: str, at: datetime, basins: tuple[str, ...]) -> list[str]:
    """Return how readers contradict the outlooks of basins."""
    database, found = Database(url), []
    with serving(url, at, requests_per_minute=1_000_000) as client:
        for basin in basins:
            shown = Shown(client, database, basin)
            assert shown.outlook["peak"] is not None or shown.outlook["missing"]["peak"]
            assert shown.sentence == shown.forecast["in_words"]
            found += [f"{basin}: {fault}" for reader in READERS for fault in reader.faults(shown)]
    database.close()
    return found


def test_readers_show_the_outlooks_of_a_store_with_adjusted_and_held_forecasts(
    worked_file: Path, tmp_path: Path
) -> None:
    url = f"sqlite:///{shutil.copy(worked_file, tmp_path / 'freshet.sqlite')}"
    fill(url)
    assert faults(url, FILLED_UNTIL, BASINS) == []


def test_readers_show_the_outlooks_of_real_basins(freshet: Freshet, camels: Path, tmp_path: Path) -> None:
    named = [part for basin in REAL for part in ("--basin", basin)]
    url = f"sqlite:///{tmp_path / 'freshet.sqlite'}"
    for command in (
        ("ingest", "camels", *(part for name in ARCHIVES for part in ("--from", str(camels / name))), *named),
        ("models", "install-pretrained", "--promote"),
        ("forecast", "--t0", T0, "--horizon", "10", *named),
    ):
        result = freshet(*command, FRESHET_DATABASE_URL=url, FRESHET_AS_OF=AT.isoformat())
        assert result.code == 0, result.err
    assert faults(url, AT, tuple(f"USGS-{basin}" for basin in REAL)) == []
