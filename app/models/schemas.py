"""Answers about model versions."""

from datetime import datetime
from typing import Any, Literal

from pydantic import ConfigDict, Field

from app.http.base_schema import Missing, Model
from app.models.example import MODEL, PROMOTIONS, ROLLBACK
from jobspec.fields import Basins, Line, RequestModel


class ModelSummary(Model):
    """A model version in a list."""

    id: str
    label: str | None = Field(description="What people call it.")
    architecture: str = Field(description="`mclstm`: the mass-conserving LSTM. `lstm`, `eins`, `mmrnn`: others.")
    conserving: bool = Field(description="Whether the network conserves mass.")
    product: str = Field(description="The weather product that it takes.")
    trained_on: str = Field(description="The weather product that it learnt from; where it is another, see its skill.")
    status: Literal["ready", "withdrawn"]
    created_at: datetime = Field(description="When it was made, by the machine's clock.")
    issued_at: datetime = Field(description="When it was made, by the service's clock.")
    parent: str | None = Field(description="The version that it was fine-tuned from; null for one from scratch.")
    member_count: int
    basin_count: int = Field(description="How many basins it learnt from.")
    current_for: int = Field(description="How many basins' forecasts come from it.")
    official: bool = Field(
        description="Whether it is the service's own. One that was trained with an operator's key is not: it serves "
        "only basins that were registered with that key."
    )


class ModelPage(Model):
    """Model versions, the newest first."""

    models: list[ModelSummary]
    next: str | None = Field(
        description="Where the next page is, also in the `Link` header; null on the last page.",
        examples=["/v1/models?limit=100&after=011cb6d0d4209b8d7f6a51"],
    )


class Closure(Model):
    """How well its simulations conserve mass, measured when it was evaluated over all its basins."""

    worst_relative_residual: float = Field(
        description="The largest amount of water unaccounted for, of all members, basins and days, relative to the "
        "water that came in."
    )
    tolerance: float = Field(description="The largest that closes.")
    closes: bool
    basins: int
    period: str = Field(examples=["1989-10-01..1999-09-30"])


class ProbeResult(Model):
    """What was found of the networks' physics: a version that fails what is `binding` is not promoted."""

    name: str
    asks: str = Field(description="What was measured: the worst of all members.")
    unit: str = Field(description="Of `value` and `limit`; `1` for a share.")
    limit: float = Field(description="The largest value that passes.")
    value: float | None = Field(description="Null where the network gave no finite number: that fails.")
    reason: str | None = Field(description="Why a larger value is against physics; null where `asks` shows it.")
    failing: float | None = Field(
        description="The share of members x basins beyond the limit; null of a probe on weather made for the purpose."
    )
    binding: bool = Field(
        description="False where the network's design does not rule a failure out: it is reported, and 1 % may fail."
    )
    passes: bool


class Pretrained(Model):
    """The ensemble, trained elsewhere, that came with Freshet."""

    name: str
    content: str = Field(description="The fingerprint of what is shipped.")


class Member(Model):
    """One network of a version."""

    label: int
    seed: int = Field(description="What its training started from.")


class ModelDetail(ModelSummary):
    """A model version and what it is made of."""

    model_config = ConfigDict(json_schema_extra={"examples": [MODEL]})

    config: dict[str, Any] = Field(description="What the networks are built from and how they were trained.")
    uses: Literal["best", "last"] = Field(
        description="Which weights of a member: of its best validation or its last step."
    )
    data_hash: str = Field(description="Of the training data.")
    weights_hash: str = Field(description="Of the weights that it uses.")
    code_version: str
    members: list[Member]
    basins: list[str] = Field(description="Those that it learnt from, kept here or not.")
    tuned_on: list[str] | None = Field(description="Those of them that it was fine-tuned on.")
    current_basins: list[str] = Field(description="Those whose forecasts come from it.")
    closure: Closure | None
    physics: list[ProbeResult] | None = Field(
        description="What was asked when it was trained or installed. One that conserves no mass is asked nothing of "
        "its water."
    )
    pretrained: Pretrained | None = Field(description="Which shipped ensemble it is.")
    twin: str | None = Field(
        description="The version, of the same recipe on fewer years, that is judged in its place on days that it has "
        "fitted itself."
    )
    missing: Missing


class Promotion(Model):
    """From then on the forecasts of some basins came from the version."""

    promoted_at: datetime
    promoted_by: str
    reason: str
    basins: list[str]


class Promotions(Model):
    """The promotions of a version, the newest first."""

    model_config = ConfigDict(json_schema_extra={"examples": [PROMOTIONS]})

    version: str
    promotions: list[Promotion]
    current_basins: list[str] = Field(description="The basins that it is still current for.")


class NewPromotion(RequestModel):
    """The forecasts of some basins are to come from the version."""

    reason: Line = Field(description="Why; it is kept for ever.", examples=["better on the held-out years"])
    basins: Basins | None = Field(
        None,
        min_length=1,
        description="Any that have its weather product and attributes. Without it all kept here that it learnt from.",
    )


class NewRollback(RequestModel):
    """The basins that use the version are to go back to those that they used before."""

    reason: Line = Field(description="Why; it is kept for ever.", examples=["worse in the floods of March"])


class Rollback(Model):
    """What the basins that used the version use from now on."""

    model_config = ConfigDict(json_schema_extra={"examples": [ROLLBACK]})

    version: str = Field(description="The version that they used.")
    restored: dict[str, str] = Field(description="The version of each basin that had another before.")
    current_basins: list[str] = Field(description="Those that keep it, for they had none before.")


class BasinPromotion(Model):
    """From then on the basin's forecasts came from the version."""

    version: str
    promoted_at: datetime
    promoted_by: str
    reason: str


class BasinPromotions(Model):
    """The versions that a basin's forecasts have come from, the newest first: the first is the current one."""

    basin: str
    promotions: list[BasinPromotion]
