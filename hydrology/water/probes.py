"""Results of physics probes: a number per probe, and whether it passes."""

from dataclasses import dataclass

FEW = 0.01
"""Share of members x basins that may fail a question that the network's design does not answer."""


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The result of one probe.

    Attributes:
        asks: the measured quantity.
        unit: of value and limit; `1` for a share.
        limit: the largest value that passes.
        value: the worst of all members, basins and days; None where it is not a finite number.
        reason: why a larger value violates physics; None where `asks` makes it clear.
        failing: the share of members x basins beyond the limit, for a question on the weather of real basins.
        binding: whether failing it prevents promotion. A question is binding where the network's design rules a failure
            out; of any other 1 % of members x basins may fail, and a failure is reported.
    """

    name: str
    asks: str
    unit: str
    limit: float
    value: float | None
    reason: str | None = None
    failing: float | None = None
    binding: bool = True

    @property
    def passes(self) -> bool:
        if self.value is None:
            return False
        return self.value <= self.limit or (not self.binding and self.failing is not None and self.failing <= FEW)

    @property
    def forbids(self) -> bool:
        """Whether it prevents promotion of the version."""
        return self.binding and not self.passes

    @property
    def in_words(self) -> str:
        """The result in words, with the limit."""
        unit = "" if self.unit == "1" else f" {self.unit}"
        measured = "no finite number" if self.value is None else f"{self.value:.1e}{unit}"
        beyond = "" if self.failing is None else f"; {self.failing:.1%} of members and basins are beyond it"
        return f"{self.name}: {measured}, at most {self.limit:g}{unit}{beyond}"
