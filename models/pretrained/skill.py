"""The skill of a shipped ensemble or combination. Scores by basin over the test years, in a file that names it.

It is not part of the description beside it: scores of other years belong to the same ensemble.
"""

from datetime import datetime
from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator

from hydrology.base.calendar import Period
from hydrology.base.errors import InvalidInput
from hydrology.base.products import JOINT, subsets
from models.pretrained.combination import Combination
from models.pretrained.files import DamagedEnsemble, Frozen, Shipped, read_beside
from runtime.stored_files import replace_file

SKILL_FILE = "skill.json"


class ShippedScores(Frozen):
    """One metric in every basin. The number of days, and the value, or the reason for none."""

    n: list[Annotated[int, Field(ge=0)]]
    value: list[Annotated[float, Field(allow_inf_nan=False)] | None]
    reasons: dict[str, str]


class ShippedMetrics(Frozen):
    """Scores by basin, of each metric."""

    basins: list[str]
    metrics: dict[str, ShippedScores]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        """Check that every basin has a value or a reason of every metric."""
        for metric, scores in self.metrics.items():
            lacking = [basin for basin, value in zip(self.basins, scores.value, strict=True) if value is None]
            if len(scores.n) != len(self.basins) or sorted(lacking) != sorted(scores.reasons):
                raise ValueError(f"{metric} has not a value or a reason for every basin")
        return self


class ShippedSkill(ShippedMetrics):
    """The scores of the members' mean over a period that it has not learnt from."""

    content: Annotated[str, Field(description="The fingerprint of the description beside it.")]
    period: Annotated[str, Field(description="FIRST..LAST")]
    evaluated_at: datetime
    subsets: dict[str, ShippedMetrics] = Field(
        default_factory=dict,
        exclude_if=lambda subsets: not subsets,
        description="Of a combination: with some of its products alone, by their joined names.",
    )

    @field_validator("period")
    @classmethod
    def _is_a_period(cls, text: str) -> str:
        try:
            return str(Period.parse(text))
        except InvalidInput as error:
            raise ValueError(str(error)) from None

    @property
    def by_member(self) -> dict[str, ShippedMetrics]:
        """The scores of the mean and those of the subsets, as an evaluation names them."""
        return {"mean": self, **self.subsets}


def write_skill(shipped: Shipped, skill: ShippedSkill) -> None:
    """Write the skill of an ensemble or combination beside it."""
    replace_file(shipped.folder / SKILL_FILE, f"{skill.model_dump_json()}\n".encode())


def read_skill(shipped: Shipped) -> ShippedSkill | None:
    """Return the skill beside an ensemble or combination, or None; `DamagedEnsemble` where it is another's."""
    skill = read_beside(shipped, SKILL_FILE, _parse_skill)
    products = shipped.products if isinstance(shipped, Combination) else ()
    known = {frozenset(chosen) for chosen in subsets(products)}
    if skill is not None and any(frozenset(name.split(JOINT)) not in known for name in skill.subsets):
        raise DamagedEnsemble(f"{shipped.folder / SKILL_FILE} has scores of other products: fetch it again.")
    return skill


def _parse_skill(content: bytes) -> tuple[str, ShippedSkill]:
    shipped = ShippedSkill.model_validate_json(content)
    return shipped.content, shipped
