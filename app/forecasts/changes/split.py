"""A change and its parts, as answers show them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hydrology.attribution.forecast_change import whole_change
from records.runs.run_summary import RunChange

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Split:
    """A change and its parts (orders, parts, days), in the unit of the answer, with the flow of the run."""

    found: RunChange
    after: Array
    parts: Array

    @property
    def change(self) -> Array:
        """The whole change, (days,)."""
        return whole_change(self.parts)
