"""The answer about the service's status."""

from datetime import date, datetime
from typing import Literal

from pydantic import Field

from app.http.base_schema import Missing, Model
from hydrology.base.staleness import STALE_AFTER_DAYS

AGE = "Days behind the service's clock; negative if ahead."
STALE = f"Whether that is more than {STALE_AFTER_DAYS} days."


class Counts(Model):
    """Numbers of stored things."""

    basins: int
    basins_with_model: int = Field(description="Basins with a current model version.")
    model_versions: int
    runs: int = Field(description="Operational runs that are readable and were issued for at least one basin.")


class GPU(Model):
    """The GPU of a worker, as last reported with its heartbeat."""

    device: str = Field(description="Its name on the worker's machine.")
    name: str | None = Field(description="Its model.")
    memory_bytes: int | None
    memory_used_bytes: int | None = Field(description="By all processes of the machine.")
    utilisation: float | None = Field(description="Share of the last moments in which it computed, 0 to 1.")
    usable: bool = Field(description="Whether it takes trainings; if not, `degraded` gives the cause.")
    missing: Missing


class Processes(Model):
    """Schedulers and workers with a heartbeat in the last two minutes."""

    schedulers: int = Field(description="One is enough; another takes over if it ends.")
    workers: dict[str, int] = Field(description="Number of workers by queue.")
    gpus: list[GPU] = Field(description="The GPU of each worker that takes whole trainings.")


class VersionStatus(Model):
    """The newest forecasts of a model version in use."""

    version: str
    product: str = Field(description="The weather product that it uses.")
    current_for: int = Field(description="Number of basins that use it for their forecasts.")
    runs: int
    newest_t0: date | None = Field(description="Null where it has issued nothing yet.")
    newest_issue: datetime | None = Field(description="Null where it has issued nothing yet.")
    age_days: int | None = Field(description=f"Of the newest T0. {AGE}")
    stale: bool | None = Field(
        description=f"Whether the last past day of its newest forecasts, T0 or filled after it, is more than "
        f"{STALE_AFTER_DAYS} days behind."
    )


class InputStatus(Model):
    """The age of a product's newest day."""

    product: str
    newest_day: date = Field(description="The newest stored day of any basin and variable, of those that have ended.")
    age_days: int = Field(description=AGE)
    stale: bool = Field(description=STALE)
    used: bool = Field(description="Whether a model version in use needs it.")


class Degraded(Model):
    """A degradation of the service."""

    code: Literal[
        "no-basins",
        "no-model",
        "no-forecast",
        "stale-forecast",
        "stale-basins",
        "stale-input",
        "not-issued",
        "levels-in-doubt",
        "failed-deliveries",
        "mail-server",
        "paused-subscriptions",
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
        "gpu-lost",
    ]
    sentence: str


class Status(Model):
    """The status of the service."""

    status: Literal["ok", "degraded"]
    degraded: list[Degraded] = Field(description="Degradations; empty if there are none.")
    now: datetime = Field(description="The service's clock.")
    replayed: bool = Field(description="Whether the operator has set that clock (a replay).")
    version: str = Field(description="Of the software.")
    database_revision: str | None = Field(description="Of the database's tables.")
    counts: Counts
    processes: Processes
    stale_after_days: int = Field(description="Forecasts and inputs above this age are stale.")
    versions: list[VersionStatus] = Field(description="The model versions in use.")
    inputs: list[InputStatus] = Field(description="The stored products.")
    missing: Missing
