"""/v1/models/{version}/curves: loss, learning rate, gradient norm and validation score of a training."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.exports.answers import TableAnswer, documented_responses
from app.exports.formats import TABLES
from app.exports.table import Table, table_of
from app.http.base_schema import Model, Series
from app.http.dependencies import Reading, VersionId
from jobspec.training import LOSS_UNITS, TrainingConfig
from records.versions import versions
from records.versions.versions import CombinedVersion, UnknownVersion

DEFAULTS = TrainingConfig.model_fields
"""Of configurations that were stored before a field existed."""
NOT_THERE = "; null where it was not recorded at this step"


class CurvePoint(Model):
    """A step of a member's training."""

    member: Annotated[int, Series("number of the member")]
    step: Annotated[int, Series("step of the training, 0 before the first")]
    loss: Annotated[float | None, Series("loss of the step's samples")] = Field(
        description=f"Loss of the step's samples{NOT_THERE}."
    )
    learning_rate: Annotated[float | None, Series("learning rate of the step", "1")] = Field(
        description=f"Learning rate of the step{NOT_THERE}."
    )
    gradient_norm: Annotated[float | None, Series("norm of the gradient before it is limited", "1")] = Field(
        description=f"Norm of the gradient, before it is limited to `clip_norm`{NOT_THERE}."
    )
    validation_nse: Annotated[float | None, Series("median NSE in the validation period", "1")] = Field(
        description="Median NSE of the averaged weights in the validation period; null at steps without a validation."
    )


class TrainingCurves(Model):
    """The training of a model version, step by step."""

    version: Annotated[str, Series("identifier of the model version")]
    loss_name: Annotated[str, Series("name of the loss")] = Field(description="The loss that was minimised.")
    units: dict[str, str] = Field(description="The unit of the `loss`, by that name; `1` for a number without one.")
    points: Annotated[list[CurvePoint], Series("")] = Field(
        description="By member and step: at most about 1000 steps of each member, and those that were validated."
    )


def curves_of(session: Session, version: str) -> TrainingCurves:
    """Return the training curves of a version with members of its own."""
    stored = versions.get(session, version)
    stored.require_members("Reading training curves")
    logs = {label: log for label, (_, log) in versions.seeds_and_logs(session, version).items()}
    points = [point for member, log in logs.items() for point in _points(member, log)]
    loss, share = (stored.config.get(name, DEFAULTS[name].default) for name in ("loss", "log_share"))
    name = f"{loss}, {100 * share:g} % on the logarithm of the flow" if share else loss
    units = {"loss": "1" if share else LOSS_UNITS[loss]}
    return TrainingCurves(version=version, loss_name=name, units=units, points=points)


def _points(member: int, log: dict[str, Any]) -> Iterator[CurvePoint]:
    by_step: dict[int, dict[str, Any]] = defaultdict(dict)
    curve = log.get("curve", {})
    for values in zip(*curve.values(), strict=True):
        row = dict(zip(curve, values, strict=True))
        by_step[row["step"]] |= row
    for row in log.get("validation", ()):
        by_step[row["step"]] |= {name: row[name] for name in ("step", "loss", "validation_nse")}
    for step in sorted(by_step):
        known: dict[str, Any] = dict.fromkeys(CurvePoint.model_fields) | by_step[step]
        yield CurvePoint(**known | {"member": member, "step": step})


def curves_table(answer: TrainingCurves) -> Table:
    """Return the curves as a table: a row for each member and step."""
    return table_of(answer, f"curves_{answer.version}", f"Training of {answer.version}")


router = APIRouter(prefix="/models", tags=["models"])


@router.get(
    "/{version}/curves",
    summary="Training curves of a model version",
    **documented_responses(TrainingCurves, UnknownVersion, CombinedVersion, formats=TABLES),
)
def read_training_curves(session: Reading, version: VersionId, answer: TableAnswer) -> Response:
    """The loss, the learning rate, the gradient's norm and the validation score of each member by step, as they were
    recorded in its training. A shipped ensemble has what was shipped with it."""
    return answer.of(curves_of(session, version), curves_table)
