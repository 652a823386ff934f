"""The option for the unit of discharge; apart, as units need numpy."""

from typing import Annotated

from freshet.cli.options import option
from hydrology.base.units import Units

DischargeUnits = Annotated[Units, option("UNIT", "Of discharge: m3/s, mm/day or cfs.", "--units")]
