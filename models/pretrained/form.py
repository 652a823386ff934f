"""The format of shipped ensembles. A folder with `version.json`, a file per member, and a model card.

`version.json` holds everything but the numbers, and the SHA-256 of every file that holds them; so its own fingerprint
identifies the whole. The weights are in half precision. Nothing of it is ever executed: only JSON and safetensors.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self

import torch
from pydantic import Field, model_validator

from hydrology.base.digests import sha256
from hydrology.base.errors import DataProblem, excerpt
from jobspec.training import TrainingConfig
from models import checkpoint
from models.networks import build
from models.pretrained.files import (
    DamagedEnsemble,
    Frozen,
    Named,
    Sha256,
    Shipped,
    read_description,
    read_file,
    require_named,
)

DESCRIPTION = "version.json"


class ShippedMember(Frozen):
    """One network: its number, the seed of its training, its weights' file, and its training's log."""

    label: int = Field(ge=0)
    seed: int
    file: str = Field(pattern=r"^member-\d{2,}\.safetensors$")
    sha256: Sha256
    log: dict[str, Any]


class Tuning(Frozen):
    """The basins of a fine-tuning, and the periods used by its ancestors."""

    basins: list[str] = Field(min_length=1)
    earlier_periods: list[str]


class Origin(Frozen):
    """The common properties of all members of an ensemble.

    Attributes:
        form: version of this description; another one needs another Freshet.
        config: architecture, inputs, forcing product, periods and schedule of the training.
        scaler: as `Scaler.as_json`.
        basins: those that it learnt from.
        attribute_ranges: minimum and maximum of each attribute over them.
        data_hash, code_version: of the training data, and of the code that trained it.
        uses: which weights of a member these are.
        tuning: of a fine-tuned one; otherwise it is not written.
        twin: of one that was fitted to every year, so that none is left to score it: the same recipe on fewer years;
            otherwise it is not written.
    """

    form: Literal[2] = 2
    config: TrainingConfig
    scaler: dict[str, list[float]]
    basins: list[str] = Field(min_length=1)
    attribute_ranges: dict[str, tuple[float, float]]
    data_hash: str
    code_version: str
    uses: Literal["best", "last"]
    tuning: Tuning | None = Field(None, exclude_if=lambda tuning: tuning is None)
    twin: Named | None = Field(None, exclude_if=lambda twin: twin is None)

    @model_validator(mode="after")
    def _fits_its_inputs(self) -> Self:
        inputs = self.config.inputs
        auxiliary, static = len(inputs.auxiliary), len(inputs.static)
        lengths = {"auxiliary_mean": auxiliary, "auxiliary_sd": auxiliary, "static_mean": static, "static_sd": static}
        if {name: len(values) for name, values in self.scaler.items()} != lengths:
            raise ValueError("the scaler does not fit the inputs of the network")
        if set(self.attribute_ranges) != set(inputs.static):
            raise ValueError("attribute_ranges are not of the attributes that the network takes")
        return self


class Description(Origin):
    """The content of `version.json`."""

    members: list[ShippedMember] = Field(min_length=1)

    @model_validator(mode="after")
    def _each_member_once(self) -> Self:
        for name in ("label", "file"):
            if len({getattr(member, name) for member in self.members}) < len(self.members):
                raise ValueError(f"two members have the same {name}")
        return self


@dataclass(frozen=True, slots=True)
class Ensemble(Shipped):
    """A shipped ensemble, complete and checked: weights by label, in half precision, and the twin scored for it."""

    description: Description
    weights: Mapping[int, bytes]
    twin: "Ensemble | None" = None

    @property
    def product(self) -> str:
        """The weather product that it learnt from."""
        return self.description.config.inputs.product


def names(shelf: Path) -> list[str]:
    """Return the names of the ensembles in a folder."""
    return sorted(found.parent.name for found in shelf.glob(f"*/{DESCRIPTION}"))


def read(folder: Path) -> Ensemble:
    """Return a shipped ensemble.

    Raises:
        DamagedEnsemble: a file is missing, damaged, or differs from the description; or its twin's is.
    """
    ensemble = _read(folder)
    named = ensemble.description.twin
    if named is None:
        return ensemble
    twin = _read(folder.parent / named.name)
    require_named(twin, named, "twin", folder / DESCRIPTION)
    return replace(ensemble, twin=twin)


def _read(folder: Path) -> Ensemble:
    description, content = read_description(folder / DESCRIPTION, Description)
    config = description.config
    network = build(config.network, config.inputs, seed=0, basins=len(description.basins))
    wanted = {name: tensor.shape for name, tensor in network.state_dict().items()}
    weights = {}
    for member in description.members:
        path = folder / member.file
        weights[member.label] = read_file(path)
        _check(path, weights[member.label], member.sha256, wanted)
    return Ensemble(folder.name, content, folder, description, weights)


def half(weights: bytes) -> bytes:
    """Return a member's weights in half precision; DataProblem where one is too large, or not a number."""
    tensors, _ = checkpoint.parse(weights)
    halves = {name: tensor.half() for name, tensor in tensors.items()}
    if lost := checkpoint.not_finite(halves):
        raise DataProblem(
            f"Half precision cannot hold the weights {', '.join(lost)} (above 65504, or not numbers): train again."
        )
    return checkpoint.dump(halves, {})


def _check(path: Path, weights: bytes, expected: str, wanted: Mapping[str, torch.Size]) -> None:
    if sha256(weights) != expected:
        raise DamagedEnsemble(f"{path} is damaged (its SHA-256 is not that of {DESCRIPTION}): fetch it again.")
    try:
        tensors, _ = checkpoint.parse(weights)
    except DataProblem:
        raise DamagedEnsemble(f"{path} is not of the form safetensors: fetch it again.") from None
    shapes = {name: tensor.shape for name, tensor in tensors.items()}
    if wrong := sorted(name for name in wanted.keys() | shapes.keys() if shapes.get(name) != wanted.get(name)):
        shown = excerpt(", ".join(wrong))
        raise DamagedEnsemble(f"{path} does not fit the network of {DESCRIPTION} ({shown}): fetch it again.")
    others = [name for name, tensor in tensors.items() if tensor.dtype != torch.float16]
    if unusable := others or checkpoint.not_finite(tensors):
        raise DamagedEnsemble(
            f"{path} holds values that are not numbers of half precision ({', '.join(unusable)}): fetch it again."
        )
