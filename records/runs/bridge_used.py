"""A bridge that converted a run's weather of a basin, stored as JSON with it: it outlives the next fit."""

from dataclasses import dataclass

from hydrology.base.errors import counted
from records.database.json_columns import CLOSED


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBridge:
    """A bridge, as in `records.weather.bridges`.

    Attributes:
        model: of the weather forecasts that it converts; None for observed weather and forecasts that continue it.
        pooled_from: the similar basins that it was fitted in; empty if it was fitted here.
        precipitation_bias: relative, on days outside the fit; None if it is pooled, as the next one.
        precipitation_correlation: correlation of the daily values on these days.
        sha256: checksum of its corrections.
    """

    __pydantic_config__ = CLOSED

    id: str
    name: str
    from_product: str
    to_product: str
    model: str | None
    pooled_from: tuple[str, ...]
    precipitation_bias: float | None
    precipitation_correlation: float | None
    sha256: str

    @property
    def note(self) -> str:
        """Its skill, in a sentence without the full stop."""
        source = self.from_product
        if self.model is not None:
            source = f"A weather forecast of {self.model}, of which {source} holds past ones,"
        way = f"{source} is bridged to {self.to_product}"
        if self.precipitation_bias is None:
            count = len(self.pooled_from)
            return (
                f"{way} as in {counted(count, 'basin')} like this one: there are too few days to fit it, or "
                "to judge it, here"
            )
        worth = (
            f"{way}: on water years that it was not fitted on, precipitation is {self.precipitation_bias:+.0%} off in "
            "its sum"
        )
        if self.precipitation_correlation is None:
            return worth
        return f"{worth}, and its daily values have a correlation of {self.precipitation_correlation:.2f}"
