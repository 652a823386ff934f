"""What a key for a region may post and write, for every kind of job, basin and table: generated from the declarations.

A basin of a kind's job is one of four: the key's own or the service's, in its region or in another one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import Table
from sqlalchemy.exc import DBAPIError, StatementError
from sqlalchemy.orm import Session

from jobspec import kinds
from jobspec.jobs.base import Authority, JobRequest
from jobspec.kinds import KINDS, RECORDS
from records.access import keys
from records.access.keys import Key
from records.basins import basins, regions
from records.basins.ownership import Basin
from records.basins.regions import OutsideRegion, Region
from records.database.engine import Database
from records.database.stored import as_values, upsert
from records.job_permissions import permissions
from records.job_permissions.permissions import Grant, NotAllowed
from records.job_permissions.write_guard import Guard, UndeclaredWriteError
from records.jobs import jobs
from records.schema import Base
from testing.records import NOW
from tests.records.job_permissions.test_authority import REQUESTS, TRAINING

SCOPES: tuple[keys.Scope, ...] = ("operator", "forecaster")
PLACES = {"OWN-in": "0101", "OWN-out": "1705", "USGS-01013500": "0101", "USGS-13235000": "1705"}
"""The basins, and their hydrologic units: those of the region north begin with 01, those of south with 17."""
PROMOTING = {"compare": {"period": "2004-10-01..2008-09-30", "promote": True}}


def is_own(basin: str) -> bool:
    return basin.startswith("OWN")


def is_in(basin: str) -> bool:
    return PLACES[basin].startswith("01")


@dataclass(frozen=True, slots=True)
class World:
    """A database with two regions, and the keys for one of them by scope."""

    database: Database
    keys: Mapping[keys.Scope, Key]


@pytest.fixture
def world(database: Database) -> World:
    """The world on either database."""
    with database.transaction() as session:
        for region in (Region(id="north", huc="01"), Region(id="south", huc="17")):
            upsert(session, Region, [as_values(region)])
        created = {scope: keys.make(session, f"the {scope}", scope, None, NOW, "north")[0] for scope in SCOPES}
    return World(database, created)


def owned_by(world: World, key: Key) -> None:
    """Have the own basins belong to a key."""
    with world.database.transaction() as session:
        for basin, huc in PLACES.items():
            basins.upsert(session, Basin(basin, huc=huc))
            owner = key.id if is_own(basin) else None
            session.execute(Base.metadata.tables["basins"].update().filter_by(id=basin).values(registered_by=owner))


def requests(kind: str, basin: str) -> Iterator[tuple[JobRequest, bool]]:
    """Yield requests of a kind that name a basin wherever they can, and whether they name any."""
    fields = KINDS[kind].model_fields["params"].annotation.model_fields  # type: ignore[union-attr]
    names = [name for name in fields if RECORDS.get(name) == "basin"]
    given = {name: basin if name == "basin" else [basin] for name in names}
    params = REQUESTS[kind] | given
    yield kinds.read(kind, params), bool(names)
    if kind == "training":
        yield kinds.read(kind, {"config": TRAINING, "basins": [basin], **PROMOTING}), True


def changes_basins(request: JobRequest) -> bool:
    """Return whether an operator's job changes the basins that it names, as its kind declares."""
    authority = request.authority
    subjects = {subject for name, subject in authority.names.items() if name in ("basin", "basins")}
    assert subjects <= {"basin", "new basin"}
    return bool(subjects) or (authority.promotes is not None and getattr(request.params, "compare", None) is not None)


def is_permitted(scope: keys.Scope, request: JobRequest, basin: str, *, named: bool) -> bool:
    """Return whether a key for the region may post a job, as declared."""
    authority = request.authority
    if scope == "forecaster" and authority.forecasters:  # the service's own job
        return named and is_in(basin)
    if not authority.operators:
        return False
    return not changes_basins(request) or (is_own(basin) and is_in(basin))


def refusal(world: World, request: JobRequest, key: Key) -> str | None:
    """Return why a key may not post a job; None where it may. What may be posted may be run, and nothing else."""
    new = jobs.NewJob(kind=request.kind, params=request.stored(), queue=request.queue, key_id=key.id)
    grant, found = permissions.of_key(key, request), set[str | None]()
    with world.database.transaction() as session:
        job, _ = jobs.create(session, new, NOW)
        for check in (
            lambda: permissions.require(session, grant, request),
            lambda: permissions.of_job(session, job, request, NOW),
        ):
            try:
                check()
                found.add(None)
            except (NotAllowed, OutsideRegion) as problem:
                found.add(f"{problem.status} {problem}")
        session.rollback()
    (only,) = found
    return only


def test_t7_every_kind_of_job_is_posted_for_basins_as_it_declares(world: World) -> None:
    cells = 0
    for scope, key in world.keys.items():
        owned_by(world, key)
        for kind in KINDS:
            if kind in ("fetch", "backfill"):
                continue  # of a feed: its basins are those below
            for basin in PLACES:
                for request, named in requests(kind, basin):
                    why = refusal(world, request, key)
                    assert (why is None) == is_permitted(scope, request, basin, named=named), (scope, request, why)
                    cells += 1
                    if why is not None and named and not is_in(basin) and KINDS[kind].authority.operators:
                        assert why.startswith(
                            f"403 The key of {key.name} is for the region north, and {basin} does not"
                        )
                        assert "Use a key of the region south or without a region." in why
    assert cells == len(SCOPES) * len(PLACES) * (len(KINDS) - 2 + 1)


@pytest.mark.filterwarnings("ignore:Column")  # of a row without a whole key
def test_t7_a_job_writes_rows_of_basins_as_its_kind_declares(world: World) -> None:
    tables = [table for table in Base.metadata.sorted_tables if "basin_id" in table.c or table.name == "basins"]
    assert len(tables) >= 40
    for scope, key in world.keys.items():
        owned_by(world, key)
        for kind, job in KINDS.items():
            request = kinds.read(kind, REQUESTS[kind])
            grant = permissions.of_key(key, request)
            guard = Guard(grant, job.authority)
            with world.database.guarded(guard), world.database.transaction() as session:
                for table in tables:
                    for basin in PLACES:
                        expected = may_write(job.authority, grant, table.name, basin)
                        if expected is not None:
                            assert is_written(session, table, basin) is expected, (scope, kind, table.name, basin)
                session.rollback()


def may_write(authority: Authority, grant: Grant, table: str, basin: str) -> bool | None:
    """Return whether a job may write a table's row of a basin, as declared; None where another owner decides."""
    if grant.is_official:
        return table in authority.tables and is_in(basin)
    owned = authority.owned(table, "operator")
    if owned in (None, "any"):
        return owned == "any"
    return is_own(basin) and is_in(basin) if owned == "basin" else None


def is_written(session: Session, table: Table, basin: str) -> bool:
    column = table.c.id if table.name == "basins" else table.c.basin_id
    try:
        with session.begin_nested():
            session.execute(table.update().where(column == basin).values({column: basin}))
            if table.name != "basins":
                session.execute(table.insert().values({column: basin}))
    except UndeclaredWriteError:
        return False
    except (DBAPIError, StatementError):  # it lacks columns: the guard has let it through
        pass
    return True


def test_a_key_without_a_region_stays_as_it_was(world: World) -> None:
    with world.database.transaction() as session:
        key = keys.make(session, "everywhere", "operator", None, NOW)[0]
    owned_by(world, key)
    for basin in PLACES:
        request = kinds.read("climate", REQUESTS["climate"] | {"basin": basin})
        assert (refusal(world, request, key) is None) == is_own(basin)
    with world.database.reading() as session:
        assert basins.registered_with(session, key.id) == ["OWN-in", "OWN-out"]


def test_a_key_whose_region_is_not_stored_any_more_changes_nothing(world: World) -> None:
    key = world.keys["operator"]
    owned_by(world, key)
    with world.database.transaction() as session:
        assert basins.registered_with(session, key.id) == ["OWN-in"]
        session.execute(Base.metadata.tables["regions"].delete())
        assert basins.registered_with(session, key.id) == []
    for basin in PLACES:
        request = kinds.read("climate", REQUESTS["climate"] | {"basin": basin})
        assert "is for the region north" in (refusal(world, request, key) or "")


@pytest.mark.parametrize(
    ("region", "inside", "outside"),
    [
        (Region(id="r", huc="0101"), ["USGS-01013500", "OWN-in"], ["USGS-13235000", "OWN-out", "NEW-1"]),
        (Region(id="r", agency="OWN"), ["OWN-in", "OWN-out", "OWN-new"], ["USGS-01013500", "OWNER-1"]),
        (Region(id="r", basins=["OWN-in", "A_B-1"]), ["OWN-in", "A_B-1"], ["OWN-i", "OWN-in2", "AXB-1", "OWN-out"]),
    ],
)
def test_a_region_has_the_basins_of_its_rule(
    world: World, region: Region, inside: list[str], outside: list[str]
) -> None:
    owned_by(world, world.keys["operator"])
    stored = sorted(basin for basin in inside if basin in PLACES)
    with world.database.transaction() as session:
        upsert(session, Region, [as_values(region)])
        assert basins.chosen(session, region="r") == stored
        assert [basin for basin in PLACES if "r" in regions.of_basin(session, basin)] == stored
        regions.require_within(session, "r", inside, key="Ann")
        for basin in outside:
            with pytest.raises(OutsideRegion, match=f"The key of Ann is for the region r, and {basin} does not lie"):
                regions.require_within(session, "r", [*inside, basin], key="Ann")


def test_a_region_has_one_rule(database: Database) -> None:
    for fields in ({}, {"huc": "01", "agency": "USGS"}, {"huc": "01", "basins": []}):
        region: dict[str, Any] = as_values(Region(id="r")) | fields
        with pytest.raises(DBAPIError, match="rule"), database.transaction() as session:
            upsert(session, Region, [region])


def test_an_admins_key_has_no_region(database: Database) -> None:
    with database.transaction() as session, pytest.raises(Exception, match="An admin's key is for the whole service"):
        keys.make(session, "chief", "admin", None, NOW, "north")
