"""The commands of docs/do/tomorrow.md, as they are printed, against a server that answers as the services do."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from hydrology.base.calendar import Period
from hydrology.base.series import DailySeries
from hydrology.base.units import Area, converted
from testing.feed_services.server import serving
from testing.feed_services.world import Gauge, World
from testing.synthetic.basins import landscape, water, weather
from tests.freshet.conftest import Freshet
from tests.guide.follow import assert_as_printed
from tests.guide.pages import BY_NAME, blocks

BASIN = "USGS-01031500"
ISSUE_DAY = datetime(2026, 11, 22, 14, tzinfo=UTC)
KNOWN = Period.parse("2018-01-01..2026-12-31")
AREA_M2 = 7.69e8


def gauge() -> Gauge:
    """Return a synthetic river where the page's gauge is."""
    land = landscape(3)
    sky = weather(land, KNOWN, seed=1)
    flow = converted(
        water(land, sky, KNOWN.days).discharge[:, 1], unit="mm/day", into="cfs", area=Area("synthetic", AREA_M2)
    )

    def series(values: object, unit: str) -> DailySeries:
        numbers = np.array(values, dtype=np.float64)
        return DailySeries(KNOWN.first, numbers, np.zeros(len(KNOWN), dtype=np.uint8), unit)

    units = {"precipitation": "mm/day", "tmax": "degC", "tmin": "degC", "srad": "W/m2", "vp": "Pa"}
    return Gauge(
        *(BASIN, 45.17, -69.31, AREA_M2, series(flow, "cfs")),
        {name: series(getattr(sky, name)[:, 1], unit) for name, unit in units.items()},
    )


@dataclass
class Newcomer:
    """Somebody with nothing but the command line, and services with an archive that is two days late."""

    freshet: Freshet
    world: World
    url: str

    def __call__(self, command: str) -> str:
        """Run a command as it is printed, see that it succeeds, and return its output."""
        program, *arguments = shlex.split(command)
        assert program == "freshet"
        ended = self.freshet(
            *arguments,
            FRESHET_USGS_URL=f"{self.url}/ogcapi/v0",
            FRESHET_USGS_RATINGS_URL=f"{self.url}/stac/v0",
            FRESHET_NWPS_URL=f"{self.url}/nwps/v1",
            FRESHET_OPEN_METEO_ARCHIVE_URL=self.url,
            FRESHET_OPEN_METEO_FORECAST_URL=self.url,
            FRESHET_INGEST_HOSTS=self.url.removeprefix("http://"),
            FRESHET_AS_OF=self.world.now.isoformat(),
        )
        assert ended.code == 0, f"{command}\n{ended.out}{ended.err}"
        return ended.out + ended.err


@pytest.fixture
def newcomer(freshet: Freshet) -> Iterator[Newcomer]:
    world = World({BASIN: gauge()}, ISSUE_DAY, weather_latency=2)
    with serving(world) as url:
        yield Newcomer(freshet, world, url)


def row(output: str) -> list[str]:
    """Return the cells of the basin's row in a table."""
    (line,) = (line for line in output.splitlines() if line.startswith(f"{BASIN}  "))
    return re.split(r"  +", line.strip())


@pytest.mark.extended
def test_the_page_leads_from_nothing_to_tomorrows_flow(newcomer: Newcomer) -> None:
    page, more = blocks(BY_NAME["tomorrow"])
    commands = page.code.splitlines()
    assert len(commands) == 6
    result = [newcomer(command) for command in commands][-1]
    assert_as_printed(page, result)
    for sentence in (result, newcomer(f"freshet runs {row(result)[-2]}")):
        assert "It learnt from maurer_extended and is driven by open_meteo_ifs." in sentence
        assert re.search("Not known here and assumed, [^:]*: elev_mean, slope_mean, frac_forest", sentence)
    for command in more.code.splitlines():
        newcomer(command)
    newcomer.world.now += timedelta(days=1)
    assert row(newcomer(commands[-1]))[1:4] == ["issued", "2026-11-20", "2026-11-24"]
