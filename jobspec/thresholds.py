"""Requests to set a threshold of flow."""

from typing import Self

from pydantic import ConfigDict, Field, model_validator

from hydrology.base.variables import OBSERVED
from hydrology.uncertainty.exceedance import Direction
from jobspec.fields import Name, RequestModel

HIGHEST = next(one.highest for one in OBSERVED if (one.variable, one.unit) == ("discharge", "m3/s"))
"""Highest discharge of a level, m3/s."""


class FixedLevel(RequestModel):
    """A threshold that an operator sets."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"discharge": 420.0, "direction": "rising"}]})

    discharge: float = Field(gt=0, le=HIGHEST, description="m³/s.")
    direction: Direction = Field(
        "rising", description="The direction in which flow passes it: `rising` for a flood, `falling` for a low flow."
    )


class FloodFrequencySettings(RequestModel):
    """How the floods of a basin's record are analysed."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"regional_skew": -0.17, "regional_skew_error": 0.12, "trend_adjusted": False}]}
    )

    regional_skew: float | None = Field(
        None,
        ge=-3,
        le=3,
        description="Skew of the logarithms of floods in the region, from a published study; null to use the record's.",
    )
    regional_skew_error: float | None = Field(
        None, gt=0, le=10, description="Mean square error of the regional skew; with it, and only with it."
    )
    trend_adjusted: bool = Field(
        False,
        description="Whether floods are moved to the conditions of the record's last year where the test finds a "
        "trend (Mann-Kendall, 5 %), by its slope (Sen).",
    )

    @model_validator(mode="after")
    def _together(self) -> Self:
        if (self.regional_skew is None) != (self.regional_skew_error is None):
            raise ValueError("a regional skew needs its mean square error, and the error the skew: give both or none")
        return self


class NewThreshold(FixedLevel):
    """A threshold and its name."""

    name: Name
