"""Schedules as they are said and told."""

from datetime import datetime
from typing import Any

from pydantic import ConfigDict, Field

from app.http.base_schema import Missing, Model
from app.jobs.schedules.example import SCHEDULE
from jobspec.fields import Line, RequestModel
from jobspec.kinds import AnyJobRequest

_FIELDS = ("name", "job", "cron", "timezone", "enabled")


class NewSchedule(RequestModel):
    """Which job is posted when."""

    model_config = ConfigDict(json_schema_extra={"examples": [{name: SCHEDULE[name] for name in _FIELDS}]})

    name: Line = Field(description="No other schedule has it.")
    job: AnyJobRequest = Field(description="What is posted: as in `POST /v1/jobs`.")
    cron: Line = Field(description="Minute, hour, day of the month, month, day of the week.", examples=["30 6 * * *"])
    timezone: Line = Field("UTC", description="Whose clock the line is read by.", examples=["America/Denver"])
    enabled: bool = Field(True, description="Whether it is followed.")


class ScheduledJob(Model):
    """What is posted."""

    kind: str
    params: dict[str, Any] | None = Field(description="Null for a key that is no admin's: it may name files.")


class Schedule(Model):
    """A schedule and when it fires."""

    model_config = ConfigDict(json_schema_extra={"examples": [SCHEDULE]})

    id: str
    name: str
    job: ScheduledJob
    cron: str
    timezone: str
    enabled: bool
    next_run_at: datetime | None = Field(description="When it fires next, by the machine's clock.")
    last_run_at: datetime | None
    last_job: str | None = Field(description="The job that it posted last.")
    key: str | None = Field(
        description="The id of the key that made it or last changed it: its jobs run with the rights of that key."
    )
    revision: int = Field(description="Grows with every change and every firing; the `ETag` is made of it.")
    created_at: datetime
    updated_at: datetime = Field(description="When what it says was last changed.")
    missing: Missing


class Schedules(Model):
    """All schedules in the order of their names."""

    schedules: list[Schedule]
