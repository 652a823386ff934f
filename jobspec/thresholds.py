"""What can be said of a level that an operator sets."""

from pydantic import ConfigDict, Field

from hydrology.base.variables import OBSERVED
from hydrology.uncertainty.exceedance import Direction
from jobspec.fields import Name, RequestModel

_HIGHEST = next(one.highest for one in OBSERVED if (one.variable, one.unit) == ("discharge", "m3/s"))


class FixedLevel(RequestModel):
    """A level that an operator sets."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"discharge": 420.0, "direction": "rising"}]})

    discharge: float = Field(gt=0, le=_HIGHEST, description="m³/s.")
    direction: Direction = Field(
        "rising", description="Which way flow passes it: `rising` for a flood, `falling` for a low flow."
    )


class NewThreshold(FixedLevel):
    """A level and what it is called."""

    name: Name
