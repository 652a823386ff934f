"""Writes error model, skill and snow cells beside what is shipped."""

import json

import numpy as np
import torch

from hydrology.snow.snow import RegionalSnow
from models import checkpoint
from models.pretrained import attachments, form
from runtime.stored_files import replace_file

_HALF = ("memory", "centre", "spread")


def write_errors(shipped: form.Shipped, errors: attachments.ShippedErrors) -> None:
    """Write an error model beside its ensemble. Parameters of single basins in half precision."""
    of_basins = [part.arrays() for part in errors.basins.values()]
    stacked = {name: np.stack([arrays[name] for arrays in of_basins]) for name in of_basins[0]}
    tensors = {
        prefix + name: torch.from_numpy(values)
        for prefix, shape in ((attachments.SHAPE, errors.shape), (attachments.REGIONAL, errors.regional))
        for name, values in shape.arrays().items()
    }
    for name, values in stacked.items():
        tensor = torch.from_numpy(values)
        tensors[attachments.BASINS + name] = tensor.half() if name in _HALF else tensor
    header = attachments.ErrorsHeader(
        content=shipped.content,
        period=errors.period,
        days=errors.days,
        for_unseen=errors.for_unseen,
        basins={name: part.days for name, part in errors.basins.items()},
    )
    written = header.model_dump() | {"sha256": attachments.errors_digest(header, tensors)}
    replace_file(shipped.folder / attachments.ERRORS_FILE, checkpoint.dump(tensors, written))


def write_skill(shipped: form.Shipped, skill: attachments.ShippedSkill) -> None:
    """Write the skill of an ensemble or combination beside it."""
    replace_file(shipped.folder / attachments.SKILL_FILE, f"{skill.model_dump_json()}\n".encode())


def write_snow(ensemble: form.Ensemble, snow: RegionalSnow) -> None:
    """Write a regional mapping beside its ensemble."""
    shipped = attachments.ShippedSnow(content=ensemble.content, snow=snow).model_dump(mode="json")
    replace_file(ensemble.folder / attachments.SNOW_FILE, f"{json.dumps(shipped, indent=1)}\n".encode())
