"""Files beside what is shipped, each of which names its description: error model, skill, and snow cells.

They are not part of the description: another fit, or scores of other years, belong to the same ensemble.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from pydantic import Field, model_validator

from hydrology.base.calendar import Period
from hydrology.base.digests import fingerprint
from hydrology.base.products import JOINT, subsets
from hydrology.snow.snow import RegionalSnow
from hydrology.uncertainty.error_model import BasinErrors, Shape
from jobspec.fields import PeriodField
from models import checkpoint
from models.pretrained.combination import Combination
from models.pretrained.form import DamagedEnsemble, Ensemble, Frozen, Sha256, Shipped, read_beside

ERRORS_FILE = "errors.safetensors"
SHAPE, REGIONAL, BASINS = "shape.", "regional.", "basins."


@dataclass(frozen=True, slots=True, eq=False)
class ShippedErrors:
    """A shipped error model, fitted to the days of a period at most.

    `shape` is of the basins with parameters of their own, `regional` of others; `for_unseen`: whether `regional` was
    fitted in basins that its members had not learnt from.
    """

    period: Period
    days: int
    shape: Shape
    regional: Shape
    for_unseen: bool
    basins: Mapping[str, BasinErrors]


class ErrorsHeader(Frozen):
    """What is written beside the numbers; `basins` are the observed days of each, in the order of their numbers."""

    content: Sha256
    period: PeriodField
    days: Annotated[int, Field(ge=0)]
    for_unseen: bool
    basins: dict[str, Annotated[int, Field(ge=0)]]


def read_errors(shipped: Shipped) -> ShippedErrors | None:
    """Return the error model beside an ensemble, or None; `DamagedEnsemble` where it is damaged or another's."""
    return read_beside(shipped, ERRORS_FILE, _parse_errors)


def _parse_errors(content: bytes) -> tuple[str, ShippedErrors]:
    tensors, written = checkpoint.parse(content)
    digest = written.pop("sha256")
    header = ErrorsHeader.model_validate(written)
    if digest != errors_digest(header, tensors) or checkpoint.not_finite(tensors):
        raise ValueError("its content is not what was written")
    parts = {name: tensor.float().numpy() for name, tensor in checkpoint.under(BASINS, tensors).items()}
    if {len(values) for values in parts.values()} != {len(header.basins)}:
        raise ValueError("it has not the numbers of every basin")
    basins = {
        name: BasinErrors.from_arrays({part: values[at] for part, values in parts.items()}, days=days)
        for at, (name, days) in enumerate(header.basins.items())
    }
    shape, regional = (
        Shape.from_arrays({name: tensor.numpy() for name, tensor in checkpoint.under(prefix, tensors).items()})
        for prefix in (SHAPE, REGIONAL)
    )
    shipped = ShippedErrors(header.period, header.days, shape, regional, header.for_unseen, basins)
    return header.content, shipped


def errors_digest(header: ErrorsHeader, tensors: checkpoint.Tensors) -> str:
    numbers = {name: tensor.tolist() for name, tensor in tensors.items()}
    return fingerprint([header.model_dump(), [*header.basins], numbers])


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
    period: PeriodField
    evaluated_at: datetime
    subsets: dict[str, ShippedMetrics] = Field(
        default_factory=dict,
        exclude_if=lambda subsets: not subsets,
        description="Of a combination: with some of its products alone, by their joined names.",
    )

    @property
    def by_member(self) -> dict[str, ShippedMetrics]:
        """The scores of the mean and those of the subsets, as an evaluation names them."""
        return {"mean": self, **self.subsets}


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


SNOW_FILE = "snow.json"


class ShippedSnow(Frozen):
    content: Annotated[str, Field(description="The fingerprint of the ensemble.")]
    snow: RegionalSnow


def read_snow(ensemble: Ensemble) -> RegionalSnow | None:
    """Return the regional mapping beside an ensemble, or None; `DamagedEnsemble` where it is another's."""
    snow = read_beside(ensemble, SNOW_FILE, _parse_snow)
    if snow is not None and snow.cells.keys() != {str(label) for label in ensemble.weights}:
        raise DamagedEnsemble(f"{ensemble.folder / SNOW_FILE} is not of the ensemble beside it: fetch both again.")
    return snow


def _parse_snow(content: bytes) -> tuple[str, RegionalSnow]:
    shipped = ShippedSnow.model_validate_json(content)
    return shipped.content, shipped.snow
