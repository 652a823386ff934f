"""Trains the error network of an error model (`hydrology.uncertainty.error_network`), in minutes on one core.

What it is trained on are forecasts of a basin's days with tables that were fitted to the other half of the days: where
a table knows a day's own error, it is surer than it will be. The loss is the CRPS of flow, relative to the basin's
standard deviation, and that of the roots of flow, each by quantiles; then the quantiles of u are taken anew, from what
the network leaves.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from typing import Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from hydrology.base.arrays import Array
from hydrology.uncertainty.error_fit import ErrorPairs, Fit, fit
from hydrology.uncertainty.error_model import (
    FLOW_CLASSES,
    GAPS,
    LEVELS,
    BasinErrorModel,
    NetworkInputs,
    Shape,
    errors_of,
    flow_known,
    root,
)
from hydrology.uncertainty.error_network import MAX_FEATURE, MOVES, DaysAhead, ErrorNetwork, Tabled, moved

MIN_DAYS = 30_000
"""Observed days over all basins, such as ten years of nine, a quarter of them in each half of the days: with fewer, the
tables stand alone."""
ROWS = 3000
"""Forecasts of a basin that are learnt from, at most."""
LEADS = (1, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 18, 21, 25, 30)
"""The gaps of these, each as likely."""
HIDDEN, STEPS, BATCH, PEAK_RATE, DECAY = 64, 4000, 2048, 4e-3, 1e-3
MIN_SCALE = 1e-3
"""Added to standard deviations of flow and error, so that a river that never changes divides nothing by 0."""
MIN_ROWS = 500
"""Fewer rows of a gap and class leave its quantiles as those of the table."""

OfBasin = Callable[[Fit, str], BasinErrorModel]
_Half = tuple[Fit, Mapping[str, ErrorPairs]]


def with_networks(fitted: Fit, pairs: Mapping[str, ErrorPairs], steps: int = STEPS) -> Fit:
    """Return an error model with a network for basins with own parameters, and one for others.

    With too few observed days (`MIN_DAYS`) it is returned as it is. Where the half of a basin's days is too short for
    own parameters, the network for basins with own ones does not learn from it: regional ones err in another way.
    """
    halves = _halves(pairs)
    if not _suffice(halves):
        return fitted
    tabled = [(fit(half), other) for half, other in zip(halves, halves[::-1], strict=True)]
    network = _trained(tabled, lambda model, name: _regional(model, pairs[name]), fitted.regional, steps)
    found = replace(fitted, regional=replace(fitted.regional, network=network))
    of_own = [(model, {name: of for name, of in half.items() if model.basins[name].days}) for model, half in tabled]
    if not _suffice([half for _, half in of_own]):
        return found
    own = _trained(of_own, lambda model, name: model.of_basin(name), fitted.shape, steps)
    return replace(found, shape=replace(fitted.shape, network=own))


def _regional(model: Fit, pairs: ErrorPairs) -> BasinErrorModel:
    return BasinErrorModel(model.regional, model.regional.of_basin(pairs.simulated))


def _halves(pairs: Mapping[str, ErrorPairs]) -> list[Mapping[str, ErrorPairs]]:
    return [
        {name: ErrorPairs(*(_part(flow, later) for flow in astuple(basin))) for name, basin in pairs.items()}
        for later in (False, True)
    ]


def _suffice(halves: Sequence[Mapping[str, ErrorPairs]]) -> bool:
    days = [sum(int(np.isfinite(of.observed).sum()) for of in half.values()) for half in halves]
    return sum(days) >= MIN_DAYS and min(days) >= MIN_DAYS / 4


def _part(flow: Array, later: bool) -> Array:
    middle = len(flow) // 2
    return flow[middle:] if later else flow[:middle]


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Forecasts to learn from, (rows, ...): what the network takes, and the error that came."""

    features: npt.NDArray[np.float32]
    memory: Array
    centre: Array
    spread: Array
    last_error: Array
    u: Array
    error: Array
    simulated: Array
    scale_of_flow: Array
    scale_of_error: Array
    gap: Array
    column: Array

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        return cls(*(np.concatenate([getattr(part, one.name) for part in parts]) for one in fields(cls)))


def _trained(halves: Sequence[_Half], of_basin: OfBasin, shape: Shape, steps: int) -> ErrorNetwork:
    chance = np.random.default_rng(0)
    rows = _Rows.joined([part for half in halves for part in _rows(half, of_basin, chance)])
    net = _learn(rows, chance, steps)
    return replace(net, quantiles=_quantiles(net, rows, shape))


def _rows(half: _Half, of_basin: OfBasin, chance: np.random.Generator) -> Iterator[_Rows]:
    model, judged = half
    for name, pairs in judged.items():
        tables = of_basin(model, name)
        errors, table = tables.errors, tables.shape.quantiles
        came = errors_of(errors, pairs.simulated, pairs.observed)
        known = np.flatnonzero(np.isfinite(came[1:])) + 1
        if len(known) < 2:
            continue
        last = chance.choice(known, ROWS // 2)
        at = last + chance.choice(LEADS, len(last))
        inside = at < len(came)
        inside[inside] = np.isfinite(came[at[inside]])
        last, at = last[inside], at[inside]
        ahead = DaysAhead.of(pairs.simulated, came, last, at)
        assert flow_known(ahead).all()
        taken, count = NetworkInputs.of(errors, ahead), len(at)
        relative = pairs.observed / errors.mean_flow
        yield _Rows(
            features=taken.features,
            memory=taken.tabled.memory,
            centre=taken.tabled.centre,
            spread=taken.tabled.spread,
            last_error=ahead.last_errors[:, 0],
            u=taken.at.read(table),
            error=came[at],
            simulated=root(ahead.simulated, errors.mean_flow),
            scale_of_flow=np.full(count, np.nanstd(relative) + MIN_SCALE),
            scale_of_error=np.full(count, np.nanstd(came) + MIN_SCALE),
            gap=ahead.gap,
            column=taken.at.column,
        )


class _Perceptron(nn.Module):
    def __init__(self, inputs: npt.NDArray[np.float32]) -> None:
        super().__init__()
        self.mean, self.scale = (torch.from_numpy(part) for part in (inputs.mean(axis=0), inputs.std(axis=0) + 1e-2))
        self.first, self.second = nn.Linear(inputs.shape[1], HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.last = nn.Linear(HIDDEN, MOVES)
        nn.init.zeros_(self.last.weight)  # it begins as the tables
        nn.init.zeros_(self.last.bias)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the moves of days, (days, `MOVES`)."""
        standard = ((inputs - self.mean) / self.scale).clamp(-MAX_FEATURE, MAX_FEATURE)
        hidden = nn.functional.silu(self.second(nn.functional.silu(self.first(standard))))
        moves: Tensor = self.last(hidden)
        return moves

    def weights(self) -> ErrorNetwork:
        """Return what was learnt, still without quantiles."""
        layers = [
            part.detach().numpy() for one in (self.first, self.second, self.last) for part in (one.weight.T, one.bias)
        ]
        return ErrorNetwork(
            np.zeros(0, np.float32), self.mean.numpy(), self.scale.numpy(), *map(np.ascontiguousarray, layers)
        )


def _learn(rows: _Rows, chance: np.random.Generator, steps: int) -> ErrorNetwork:
    torch.manual_seed(0)
    net = _Perceptron(rows.features)
    tensors = {one.name: torch.from_numpy(np.asarray(getattr(rows, one.name), np.float32)) for one in fields(rows)}
    levels = torch.tensor(LEVELS)
    optimizer = torch.optim.AdamW(net.parameters(), lr=PEAK_RATE, weight_decay=DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, PEAK_RATE, total_steps=steps)
    for _ in range(steps):
        chosen = torch.from_numpy(chance.integers(len(rows.error), size=BATCH))
        loss = _loss(net, {name: values[chosen] for name, values in tensors.items()}, levels)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return net.weights()


def _loss(net: _Perceptron, rows: Mapping[str, Tensor], levels: Tensor) -> Tensor:
    memory, centre, width, skew = net(rows["features"]).T
    middle = (rows["memory"] + memory) * rows["last_error"] + rows["centre"] + centre * rows["spread"]
    sides = torch.where(rows["u"] > 0, (width + skew).exp()[:, None], (width - skew).exp()[:, None])
    errors = middle[:, None] + rows["spread"][:, None] * sides * rows["u"]
    simulated, came = rows["simulated"][:, None], rows["error"][:, None]
    of_flow = ((simulated + came) ** 3 - (simulated + errors).clamp(min=0) ** 3) / rows["scale_of_flow"][:, None]
    of_root = (came - errors) / rows["scale_of_error"][:, None]
    return _pinball(of_flow, levels) + _pinball(of_root, levels)


def _pinball(difference: Tensor, levels: Tensor) -> Tensor:
    return torch.maximum(levels * difference, (levels - 1) * difference).mean()


def _quantiles(net: ErrorNetwork, rows: _Rows, shape: Shape) -> npt.NDArray[np.float32]:
    """Return the quantiles of u by gap and class: of what the network leaves, or the table's where rows are few."""
    centre, above, below = moved(
        net.moves(rows.features), Tabled(rows.memory, rows.centre, rows.spread), rows.last_error
    )
    left = rows.error - centre
    left /= np.where(left > 0, above, below)
    quantiles = shape.quantiles[: len(GAPS)].copy()
    columns, nearest = np.rint(rows.column), np.abs(rows.gap[:, None] - np.array(GAPS)).argmin(axis=1)
    for gap in range(len(GAPS)):
        for column in range(len(FLOW_CLASSES) - 1):
            of_class = left[(nearest == gap) & (columns == column)]
            if len(of_class) >= MIN_ROWS:
                quantiles[gap, column] = np.quantile(of_class, LEVELS)
    return np.asarray(quantiles, np.float32)
