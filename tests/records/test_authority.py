"""What each kind of job may write, for each who may post it, against every table: generated from the declarations."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal

import pytest
from sqlalchemy import Table
from sqlalchemy.exc import IntegrityError, StatementError

from jobspec.authority import EVERY_JOB, Authority, Owned
from jobspec.jobs.base import JobRequest
from jobspec.kinds import KINDS, read
from jobspec.jobs.upkeep import CheckParams
from records import basins, feeds, jobs, keys, permissions, schedules, weather
from records.engine import Database
from records.guard import Guard, UndeclaredWriteError
from records.permissions import Grant, NotAllowed
from records.tables import Base
from records.tables.comparisons import ComparisonRow
from records.statements import table_of
from tests.records.factories import (
    BASIN,
    NOW,
    a_basin,
    a_job,
    a_run,
    a_version,
    a_weather_forecast,
    issued,
)
from jobspec.feeds import NewFeed

TABLES = sorted(Base.metadata.tables)
WHO = ("service", "owner", "other", "admin")


@dataclass(frozen=True, slots=True)
class World:
    """A database with a basin, a version, a run and so on of an operator's key, and of the service.

    Attributes:
        keys: the key ids of an operator that owns something, of one that owns nothing, and of an admin.
        mine, others: the identifier of what decides whose a row is, by what it is.
    """

    database: Database
    keys: Mapping[str, str | None]
    mine: Mapping[Owned, Any]
    others: Mapping[Owned, Any]

    def grant(self, who: str) -> Grant:
        """Return the rights of somebody."""
        key = self.keys[who]
        if key is None:
            return permissions.SERVICE
        with self.database.reading() as session:
            return permissions.of_key(keys.get(session, key))


@pytest.fixture
def world(database: Database) -> World:
    """The world on either database."""
    with database.transaction() as session:
        made = {who: keys.make(session, who, "operator", None, NOW)[0].id for who in ("owner", "other")}
        made["admin"] = keys.make(session, "admin", "admin", None, NOW)[0].id
        owner = made["owner"]
        a_basin(session, BASIN)
        basins.register(session, "OWN-mill", owner)
        versions_ = [a_version(session, owner=key).id for key in (owner, None)]
        on_request = [
            a_run(session, version, issued(), owner=key, purpose="on-request").id
            for version, key in zip(versions_, (owner, None), strict=True)
        ]
        comparisons = ["c-mine", "c-others"]
        for id_, key in zip(comparisons, (owner, None), strict=True):
            session.execute(table_of(ComparisonRow).insert(), [_comparison(id_, key)])
        issues = [
            weather.keep(session, [a_weather_forecast()], NOW, operational=operational).issue_id
            for operational in (False, True)
        ]
        new = NewFeed.model_validate(
            {"name": "own", "settings": {"adapter": "open-meteo-forecast", "model": "ecmwf_ifs"}}
        )
        made_feeds = [
            feeds.create(session, new.model_copy(update={"name": name}), key, NOW).id
            for name, key in (("own", owner), ("theirs", None))
        ]
    both = {
        "basin": ("OWN-mill", BASIN),
        "version": versions_,
        "run": on_request,
        "comparison": comparisons,
        "weather": issues,
        "feed": made_feeds,
    }
    mine, others = ({of: ids[at] for of, ids in both.items()} for at in (0, 1))
    return World(database, {"service": None, **made}, mine, others)  # type: ignore[arg-type]


def _comparison(id_: str, owner: str | None) -> dict[str, Any]:
    empty: dict[str, Any] = {"basins": [], "result": None}
    days = {"first_day": None, "last_day": None}
    return {"id": id_, "created_at": NOW, **days, **empty, "fingerprint": id_ * 8, "owner": owner}
