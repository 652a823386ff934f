"""What was found of a network's physics: a number a probe, and whether it passes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What a probe found.

    Attributes:
        name: of the probe.
        asks: what was measured.
        unit: of value and limit; `1` for a share.
        limit: the largest value that passes.
        value: the worst of all members, basins and days; None where it is not a finite number.
    """

    name: str
    asks: str
    unit: str
    limit: float
    value: float | None

    @property
    def passes(self) -> bool:
        """Whether the network does as physics does."""
        return self.value is not None and self.value <= self.limit

    @property
    def in_words(self) -> str:
        """What was found, beside the limit."""
        unit = "" if self.unit == "1" else f" {self.unit}"
        measured = "no finite number" if self.value is None else f"{self.value:.1e}{unit}"
        return f"{self.name}: {measured}, at most {self.limit:g}{unit}"
