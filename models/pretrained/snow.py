"""Snow cells of a shipped ensemble for basins without a reference.

One file, which names the ensemble.

It is not part of the description beside it: another choice is the same ensemble.
"""

import json
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hydrology.base.errors import excerpt
from hydrology.snow.regional_snow import RegionalSnow
from jobspec.faults import faults
from models.pretrained.form import DamagedEnsemble, Ensemble

FILE = "snow.json"


class _Shipped(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    content: Annotated[str, Field(description="The fingerprint of the ensemble.")]
    snow: RegionalSnow


def write(ensemble: Ensemble, snow: RegionalSnow) -> None:
    """Write a regional mapping beside its ensemble."""
    shipped = _Shipped(content=ensemble.content, snow=snow).model_dump(mode="json")
    (ensemble.folder / FILE).write_text(json.dumps(shipped, indent=1) + "\n")


def read(ensemble: Ensemble) -> RegionalSnow | None:
    """Return the regional mapping beside an ensemble, or None.

    Raises:
        DamagedEnsemble: it is damaged, or belongs to another ensemble or other members.
    """
    path = ensemble.folder / FILE
    if not path.exists():
        return None
    try:
        shipped = _Shipped.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        why = faults(error, None) if isinstance(error, ValidationError) else excerpt(error)
        raise DamagedEnsemble(f"{path} cannot be used ({why}): fetch it again.") from None
    if shipped.content != ensemble.content or shipped.snow.cells.keys() != {str(label) for label in ensemble.weights}:
        raise DamagedEnsemble(f"{path} is not of the ensemble beside it: fetch both again.")
    return shipped.snow
