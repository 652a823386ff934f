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
from jobspec.fields import faults
from jobspec.training import TrainingConfig
from models import checkpoint, ensemble
from models.forcing import Scaler
from models.networks import build
from models.saved_state import Owner

CARD = "README.md"

Described = TypeVar("Described", bound=BaseModel)
Beside = TypeVar("Beside")
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
FolderName = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]


class DamagedEnsemble(DataProblem):
    """A shipped ensemble differs from the one that was written."""


class Frozen(BaseModel):
    """A part of a description: it has no other fields and never changes."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Named(Frozen):
    """Something shipped in a folder beside this one, by the folder's name and the fingerprint of its description."""

    name: FolderName
    content: Sha256


@dataclass(frozen=True, slots=True)
class Shipped:
    """What is shipped in a folder, complete and checked; the fingerprint of its description covers all files."""

    name: str
    content: str
    folder: Path


def read_description(path: Path, form: type[Described]) -> tuple[Described, str]:
    """Return what a description with a model card beside it holds, and its fingerprint; or `DamagedEnsemble`."""
    text = read_file(path)
    read_file(path.parent / CARD)
    try:
        content = json.loads(text)
        return form.model_validate(content), fingerprint(content)
    except ValidationError as error:
        wrong = faults(error, content)
        raise DamagedEnsemble(
            f"{path} cannot be used ({wrong}): fetch it again, or install the Freshet that it is for."
        ) from None
    except (ValueError, RecursionError) as error:
        raise DamagedEnsemble(f"{path} is not JSON ({excerpt(error)}): fetch it again.") from None


def read_file(path: Path) -> bytes:
    """Return the content of a file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise DamagedEnsemble(f"{path} cannot be read ({error.strerror}): fetch it again.") from None


def require_named(found: Shipped, named: Named, role: str, description: Path) -> None:
    """Refuse as a `DamagedEnsemble` what is not the one that a description names."""
    if found.content != named.content:
        raise DamagedEnsemble(f"{found.folder} is not the {role} that {description} names: fetch both again.")


def read_beside(shipped: Shipped, file: str, parse: Callable[[bytes], tuple[str, Beside]]) -> Beside | None:
    """Return what a file beside a description holds, or None without it; `DamagedEnsemble` where it is another's.

    Such a file is not part of the description: another content belongs to the same ensemble. `parse` returns the
    fingerprint of the description that the bytes name, and what they hold.
    """
    path = shipped.folder / file
    if not path.exists():
        return None
    try:
        content, beside = parse(path.read_bytes())
    except (OSError, DataProblem, LookupError, ValueError, TypeError) as error:
        why = faults(error, None) if isinstance(error, ValidationError) else excerpt(error)
        raise DamagedEnsemble(f"{path} cannot be used ({why}): fetch it again.") from None
    if content != shipped.content:
        raise DamagedEnsemble(f"{path} is not of the ensemble beside it: fetch both again.")
    return beside


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


def names(shelf: Path, description: str = DESCRIPTION) -> list[str]:
    """Return the names of the ensembles in a folder, or of what has another kind of description."""
    return sorted(found.parent.name for found in shelf.glob(f"*/{description}"))


def read(folder: Path) -> Ensemble:
    """Return a shipped ensemble; `DamagedEnsemble` where a file of it or of its twin is missing, damaged or another."""
    shipped = _read(folder)
    named = shipped.description.twin
    if named is None:
        return shipped
    twin = _read(folder.parent / named.name)
    require_named(twin, named, "twin", folder / DESCRIPTION)
    return replace(shipped, twin=twin)


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


def load(shipped: Ensemble) -> ensemble.Ensemble:
    """Load a shipped ensemble's networks."""
    description = shipped.description
    weights = {label: checkpoint.parse(content)[0] for label, content in shipped.weights.items()}
    return ensemble.Ensemble.load(description.config, Scaler.from_json(description.scaler), weights, description.basins)


def owner(shipped: Ensemble) -> Owner:
    """Return the owner of a shipped ensemble's states. The same as that of its installed version."""
    hashes = sorted([member.label, member.sha256] for member in shipped.description.members)
    return Owner(fingerprint(hashes), shipped.description.config.inputs.product)
