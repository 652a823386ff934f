"""The commands of docs/do/tomorrow.md, as they are printed, against a server that answers as the services do."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from hydrology.base.calendar import Period
from hydrology.base.series import DailySeries
from hydrology.base.units import Area, converted
from testing.feed_services.server import serving
from testing.feed_services.world import Gauge, World
from testing.synthetic.basins import landscape, water, weather
from tests.freshet.conftest import Freshet

PAGE = Path(__file__).parents[3] / "docs" / "do" / "tomorrow.md"
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


def blocks(kind: str) -> list[list[str]]:
    """Return the lines of each of the page's blocks of a kind."""
    texts = re.findall(rf"^```{kind}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return [text.splitlines() for text in texts]


def row(lines: list[str]) -> list[str]:
    """Return the cells of the basin's row in a table."""
    (line,) = (line for line in lines if line.startswith(f"{BASIN}  "))
    return re.split(r"  +", line.strip())


def flows(cells: list[str]) -> list[float]:
    """Return the numbers of m3/s in a row: the median and the quantiles beside it."""
    return [float(text) for text in re.findall(r"\d+\.\d+", " ".join(cells))]


@pytest.mark.extended
def test_the_page_leads_from_nothing_to_tomorrows_flow(newcomer: Newcomer) -> None:
    commands, more = blocks("sh")
    assert len(commands) == 6
    result = [newcomer(command) for command in commands][-1]
    (answer,) = blocks("text")
    *shown, run, reason = row(result.splitlines())
    printed = row(answer)
    assert flows(shown) == pytest.approx(flows(printed), rel=0.01)
    assert [shown[at] for at in (0, 1, 2, 3, 6, 7)] == [printed[at] for at in (0, 1, 2, 3, 6, 7)]
    assert reason == "-"
    for sentence in (result, newcomer(f"freshet runs {run}")):
        assert "It learnt from maurer_extended and is driven by open_meteo_ifs." in sentence
        assert re.search("Assumed at the mean of those basins, [^:]*: elev_mean, slope_mean, frac_forest", sentence)
    for command in more:
        newcomer(command)
    newcomer.world.now += timedelta(days=1)
    assert row(newcomer(commands[-1]).splitlines())[1:4] == ["issued", "2026-11-20", "2026-11-24"]
