"""Snow cells of a shipped ensemble for basins without a reference. One file, which names the ensemble."""

import json
from typing import Annotated

from pydantic import Field

from hydrology.snow.snow import RegionalSnow
from models.pretrained.files import DamagedEnsemble, Frozen, read_beside
from models.pretrained.form import Ensemble
from runtime.stored_files import replace_file

FILE = "snow.json"


class _Shipped(Frozen):
    content: Annotated[str, Field(description="The fingerprint of the ensemble.")]
    snow: RegionalSnow


def write(ensemble: Ensemble, snow: RegionalSnow) -> None:
    """Write a regional mapping beside its ensemble."""
    shipped = _Shipped(content=ensemble.content, snow=snow).model_dump(mode="json")
    replace_file(ensemble.folder / FILE, f"{json.dumps(shipped, indent=1)}\n".encode())


def read(ensemble: Ensemble) -> RegionalSnow | None:
    """Return the regional mapping beside an ensemble, or None; `DamagedEnsemble` where it is another's."""
    snow = read_beside(ensemble, FILE, _parse)
    if snow is not None and snow.cells.keys() != {str(label) for label in ensemble.weights}:
        raise DamagedEnsemble(f"{ensemble.folder / FILE} is not of the ensemble beside it: fetch both again.")
    return snow


def _parse(content: bytes) -> tuple[str, RegionalSnow]:
    shipped = _Shipped.model_validate_json(content)
    return shipped.content, shipped.snow
