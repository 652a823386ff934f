"""Results of physics probes: a number per probe, and whether it passes."""

from dataclasses import dataclass
from typing import Annotated

from hydrology.base.doc import Doc

FEW = 0.01
"""Share of members x basins that may fail a question that the network's design does not answer."""


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """Result of a physics probe; a version that fails a `binding` one is not promoted."""

    name: str
    asks: Annotated[str, Doc("The measured quantity: the worst of all members.")]
    unit: Annotated[str, Doc("Unit of `value` and `limit`; `1` for a share.")]
    limit: Annotated[float, Doc("The largest value that passes.")]
    value: Annotated[float | None, Doc("Null where the network gave no finite number: that fails.")]
    reason: Annotated[str | None, Doc("Why a larger value is against physics; null where `asks` shows it.")] = None
    failing: Annotated[
        float | None, Doc("The share of members x basins beyond the limit; null for a probe on artificial weather.")
    ] = None
    binding: Annotated[
        bool,
        Doc("False where the network's design does not rule out a failure: it is only reported, and 1 % may fail."),
    ] = True

    @property
    def passes(self) -> Annotated[bool, Doc("Whether it passes.")]:
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
