"""States in files: the cells of an ensemble in some basins at the end of a day, to resume from elsewhere.

A file is safetensors: the arrays of all members, and a header with their owner. Any other ensemble refuses it, and it
cannot be used for any other basin.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import torch
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from hydrology.base.calendar import Day, day
from hydrology.base.digests import named_arrays_sha256
from hydrology.base.errors import DataProblem
from models import checkpoint
from models.ensemble import ArrayMap, Ensemble


class UnusableState(DataProblem):
    """A saved state is damaged, or belongs to another ensemble, basin or day."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The ensemble of a state. The fingerprint of its weights, and its forcing product."""

    weights: str
    product: str


@dataclass(frozen=True, slots=True)
class SavedState:
    """The cells at the end of a day, the last that it has consumed: named arrays (B, ...), one map per member.

    `spin_up_days` are, by basin, those since its store was empty.
    """

    owner: Owner
    basins: tuple[str, ...]
    day: Day
    spin_up_days: tuple[int, ...]
    members: Sequence[ArrayMap]

    def of(self, basins: Sequence[str]) -> "SavedState":
        """Return the state of some of its basins, in the given order; `UnusableState` where it lacks one."""
        if missing := [basin for basin in basins if basin not in self.basins]:
            raise UnusableState(
                f"The state is of {', '.join(self.basins[:5])} and does not contain {', '.join(missing[:5])}: "
                "give the state of these basins, or begin without one."
            )
        rows = [self.basins.index(basin) for basin in basins]
        members = [{name: values[rows] for name, values in member.items()} for member in self.members]
        return SavedState(self.owner, tuple(basins), self.day, tuple(self.spin_up_days[row] for row in rows), members)


def _shown(name: str) -> str:
    if not name.isprintable():
        raise ValueError("it holds what cannot be shown")
    return name


_Name = Annotated[str, AfterValidator(_shown)]


class _Header(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    form: Literal[1] = 1
    weights: _Name
    product: _Name
    basins: list[_Name] = Field(min_length=1)
    day: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]
    spin_up_days: list[Annotated[int, Field(ge=1)]]
    content: str


def dump(state: SavedState) -> bytes:
    """Encode a state as the bytes of a file."""
    arrays = {name: np.stack([member[name] for member in state.members]) for name in state.members[0]}
    header = _Header(
        weights=state.owner.weights,
        product=state.owner.product,
        basins=list(state.basins),
        day=str(state.day),
        spin_up_days=list(state.spin_up_days),
        content=named_arrays_sha256(arrays),
    )
    return checkpoint.dump({name: torch.as_tensor(values) for name, values in arrays.items()}, header.model_dump())


def parse(content: bytes, owner: Owner, ensemble: Ensemble) -> SavedState:
    """Decode the result of `dump`; the ensemble determines the names, shapes and dtypes of states.

    UnusableState: it belongs to another owner, is damaged, or was never a state.
    """
    try:
        tensors, fields = checkpoint.parse(content)
        header = _Header.model_validate(fields)
        last = day(header.day)
    except (DataProblem, ValidationError):
        raise _damaged("cannot be read") from None
    if (header.weights, header.product) != (owner.weights, owner.product):
        raise UnusableState(
            f"The state belongs to another model (weights {header.weights[:12]}, {header.product}; these are "
            f"{owner.weights[:12]}, {owner.product}): give one that this model wrote, or begin without one."
        )
    empty, members = ensemble.networks[0].empty_state(len(header.basins)), len(ensemble.networks)
    wanted = {name: ((members, *tensor.shape), tensor.dtype) for name, tensor in empty.items()}
    found = {name: (tuple(tensor.shape), tensor.dtype) for name, tensor in tensors.items()}
    if found != wanted or len(header.spin_up_days) != len(header.basins):
        raise _damaged("does not fit the networks")
    arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
    finite = all(np.isfinite(values).all() for values in arrays.values())
    if header.content != named_arrays_sha256(arrays) or not finite:
        raise _damaged("does not hold what was written")
    if ensemble.conserving and (arrays["c"] < 0).any():
        raise _damaged("has cells with less than no water")
    of_members = [{name: values[member] for name, values in arrays.items()} for member in range(members)]
    return SavedState(owner, tuple(header.basins), last, tuple(header.spin_up_days), of_members)


def _damaged(how: str) -> UnusableState:
    return UnusableState(f"The state {how}: fetch it again, or begin without one.")
