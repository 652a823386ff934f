"""Settings of the gates."""

from pydantic import Field

from runtime.settings import EnvironmentSettings


class ShadowSettings(EnvironmentSettings):
    """What a basin or a version must reach before its shadow can be ended.

    Attributes:
        shadow_issues: the fewest forecasts that were issued of each basin, and verified.
        shadow_skill: the least CRPS skill of the calibrated forecasts against persistence, 1 day ahead.
        shadow_coverage_least, shadow_coverage_most: bounds of the share of days, 1 day ahead, on which the observed
            flow lies in the 90 % range.
        shadow_inputs: the least share of forecasts without a past day whose weather was filled.
    """

    shadow_issues: int = Field(30, ge=1)
    shadow_skill: float = Field(0.0, le=1)
    shadow_coverage_least: float = Field(0.8, ge=0, le=1)
    shadow_coverage_most: float = Field(0.98, ge=0, le=1)
    shadow_inputs: float = Field(0.9, ge=0, le=1)
