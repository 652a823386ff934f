"""A synthetic country of a chosen number of basins, 29 years long, stored by the project's own ingest."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Period
from hydrology.base.series import DailySeries, Flag
from ingestion.base import BasinData, SourceFile, SourceSeries
from jobspec.training import STATIC_ATTRIBUTES
from testing.synthetic.basins import MAX_BASINS, Landscape, Weather, landscape, weather

PRODUCT = "synthetic"
PERIOD = Period.parse("1980-01-01..2008-12-31")  # as long as the extended Maurer forcing of CAMELS-US
UNITS = {"precipitation": "mm/day", "srad": "W/m2", "tmax": "degC", "tmin": "degC", "vp": "Pa", "daylength": "s"}

_FILE = SourceFile("synthetic weather", "0" * 64, 0)
_RUNOFF = 0.4  # of the rain of a day: there must be a gauge to train against, and no speed depends on its values


@dataclass(frozen=True, slots=True)
class SyntheticCountry:
    """A source of `count` basins whose weather is computed in memory: six variables of forcing, and discharge."""

    count: int

    def basins(self) -> list[str]:
        """Return the basins' identifiers, sorted."""
        return [f"SYNTH-{number:03d}" for number in range(1, self.count + 1)]

    def read(self, basin: str) -> BasinData:
        """Return a basin's series and 27 attributes."""
        part, column = divmod(int(basin.removeprefix("SYNTH-")) - 1, MAX_BASINS)
        land, sky = _part(part)
        attributes = np.random.default_rng(column).normal(size=len(STATIC_ATTRIBUTES))
        forcing = {(PRODUCT, name): (getattr(sky, name)[:, column], unit) for name, unit in UNITS.items()}
        rain = {"p_mean": float(sky.precipitation[:, column].mean())}  # or the check of units would refuse the weather
        gauge = {("synth", "discharge"): (_RUNOFF * sky.precipitation[:, column], "mm/day")}
        return BasinData(
            basin=basin,
            name=None,
            latitude=float(land.latitude[column]),
            longitude=float(land.longitude[column]),
            huc=None,
            areas={PRODUCT: float(land.area[column])},
            attributes=dict(zip(STATIC_ATTRIBUTES, attributes.tolist(), strict=True)) | rain,
            texts={},
            series=tuple(SourceSeries(*key, _daily(*given), _FILE) for key, given in (forcing | gauge).items()),
            files=(_FILE,),
        )


@lru_cache(1)  # the basins are read in turn
def _part(number: int) -> tuple[Landscape, Weather]:
    """Return the same landscape under the weather of another seed: no more than MAX_BASINS lie in one."""
    land = landscape(MAX_BASINS)
    return land, weather(land, PERIOD, seed=number)


def _daily(values: npt.NDArray[np.float64], unit: str) -> DailySeries:
    flags = np.full(len(values), Flag.APPROVED, dtype=np.uint8)
    return DailySeries(PERIOD.first, values.astype(np.float32), flags, unit)
