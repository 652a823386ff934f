"""The answer about the service's status."""

from datetime import date, datetime
from typing import Literal

from pydantic import ConfigDict, Field

from app.http.base_schema import Missing, Model
from app.service.status.example import STATUS
from hydrology.base.staleness import STALE_AFTER_DAYS

AGE = "How many days it lies behind the service's clock; negative where it lies ahead."
STALE = f"Whether that is more than {STALE_AFTER_DAYS} days."


class Counts(Model):
    """How much there is."""

    basins: int
    basins_with_model: int = Field(description="Those for which a model version is current.")
    model_versions: int
    runs: int = Field(description="Operational runs that were issued for a basin at least and may be read.")


class Processes(Model):
    """The processes that do the work and gave a sign of life in the last two minutes."""

    schedulers: int = Field(description="One is enough; another takes over where it ends.")
    workers: dict[str, int] = Field(description="How many take jobs, by queue.")


class VersionStatus(Model):
    """What a model version that is in use has made."""

    version: str
    product: str = Field(description="The weather product that it takes.")
    current_for: int = Field(description="How many basins' forecasts come from it.")
    runs: int
    newest_t0: date | None = Field(description="Null where it has issued nothing yet.")
    newest_issue: datetime | None = Field(description="Null where it has issued nothing yet.")
    age_days: int | None = Field(description=f"Of the newest T0. {AGE}")
    stale: bool | None = Field(description=STALE)


class InputStatus(Model):
    """How old a product's newest day is."""

    product: str
    newest_day: date = Field(description="The newest day that is kept, of whichever basin and variable.")
    age_days: int = Field(description=AGE)
    stale: bool = Field(description=STALE)
    used: bool = Field(description="Whether a model version that is in use takes it.")


class Degraded(Model):
    """Something that keeps the service from being at its best."""

    code: Literal[
        "no-basins",
        "no-model",
        "no-forecast",
        "stale-forecast",
        "stale-basins",
        "stale-input",
        "not-issued",
        "failed-deliveries",
        "no-worker",
        "queue-age",
        "failed-job",
        "failing-schedule",
        "disk",
        "no-broker",
        "database-locked",
        "part-restarting",
        "clock",
        "job-stopped",
    ]
    sentence: str


class Status(Model):
    """What the service has and how fresh it is."""

    model_config = ConfigDict(json_schema_extra={"examples": [STATUS]})

    status: Literal["ok", "degraded"]
    degraded: list[Degraded] = Field(description="What is not as it should be; none where all is.")
    now: datetime = Field(description="The service's clock.")
    replayed: bool = Field(description="Whether that clock stands at an instant that the operator chose.")
    version: str = Field(description="Of the software.")
    database_revision: str | None = Field(description="Of the database's tables.")
    counts: Counts
    processes: Processes
    stale_after_days: int = Field(description="From what age on something is stale.")
    versions: list[VersionStatus] = Field(description="The model versions that are in use.")
    inputs: list[InputStatus] = Field(description="The products that are kept.")
    missing: Missing
