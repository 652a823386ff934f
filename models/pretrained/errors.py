"""The error model of a shipped ensemble, or combination of some. One file, which names its description.

It is not part of the description beside it: another fit is the same ensemble.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import torch
from pydantic import Field

from hydrology.base.calendar import Period
from hydrology.base.digests import fingerprint
from hydrology.uncertainty.error_model import BasinErrors, Shape
from models import checkpoint
from models.pretrained.files import Frozen, Sha256, Shipped, read_beside
from runtime.stored_files import replace_file

ERRORS_FILE = "errors.safetensors"
_SHAPE, _REGIONAL, _BASINS = "shape.", "regional.", "basins."
_HALF = ("memory", "centre", "spread")


@dataclass(frozen=True, slots=True, eq=False)
class ShippedErrors:
    """A shipped error model.

    Attributes:
        period: the days to which it was fitted, at most.
        shape, regional: of the basins with parameters of their own, and of others.
        for_unseen: whether `regional` was fitted in basins that its members had not learnt from.
    """

    period: Period
    days: int
    shape: Shape
    regional: Shape
    for_unseen: bool
    basins: Mapping[str, BasinErrors]


class _ErrorsHeader(Frozen):
    """What is written beside the numbers; `basins` are the observed days of each, in the order of their numbers."""

    content: Sha256
    period: str
    days: Annotated[int, Field(ge=0)]
    for_unseen: bool
    basins: dict[str, Annotated[int, Field(ge=0)]]


def write_errors(shipped: Shipped, errors: ShippedErrors) -> None:
    """Write an error model beside its ensemble. Parameters of single basins in half precision."""
    of_basins = [part.arrays() for part in errors.basins.values()]
    stacked = {name: np.stack([arrays[name] for arrays in of_basins]) for name in of_basins[0]}
    tensors = {
        prefix + name: torch.from_numpy(values)
        for prefix, shape in ((_SHAPE, errors.shape), (_REGIONAL, errors.regional))
        for name, values in shape.arrays().items()
    }
    for name, values in stacked.items():
        tensor = torch.from_numpy(values)
        tensors[_BASINS + name] = tensor.half() if name in _HALF else tensor
    header = _ErrorsHeader(
        content=shipped.content,
        period=str(errors.period),
        days=errors.days,
        for_unseen=errors.for_unseen,
        basins={name: part.days for name, part in errors.basins.items()},
    )
    written = header.model_dump() | {"sha256": _errors_digest(header, tensors)}
    replace_file(shipped.folder / ERRORS_FILE, checkpoint.dump(tensors, written))


def read_errors(shipped: Shipped) -> ShippedErrors | None:
    """Return the error model beside an ensemble, or None; `DamagedEnsemble` where it is damaged or another's."""
    return read_beside(shipped, ERRORS_FILE, _parse_errors)


def _parse_errors(content: bytes) -> tuple[str, ShippedErrors]:
    tensors, written = checkpoint.parse(content)
    digest = written.pop("sha256")
    header = _ErrorsHeader.model_validate(written)
    if digest != _errors_digest(header, tensors) or checkpoint.not_finite(tensors):
        raise ValueError("its content is not what was written")
    parts = {name: tensor.float().numpy() for name, tensor in checkpoint.under(_BASINS, tensors).items()}
    if {len(values) for values in parts.values()} != {len(header.basins)}:
        raise ValueError("it has not the numbers of every basin")
    basins = {
        name: BasinErrors.from_arrays({part: values[at] for part, values in parts.items()}, days=days)
        for at, (name, days) in enumerate(header.basins.items())
    }
    shape, regional = (
        Shape.from_arrays({name: tensor.numpy() for name, tensor in checkpoint.under(prefix, tensors).items()})
        for prefix in (_SHAPE, _REGIONAL)
    )
    shipped = ShippedErrors(Period.parse(header.period), header.days, shape, regional, header.for_unseen, basins)
    return header.content, shipped


def _errors_digest(header: _ErrorsHeader, tensors: checkpoint.Tensors) -> str:
    numbers = {name: tensor.tolist() for name, tensor in tensors.items()}
    return fingerprint([header.model_dump(), [*header.basins], numbers])
