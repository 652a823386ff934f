"""Requests to set a threshold of flow."""

from pydantic import ConfigDict, Field

from hydrology.base.variables import OBSERVED
from hydrology.uncertainty.exceedance import Direction
from jobspec.fields import Name, RequestModel

_HIGHEST = next(one.highest for one in OBSERVED if (one.variable, one.unit) == ("discharge", "m3/s"))


class FixedLevel(RequestModel):
    """A threshold that an operator sets."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"discharge": 420.0, "direction": "rising"}]})

    discharge: float = Field(gt=0, le=_HIGHEST, description="m³/s.")
    direction: Direction = Field(
        "rising", description="The direction in which flow passes it: `rising` for a flood, `falling` for a low flow."
    )


class NewThreshold(FixedLevel):
    """A threshold and its name."""

    name: Name
