"""The skill of a shipped ensemble.

Scores by basin over the test years, in a file that names the ensemble.

It is not part of the description beside it: scores of other years belong to the same ensemble.
"""

from datetime import datetime
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from hydrology.base.calendar import Period
from hydrology.base.errors import InvalidInput, excerpt
from jobspec.faults import faults
from models.pretrained.form import DamagedEnsemble, Ensemble

FILE = "skill.json"


class ShippedScores(BaseModel):
    """One metric in every basin.

    The number of days, and the value, or the reason for none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    n: list[Annotated[int, Field(ge=0)]]
    value: list[Annotated[float, Field(allow_inf_nan=False)] | None]
    reasons: dict[str, str]


class ShippedSkill(BaseModel):
    """The scores of a shipped ensemble's mean over a period that it has not learnt from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    content: Annotated[str, Field(description="The fingerprint of the ensemble.")]
    period: Annotated[str, Field(description="FIRST..LAST")]
    evaluated_at: datetime
    basins: list[str]
    metrics: dict[str, ShippedScores]

    @field_validator("period")
    @classmethod
    def _is_a_period(cls, text: str) -> str:
        try:
            return str(Period.parse(text))
        except InvalidInput as error:
            raise ValueError(str(error)) from None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        """Check that every basin has a value or a reason of every metric."""
        for metric, scores in self.metrics.items():
            lacking = [basin for basin, value in zip(self.basins, scores.value, strict=True) if value is None]
            if len(scores.n) != len(self.basins) or sorted(lacking) != sorted(scores.reasons):
                raise ValueError(f"{metric} has not a value or a reason for every basin")
        return self


def write(ensemble: Ensemble, skill: ShippedSkill) -> None:
    """Write the skill of an ensemble beside it."""
    (ensemble.folder / FILE).write_text(skill.model_dump_json() + "\n")


def read(ensemble: Ensemble) -> ShippedSkill | None:
    """Return the skill beside an ensemble, or None.

    Raises:
        DamagedEnsemble: it is damaged, or belongs to another ensemble.
    """
    path = ensemble.folder / FILE
    if not path.exists():
        return None
    try:
        shipped = ShippedSkill.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        why = faults(error, None) if isinstance(error, ValidationError) else excerpt(error)
        raise DamagedEnsemble(f"{path} cannot be used ({why}): fetch it again.") from None
    if shipped.content != ensemble.content:
        raise DamagedEnsemble(f"{path} is not of the ensemble beside it: fetch both again.")
    return shipped
