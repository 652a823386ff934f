"""Simulates past days of basins with observed weather, from an empty store on the first day of a basin's record."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, absent, first_texts
from hydrology.base.arrays import Array
from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem
from hydrology.base.reasons import Reason
from hydrology.uncertainty.weighted import mean_by_shares
from hydrology.water.storage import SPIN_UP_DAYS
from models.forcing import Array as FlowArray
from models.forcing import Forcing, days_of
from models.nets.layers import BLOCK
from operations.basin_data.dataset import BasinForcing, by_record, forcings_of, load_discharge
from operations.versions.load_networks import LoadedVersion, member_weights
from records.database.engine import Database
from records.simulations.snow_cells import SnowMapping


@dataclass(frozen=True, slots=True)
class SimulatedBasin:
    """Simulated and observed flow of a basin over the same days, mm/day.

    The members are (members, days), the observed flow (days,), NaN where missing. The weights of the members,
    (members,), have sum 1; None where all are equal.
    """

    id: str
    record: Period
    members: npt.NDArray[np.floating]
    observed: Array
    assumed: tuple[str, ...]
    weights: Array | None = None


@dataclass(frozen=True, slots=True)
class StoredPart:
    """Some basins whose results are stored, and why others have none."""

    basins: list[str]
    left_out: dict[str, Absent]

    @classmethod
    def failed(cls, names: Sequence[str], reason: Absent) -> Self:
        """Return the outcome of a part that failed."""
        return cls([], dict.fromkeys(names, reason))

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Join parts; DataProblem where no basin has a result."""
        done = [basin for part in parts for basin in part.basins]
        left_out = {basin: reason for part in parts for basin, reason in part.left_out.items()}
        if not done:
            raise DataProblem(f"No basin can be simulated. {first_texts(left_out)}")
        return cls(done, left_out)


def in_blocks(basins: Sequence[str]) -> list[Sequence[str]]:
    """Return basins in blocks that are simulated together."""
    return [basins[first : first + BLOCK] for first in range(0, len(basins), BLOCK)]


@dataclass(frozen=True, slots=True)
class PastDays:
    """Days on which versions are simulated and compared with observed flow, converted with the area of `products`.

    `left_out` receives why a basin has none of either.
    """

    database: Database
    period: Period
    products: Sequence[str]
    left_out: dict[str, Absent] = field(default_factory=dict)

    def pairs(self, loaded: LoadedVersion, basins: Sequence[str]) -> dict[str, tuple[BasinForcing, FlowArray]]:
        """Return basins' forcing, which covers the days, and observed flow, (days,) in mm/day."""
        pairs = {}
        with self.database.reading() as session:
            for basin, found in forcings_of(session, loaded, basins).items():
                forcing = found if isinstance(found, Absent) else found.covering(self.period)
                if isinstance(forcing, Absent):
                    self.left_out[basin] = forcing
                elif isinstance(flow := load_discharge(session, basin, self.products, self.period), Absent):
                    self.left_out[basin] = flow
                else:
                    pairs[basin] = forcing, flow
        return pairs

    def simulated(self, loaded: LoadedVersion, basins: Sequence[str]) -> Iterator[SimulatedBasin]:
        """Yield each basin's simulated and observed flow, where all parts of the version have them."""
        of_parts = [{basin.id: basin for basin in self._of_part(one.loaded, basins)} for one in loaded.parts]
        for name, first in of_parts[0].items():
            found = [of_part[name] for of_part in of_parts if name in of_part]
            if len(found) == len(of_parts):
                yield replace(
                    first,
                    members=np.concatenate([one.members for one in found]),
                    assumed=tuple(dict.fromkeys(attribute for one in found for attribute in one.assumed)),
                    weights=member_weights([one.part.in_basin(name) for one in loaded.parts]),
                )

    def _of_part(self, loaded: LoadedVersion, basins: Sequence[str]) -> Iterator[SimulatedBasin]:
        ready = self.pairs(loaded, basins)
        for record, names, joined in by_record({basin: forcing for basin, (forcing, _) in ready.items()}):
            outputs, _ = loaded.ensemble.simulate(joined, None, ("discharge",))
            of_period = outputs["discharge"][:, :, days_of(record, self.period)]
            for at, basin in enumerate(names):
                forcing, observed = ready[basin]
                if np.isfinite(of_period[:, at]).all():
                    flow = observed.astype(np.float64)
                    yield SimulatedBasin(basin, record, of_period[:, at], flow, forcing.assumed)
                else:
                    self.left_out[basin] = absent(Reason.NETWORK_SKIPS_DAYS, basin=basin, period=str(self.period))


@dataclass(frozen=True, slots=True)
class Past:
    """The mean of the members in one basin, (days,).

    Attributes:
        snow: the part of it in snow cells; None where there are none.
        loss: of each member, the mean after the days on which the store fills (`SPIN_UP_DAYS`), mm/day; None where the
            network does not conserve mass.
    """

    flow: Array
    storage: Array | None
    snow: Array | None
    loss: Mapping[str, float] | None


def simulate_past(loaded: LoadedVersion, forcing: Forcing, snow: Sequence[SnowMapping | None]) -> list[Past]:
    """Simulate basins from an empty store; member by member, holding sums over cells alone."""
    ensemble, members = loaded.ensemble, len(loaded.labels)
    flow, storage, as_snow = (np.zeros(forcing.mass.shape) for _ in range(3))
    wanted = ("discharge", "loss", "storage") if ensemble.conserving else ("discharge",)
    losses: list[dict[str, float]] = [{} for _ in snow]
    for label, (outputs, _) in zip(loaded.labels, ensemble.each(forcing, None, wanted), strict=True):
        flow += outputs["discharge"]
        if not ensemble.conserving:
            continue
        storage += outputs["storage"].sum(axis=-1)
        for of_basin, lost in zip(losses, outputs["loss"][:, SPIN_UP_DAYS:], strict=True):
            of_basin[label] = float(lost.mean(dtype=np.float64)) if len(lost) else 0.0
        for chosen, of_cells, sums in zip(snow, outputs["storage"], as_snow, strict=True):
            if chosen is not None:
                sums += of_cells[:, chosen.cells[label]].sum(axis=-1)
    return [
        Past(
            flow[at] / members,
            storage[at] / members if ensemble.conserving else None,
            as_snow[at] / members if ensemble.conserving and of_basin is not None else None,
            losses[at] if ensemble.conserving else None,
        )
        for at, of_basin in enumerate(snow)
    ]


def mean_past(parts: Sequence[tuple[float, Period, Past]], days: Period) -> Past:
    """Return the weighted mean of a combined version's parts; snow and loss are the parts' own."""
    shares = [weight for weight, _, _ in parts]

    def mean(arrays: Sequence[Array | None]) -> Array | None:
        there = [of[days_of(own, days)] for of, (_, own, _) in zip(arrays, parts, strict=True) if of is not None]
        return mean_by_shares(there, shares) if len(there) == len(parts) else None

    flow = mean([past.flow for _, _, past in parts])
    assert flow is not None
    return Past(flow, mean([past.storage for _, _, past in parts]), None, None)
