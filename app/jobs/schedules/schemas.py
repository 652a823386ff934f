"""Schemas of schedules, in requests and answers."""

from datetime import datetime
from typing import Any

from pydantic import ConfigDict, Field

from app.http.base_schema import Missing, Model
from jobspec.fields import Line, RequestModel
from jobspec.kinds import AnyJobRequest


class NewSchedule(RequestModel):
    """A schedule to be stored."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "daily forecast",
                    "job": {"kind": "forecast", "params": {"horizon": 10}},
                    "cron": "30 6 * * *",
                    "timezone": "America/Denver",
                    "enabled": True,
                }
            ]
        }
    )

    name: Line = Field(description="Unique name of the schedule.")
    job: AnyJobRequest = Field(description="The job to post: as in `POST /v1/jobs`.")
    cron: Line = Field(description="Minute, hour, day of the month, month, day of the week.", examples=["30 6 * * *"])
    timezone: Line = Field("UTC", description="Time zone of the cron line.", examples=["America/Denver"])
    enabled: bool = Field(True, description="Whether the schedule is active.")


class ScheduledJob(Model):
    """The job that a schedule posts."""

    kind: str
    params: dict[str, Any] | None = Field(description="Null except for an admin's key: they may name files.")


class Schedule(Model):
    """A stored schedule and its times."""

    id: str
    name: str
    job: ScheduledJob
    cron: str
    timezone: str
    enabled: bool
    next_run_at: datetime | None = Field(description="Next time, by the machine's clock.")
    last_run_at: datetime | None
    last_job: str | None = Field(description="The last job that it posted.")
    key: str | None = Field(
        description="Id of the key that created or last changed it: its jobs run with the permissions of that key."
    )
    revision: int = Field(description="Grows with every change and every posted job; the basis of the `ETag`.")
    created_at: datetime
    updated_at: datetime = Field(description="When its fields were last changed.")
    missing: Missing


class Schedules(Model):
    """All schedules in the order of their names."""

    schedules: list[Schedule]
