"""What each kind of job may write, for each who may post it, against every table: generated from the declarations."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from sqlalchemy import Table, false, select
from sqlalchemy.exc import DBAPIError, StatementError
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import UpdateBase

from jobspec import kinds
from jobspec.feed_kinds import NewFeed
from jobspec.jobs.base import EVERY_JOB, Authority, JobRequest, Owned, Role
from jobspec.jobs.data import CheckParams
from jobspec.kinds import KINDS
from records.access import keys
from records.basins import basins
from records.database.engine import Database
from records.feeds import feeds
from records.job_permissions import permissions
from records.job_permissions.permissions import SERVICE, Grant, NotAllowed
from records.job_permissions.write_guard import Guard, UndeclaredWriteError
from records.jobs import jobs
from records.schema import Base
from records.verification import comparisons
from records.weather import weather_issues
from testing.records import BASIN, NOW, a_basin, a_run, a_version, a_weather_forecast, issued
from tests.records.verification.test_comparisons import new as a_comparison

WHO = ("service", "owner", "other", "admin")
MILL = "OWN-mill"
REFERENCES: Mapping[Owned, tuple[str, str, str]] = {
    "basin": ("basins", "registered_by", "basin_id"),
    "version": ("versions", "owner", "version_id"),
    "run": ("runs", "owner", "run_id"),
    "comparison": ("comparisons", "owner", "comparison_id"),
    "weather": ("weather_issues", "operational", "issue_id"),
    "feed": ("feeds", "created_by", "feed_id"),
}
"""The table and column that hold the owner of a row, and the column of other tables that refers to it."""
TRAINING = {"network": {"cells": 4}, "inputs": {"product": "p"}, "train_period": "2001-10-01..2003-09-30"}
REQUESTS: Mapping[str, dict[str, Any]] = {
    "ingest": {"from": ["/a"]},
    "fetch": {"feed": "own"},
    "backfill": {"feed": "own"},
    "bridge": {"name": "new_bridge", "fit": {"from": "a", "to": "b"}},
    "fuse": {"name": "both", "of": ["a", "b"]},
    "daily": {},
    "daily-part": {"basins": ["USGS-01013500"], "horizon": 10},
    "replay": {"period": "2001-01-01..2001-01-02"},
    "climate": {"basin": MILL, "product": "own", "period": "2000-01-01..2000-12-31"},
    "training": {"config": TRAINING, "basins": [MILL]},
    "retraining": {},
    "forecast": {"basins": [BASIN]},
    "what-if": {"basins": [BASIN]},
    "volumes": {"basins": [BASIN]},
    "evaluation": {"period": "2001-01-01..2001-12-31"},
    "calibration": {},
    "reforecast": {"period": "2001-01-01..2001-12-31"},
    "verification": {},
    "levels": {},
    "comparison": {"period": "2001-01-01..2001-12-31", "versions": ["011cb6d0d4209b8d7f6a51"]},
    "pretrained": {},
    "archive": {},
    "check": {},
    "prune": {},
    "member": {"training": "t", "member": 0},
    "members": {"training": "t", "members": 10},
    "basin": {"basin": MILL, "latitude": 1.0, "longitude": 1.0},
    "upload": {"product": "own", "observations_file": "/a"},
    "weather": {"weather_file": "/a"},
    "delivery": {},
}
"""A request of each kind that names, if anything, what the operator owns."""
OTHERS: Mapping[str, Any] = {
    "ingest.basins": [BASIN],
    "fetch.feed": "theirs",
    "bridge.basins": [BASIN],
    "bridge.fit": None,
    "climate.basin": BASIN,
    "basin.basin": BASIN,
}
"""What else the parameters that name something are given, of others; those of versions are the same for all kinds."""


@dataclass(frozen=True, slots=True)
class World:
    """A database in which an operator's key owns one of everything, and the service another.

    Attributes:
        keys: the ids of the keys by who has them; None for the service.
        ids: of what the operator and of what the service owns, by what it is.
    """

    database: Database
    keys: Mapping[str, str | None]
    ids: Mapping[Owned, tuple[str, str]]

    def grant(self, who: str) -> Grant:
        """Return the rights of somebody."""
        key = self.keys[who]
        if key is None:
            return SERVICE
        with self.database.reading() as session:
            return permissions.of_key(keys.get(session, key))


@pytest.fixture
def world(database: Database) -> World:
    """The world on either database."""
    with database.transaction() as session:
        created = {who: keys.make(session, who, "operator", None, NOW)[0].id for who in ("owner", "other")}
        created["admin"] = keys.make(session, "admin", "admin", None, NOW)[0].id
        owners = (created["owner"], None)
        a_basin(session, BASIN)
        basins.register(session, MILL, created["owner"])
        of_owner = {owner: a_version(session, owner=owner).id for owner in owners}
        ids: dict[Owned, Any] = {
            "basin": (MILL, BASIN),
            "version": tuple(of_owner.values()),
            "run": [a_run(session, of_owner[None], issued(), owner=o, purpose="on-request").id for o in owners],
            "comparison": [comparisons.store(session, a_comparison(session, owner=o), NOW)[0].id for o in owners],
            "weather": [
                weather_issues.store(session, [a_weather_forecast()], NOW, operational=operational).issue_id
                for operational in (False, True)
            ],
            "feed": [
                feeds.create(session, a_feed(name), owner, NOW).id
                for name, owner in zip(("own", "theirs"), owners, strict=True)
            ],
        }
    return World(database, {"service": None, **created}, ids)


def a_feed(name: str) -> NewFeed:
    """Return a feed of weather forecasts."""
    settings = {"adapter": "open-meteo-forecast", "model": "ecmwf_ifs"}
    return NewFeed.model_validate({"name": name, "settings": settings})


def test_every_table_of_a_declaration_is_one() -> None:
    declared = {table for job in KINDS.values() for table in job.authority.tables}
    assert declared <= Base.metadata.tables.keys()
    assert all(set(job.authority.writes).isdisjoint(EVERY_JOB) for job in KINDS.values())


def test_the_owner_of_a_row_is_found_for_every_declared_table() -> None:
    for kind, job in KINDS.items():
        for name, owned in job.authority.writes.items():
            if owned != "any":
                root, _, reference = REFERENCES[owned]
                assert name == root or reference in Base.metadata.tables[name].c, (kind, name, owned)


def test_a_kind_without_a_declaration_fails() -> None:
    with pytest.raises(TypeError, match="NewJob has no authority"):

        class NewJob(JobRequest):
            """A kind that forgets it."""

            kind: Literal["new"]
            params: CheckParams


@pytest.mark.filterwarnings("ignore:Column")  # of a row without a whole key
def test_a_job_writes_exactly_what_its_kind_declares(world: World) -> None:
    cells = 0
    for who in WHO:
        grant = world.grant(who)
        for kind, job in KINDS.items():
            guard = Guard(grant, job.authority)
            with world.database.guarded(guard), world.database.transaction() as session:
                for table in Base.metadata.sorted_tables:
                    expected = tuple(allowed(job.authority, grant.role, table.name, who, whose) for whose in (0, 1))
                    found = are_written(session, world, job.authority, grant, table)
                    assert found == expected, (who, kind, table.name, "a row of the owner's, and of the service's")
                    cells += len(found)
                session.rollback()
    assert cells == 2 * len(WHO) * len(KINDS) * len(Base.metadata.tables)


def allowed(authority: Authority, role: Role, table: str, who: str, whose: int) -> bool:
    """Return whether somebody's job may write a row of the owner's (0) or of the service's (1), as it is declared."""
    if role == "admin":
        return table in authority.tables
    if table in EVERY_JOB:
        return True
    if not authority.operators or table not in authority.writes:
        return False
    owned = authority.writes[table]
    if owned in ("any", "weather"):  # a weather forecast that is not operational is nobody's
        return owned == "any" or whose == 0
    return who == "owner" and whose == 0


def are_written(session: Session, world: World, authority: Authority, grant: Grant, table: Table) -> tuple[bool, bool]:
    """Try to write a row of the owner's and of the service's, and return whether the guard let each through."""
    owned = authority.owned(table.name, grant.role)
    if owned not in (None, "any"):
        return is_written(session, world, owned, table, 0), is_written(session, world, owned, table, 1)
    column = next(iter(table.primary_key))
    try:  # whose the row is does not count: one statement is that of both
        session.execute(table.update().where(false()).values({column: column}))
    except UndeclaredWriteError:
        return False, False
    return True, True


def is_written(session: Session, world: World, owned: Owned, table: Table, whose: int) -> bool:
    """Try to write a row of a table whose rows have owners, and return whether the guard let it through."""
    root, _, reference = REFERENCES[owned]
    ids = world.ids[owned]
    column = next(iter(table.primary_key)) if table.name == root or reference not in table.c else table.c[reference]
    statements: list[UpdateBase] = [table.update().where(column == ids[whose]).values({column: ids[whose]})]
    if table.name != root:
        statements.append(table.insert().values({column: ids[whose]}))
    outcomes = set()
    for statement in statements:
        try:
            with session.begin_nested():
                session.execute(statement)
                outcomes.add(True)
        except UndeclaredWriteError:
            outcomes.add(False)
        except (DBAPIError, StatementError):  # it lacks columns: the guard has let it through
            outcomes.add(True)
    if table.name != root and outcomes == {True, False}:
        return False  # an update that touches no row harms nobody: the insert decides
    assert len(outcomes) == 1, (table.name, statements)
    return outcomes.pop()


def test_a_new_row_has_an_owner(world: World) -> None:
    grant = world.grant("owner")
    for owned, (root, mark, _) in REFERENCES.items():
        authority = Authority(writes={root: owned})
        table = Base.metadata.tables[root]
        with world.database.guarded(Guard(grant, authority)), world.database.transaction() as session:
            for value in (None, world.keys["other"], True):
                with pytest.raises(UndeclaredWriteError, match=f"not marked as its own \\({mark}\\)"):
                    session.execute(table.insert().values(id="new", **{mark: value}))
            with suppress(DBAPIError, StatementError), session.begin_nested():  # it may lack columns
                session.execute(table.insert(), [{"id": "new", mark: False if owned == "weather" else grant.key_id}])
            session.rollback()


def test_a_statement_is_refused_if_another_key_owns_one_of_its_rows(world: World) -> None:
    table = Base.metadata.tables["basin_areas"]
    guard = Guard(world.grant("owner"), Authority(writes={"basin_areas": "basin"}))
    rows = [{"basin_id": basin, "name": "given", "value": 1.0} for basin in world.ids["basin"]]
    with world.database.transaction() as session:
        session.execute(table.insert(), rows)
    with world.database.guarded(guard), world.database.transaction() as session:
        others = [row | {"name": "other"} for row in rows]
        for statement in (table.insert(), table.delete(), table.update().values(value=2.0)):
            with pytest.raises(UndeclaredWriteError, match=f"of the basin {BASIN}, which is not its own"):
                session.execute(statement, others if statement.is_insert else {})
        with pytest.raises(UndeclaredWriteError, match=f"of the basin {BASIN}"):
            session.execute(table.insert().values(others))
        session.execute(table.update().where(table.c.basin_id == MILL).values(value=3.0))
    with world.database.reading() as session:
        assert dict(session.execute(select(table.c.basin_id, table.c.value)).all()) == {MILL: 3.0, BASIN: 1.0}


def test_every_kind_is_posted_and_run_as_it_declares(world: World) -> None:
    assert REQUESTS.keys() == KINDS.keys()
    for kind, params in REQUESTS.items():
        request = kinds.read(kind, params)
        authority = request.authority
        for who in WHO:
            grant = world.grant(who)
            names_nothing_of_owners = not set(authority.names) & set(params) - {"fit"}
            expected = grant.is_official or (authority.operators and (who == "owner" or names_nothing_of_owners))
            assert may(world, grant, request) == expected, (kind, who)
            for as_schedule in (False, True):
                assert runs(world, grant, request, as_schedule=as_schedule) == expected, (kind, who, as_schedule)
        for name, subject in authority.names.items():
            given = world.ids["version"][1] if subject == "version" else OTHERS[f"{kind}.{name}"]
            if given is not None:
                other = kinds.read(kind, {**params, name: given})
                assert not may(world, world.grant("owner"), other), (kind, name)
                assert may(world, world.grant("admin"), other), (kind, name)


def may(world: World, grant: Grant, request: JobRequest) -> bool:
    """Return whether a job may be posted."""
    with world.database.reading() as session:
        try:
            permissions.require(session, grant, request)
        except NotAllowed:
            return False
    return True


def runs(world: World, grant: Grant, request: JobRequest, *, as_schedule: bool) -> bool:
    """Return whether a job may run that a key posted, directly or by its schedule; it has that key's rights."""
    new = jobs.NewJob(
        kind=request.kind,
        params=request.stored(),
        queue=request.queue,
        key_id=grant.key_id,
        schedule_id="a-schedule" if as_schedule else None,
    )
    with world.database.transaction() as session:
        job, _ = jobs.create(session, new, NOW)
        try:
            assert permissions.of_job(session, job, request, NOW) == grant
        except NotAllowed:
            return False
    return True


def test_fields_for_admins_are_refused_to_an_operator(world: World) -> None:
    published = kinds.read("ingest", {"from": ["/a"], "source": "benchmarks"})
    ahead = kinds.read("bridge", {"name": "new_bridge", "fit": {"from": "a", "to": "b", "model": "ecmwf_ifs"}})
    promoting = {
        basins_: kinds.read(
            "training",
            {
                "config": TRAINING,
                "basins": [basins_],
                "compare": {"period": "2004-10-01..2008-09-30", "promote": True},
            },
        )
        for basins_ in (MILL, BASIN)
    }
    for who, expected in (("owner", False), ("admin", True)):
        assert may(world, world.grant(who), published) is expected
        assert may(world, world.grant(who), ahead) is expected
        assert may(world, world.grant(who), promoting[BASIN]) is expected
        assert may(world, world.grant(who), promoting[MILL])
