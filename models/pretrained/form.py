"""The format of shipped ensembles. A folder with `version.json`, a file per member, and a model card.

`version.json` holds everything but the numbers, and the SHA-256 of every file that holds them; so its own fingerprint
identifies the whole. The weights are in half precision. Nothing of it is ever executed: only JSON and safetensors.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from hydrology.base.digests import fingerprint, sha256
from hydrology.base.errors import DataProblem, excerpt
from jobspec.faults import faults
from jobspec.training import TrainingConfig
from models import checkpoint
from models.networks import build

DESCRIPTION, CARD = "version.json", "README.md"

Shipped = TypeVar("Shipped")
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class DamagedEnsemble(DataProblem):
    """A shipped ensemble differs from the one that was written."""

    kind = "damaged-ensemble"


class Frozen(BaseModel):
    """A part of a shipped ensemble: it has no other fields and never changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")


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


class TwinEnsemble(Frozen):
    """The ensemble, shipped beside this one, whose scores show its skill: by `Origin.twin`."""

    name: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    content: Sha256


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
    twin: TwinEnsemble | None = Field(None, exclude_if=lambda twin: twin is None)

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
class Ensemble:
    """A shipped ensemble, complete and checked.

    Attributes:
        weights: safetensors bytes in half precision, by the member's label.
        content: the fingerprint of its description, which contains those of its files.
        folder: its folder.
        twin: the ensemble that is scored for it, if any.
    """

    name: str
    description: Description
    weights: Mapping[int, bytes]
    content: str
    folder: Path
    twin: "Ensemble | None" = None


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
    if twin.content != named.content:
        raise DamagedEnsemble(
            f"{folder.parent / named.name} is not the twin that {folder / DESCRIPTION} names: fetch both again."
        )
    return replace(ensemble, twin=twin)


def _read(folder: Path) -> Ensemble:
    """Return an ensemble without its twin."""
    text = _bytes(folder / DESCRIPTION)
    _bytes(folder / CARD)
    try:
        content = json.loads(text)
        description, named = Description.model_validate(content), fingerprint(content)
    except ValidationError as error:
        wrong = faults(error, content)
        raise DamagedEnsemble(
            f"{folder / DESCRIPTION} cannot be used ({wrong}): fetch it again, or install the Freshet that it is for."
        ) from None
    except (ValueError, RecursionError) as error:
        raise DamagedEnsemble(f"{folder / DESCRIPTION} is not JSON ({excerpt(error)}): fetch it again.") from None
    config = description.config
    network = build(config.network, config.inputs, seed=0, basins=len(description.basins))
    wanted = {name: tensor.shape for name, tensor in network.state_dict().items()}
    weights = {}
    for member in description.members:
        path = folder / member.file
        weights[member.label] = _bytes(path)
        _check(path, weights[member.label], member.sha256, wanted)
    return Ensemble(folder.name, description, weights, named, folder)


def read_beside(ensemble: Ensemble, file: str, parse: Callable[[bytes], tuple[str, Shipped]]) -> Shipped | None:
    """Return what a file beside an ensemble holds, or None without such a file.

    Such a file is not part of the description: another content belongs to the same ensemble.

    Args:
        parse: returns the fingerprint of the ensemble that the bytes name, and what they hold.

    Raises:
        DamagedEnsemble: it is damaged, or belongs to another ensemble.
    """
    path = ensemble.folder / file
    if not path.exists():
        return None
    try:
        content, shipped = parse(path.read_bytes())
    except (OSError, DataProblem, KeyError, ValueError, TypeError) as error:
        why = faults(error, None) if isinstance(error, ValidationError) else excerpt(error)
        raise DamagedEnsemble(f"{path} cannot be used ({why}): fetch it again.") from None
    if content != ensemble.content:
        raise DamagedEnsemble(f"{path} is not of the ensemble beside it: fetch both again.")
    return shipped


def half(weights: bytes) -> bytes:
    """Return a member's weights in half precision.

    Raises:
        DataProblem: a value is too large for it, or is not a number.
    """
    tensors, _ = checkpoint.parse(weights)
    halves = {name: tensor.half() for name, tensor in tensors.items()}
    if lost := checkpoint.not_finite(halves):
        raise DataProblem(
            f"Half precision cannot hold the weights {', '.join(lost)} (above 65504, or not numbers): train again."
        )
    return checkpoint.dump(halves, {})


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DamagedEnsemble(f"{path} cannot be read ({error.strerror}): fetch it again.") from None


def _check(path: Path, weights: bytes, expected: str, wanted: Mapping[str, torch.Size]) -> None:
    if sha256(weights) != expected:
        raise DamagedEnsemble(f"{path} is damaged (its SHA-256 is not that of {DESCRIPTION}): fetch it again.")
    tensors, _ = checkpoint.parse(weights)
    shapes = {name: tensor.shape for name, tensor in tensors.items()}
    if wrong := sorted(name for name in wanted.keys() | shapes.keys() if shapes.get(name) != wanted.get(name)):
        shown = excerpt(", ".join(wrong))
        raise DamagedEnsemble(f"{path} does not fit the network of {DESCRIPTION} ({shown}): fetch it again.")
    others = [name for name, tensor in tensors.items() if tensor.dtype != torch.float16]
    if unusable := others or checkpoint.not_finite(tensors):
        raise DamagedEnsemble(
            f"{path} holds values that are not numbers of half precision ({', '.join(unusable)}): fetch it again."
        )
