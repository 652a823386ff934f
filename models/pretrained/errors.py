"""The error model of a shipped ensemble, or combination of some. One file, which names its description.

It is not part of the description beside it: another fit is the same ensemble.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch

from hydrology.base.calendar import Period
from hydrology.base.digests import fingerprint
from hydrology.uncertainty.error_model import BasinErrors, Shape
from models import checkpoint
from models.pretrained.files import Shipped, read_beside

FILE = "errors.safetensors"
_SHAPE, _REGIONAL, _BASINS = "shape.", "regional.", "basins."
_HALF = ("memory", "centre", "spread")


@dataclass(frozen=True, slots=True, eq=False)
class ShippedErrors:
    """A shipped error model.

    Attributes:
        period: the days to which it was fitted, at most.
        days: number of observed days it was fitted to.
        shape: of the basins with parameters of their own.
        regional: of those without.
        for_unseen: whether `regional` was fitted in basins that its members had not learnt from.
    """

    period: Period
    days: int
    shape: Shape
    regional: Shape
    for_unseen: bool
    basins: Mapping[str, BasinErrors]


def write(shipped: Shipped, errors: ShippedErrors) -> None:
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
    header = {
        "content": shipped.content,
        "period": str(errors.period),
        "days": errors.days,
        "for_unseen": errors.for_unseen,
        "basins": {name: part.days for name, part in errors.basins.items()},
        "sha256": _digest(tensors),
    }
    (shipped.folder / FILE).write_bytes(checkpoint.dump(tensors, header))


def read(shipped: Shipped) -> ShippedErrors | None:
    """Return the error model beside an ensemble, or None.

    Raises:
        DamagedEnsemble: it is damaged, or belongs to another ensemble.
    """
    return read_beside(shipped, FILE, _parse)


def _parse(content: bytes) -> tuple[str, ShippedErrors]:
    tensors, header = checkpoint.parse(content)
    if header["sha256"] != _digest(tensors) or checkpoint.not_finite(tensors):
        raise ValueError("its numbers are not those that were written")
    parts = {name: tensor.float().numpy() for name, tensor in checkpoint.under(_BASINS, tensors).items()}
    basins = {
        name: BasinErrors.from_arrays({part: values[at] for part, values in parts.items()}, days=days)
        for at, (name, days) in enumerate(header["basins"].items())
    }
    shape, regional = (
        Shape.from_arrays({name: tensor.numpy() for name, tensor in checkpoint.under(prefix, tensors).items()})
        for prefix in (_SHAPE, _REGIONAL)
    )
    period, for_unseen = Period.parse(header["period"]), bool(header["for_unseen"])
    shipped = ShippedErrors(period, int(header["days"]), shape, regional, for_unseen, basins)
    return header["content"], shipped


def _digest(tensors: checkpoint.Tensors) -> str:
    return fingerprint({name: tensor.tolist() for name, tensor in tensors.items()})
