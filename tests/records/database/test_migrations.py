"""The migrated tables are those of the code, on both systems."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

import migrations
from hydrology.base.errors import InvalidInput
from jobspec.feeds import USUAL, NewFeed, UsgsSettings
from migrations.configuration import configuration
from records.access import keys
from records.alerts import alert_changes
from records.alerts.alert_changes import NewChange
from records.basins import basins, ownership
from records.database.engine import Database, revisions
from records.schema import Base
from records.series import series
from records.upkeep.write_revision import write_revision
from records.weather import feeds
from testing.databases import HEAD
from testing.records import BASIN, NOW, a_basin, a_job, a_run, a_source, a_version, contents, daily


def _described(connection: Connection) -> dict[str, Any]:
    """Return all that the database reports of its tables but their order, without alembic's own."""
    inspector = inspect(connection)
    return {
        table: {
            "columns": {one["name"]: {**one, "type": str(one["type"])} for one in inspector.get_columns(table)},
            "primary key": inspector.get_pk_constraint(table),
            "checks": sorted(map(str, inspector.get_check_constraints(table))),
            "foreign keys": sorted(map(str, inspector.get_foreign_keys(table))),
            "unique": sorted(map(str, inspector.get_unique_constraints(table))),
            "indexes": sorted(map(str, inspector.get_indexes(table))),
        }
        for table in sorted(inspector.get_table_names())
        if table != "alembic_version"
    }


def _downgrade(database: Database, revision: str = "base") -> None:
    with database.migrating() as connection:
        command.downgrade(configuration(connection, migrations.VERSIONS), revision)


def _fill(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    """Write rows that refer to one another, and return all rows."""
    with database.transaction() as session:
        key = (a_basin(session), "usgs", "discharge")
        series.write(session, *key, daily("2008-12-31", 1.0, *[np.nan] * 3), a_source(session), NOW)
        a_run(session, a_version(session).id)
        a_job(session)
        return contents(session)


def test_the_revisions_are_those_that_alembic_finds(database: Database) -> None:
    with database.migrating() as connection:
        config = configuration(connection, migrations.VERSIONS)
    scripts = ScriptDirectory.from_config(config).walk_revisions()
    assert list(revisions()) == [script.revision for script in scripts][::-1]


def test_alembic_finds_no_difference(database: Database) -> None:
    with database.reading() as session:
        options = {"compare_type": True, "compare_server_default": True}
        context = MigrationContext.configure(session.connection(), opts=options)
        assert compare_metadata(context, Base.metadata) == []


def test_migrated_tables_are_described_as_those_created_from_the_code(database: Database) -> None:
    # Alembic does not see a check that a migration forgets.
    with database.reading() as session:
        migrated = _described(session.connection())
    _downgrade(database)
    with database.transaction() as session:
        Base.metadata.create_all(session.connection())
        assert migrated == _described(session.connection())
    assert set(migrated) == set(Base.metadata.tables)


def test_downgrade_removes_every_table_with_its_rows_and_upgrade_brings_them_back(database: Database) -> None:
    with database.transaction() as session:
        before, empty = _described(session.connection()), contents(session)
    assert _fill(database) != empty
    _downgrade(database)
    with database.reading() as session:
        assert _described(session.connection()) == {}
    assert database.check().revision is None
    database.migrate()
    with database.reading() as session:
        assert _described(session.connection()) == before
        assert contents(session) == empty


def test_rows_outlive_an_upgrade_to_a_later_revision_and_the_way_back(database: Database, later_revision: str) -> None:
    before = _fill(database)
    for revision, indexed in ((later_revision, True), (HEAD, False), ("head", True), (HEAD, False)):
        database.migrate(revision)
        with database.reading() as session:
            assert contents(session) == before
            names = {index["name"] for index in inspect(session.connection()).get_indexes("basins")}
        assert ("ix_basins_huc" in names) is indexed
    with pytest.raises(InvalidInput, match=f"name one of 0001 to {later_revision}"):
        database.migrate("base")


def test_the_next_revision_is_written_from_what_the_code_has_besides(later_revision: str) -> None:
    versions: Path = migrations.VERSIONS
    write_revision("No index more", versions)
    written = (versions / f"{int(later_revision) + 1:04}_no_index_more.py").read_text()
    assert f'down_revision = "{later_revision}"' in written.replace("'", '"')
    assert "batch_op.drop_index" in written  # of the revision before, which the code does not have
    assert "create_table" not in written


def test_an_upgrade_makes_what_an_operator_registered_unofficial(database: Database) -> None:
    with database.transaction() as session:
        operator, _ = keys.make(session, "mill", "operator", None, NOW)
        admin, _ = keys.make(session, "chief", "admin", None, NOW)
        for basin, key in (("OWN-mill", operator.id), ("OWN-office", admin.id), (BASIN, None)):
            basins.register(session, basin, key)
            new = NewChange(kind="promotion", at=NOW, basin_id=basin, version_id=a_version(session).id, why="Old.")
            alert_changes.record(session, new, NOW)
        session.execute(text("UPDATE alert_changes SET sender = 'floods@agency.example'"))
    _downgrade(database, "0001")
    database.migrate()
    with database.reading() as session:
        stored = {change.basin_id: change for change in alert_changes.page(session)}
        assert ownership.all_official(session) == ["OWN-office", BASIN]
    assert {basin: change.owner for basin, change in stored.items()} == {
        "OWN-mill": operator.id,
        "OWN-office": None,
        BASIN: None,
    }
    assert {basin for basin, change in stored.items() if change.is_official} == {"OWN-office", BASIN}


def test_an_upgrade_moves_feeds_of_the_older_service_of_usgs_to_its_present_one(database: Database) -> None:
    older = {"adapter": "nwis", "form": "rdb", "basins": [BASIN], "days_back": 7, "series": {BASIN: "68077"}}
    with database.transaction() as session:
        a_basin(session)
        feeds.create(session, NewFeed(name="weather", settings=USUAL["past"]), None, NOW)
        feeds.create(session, NewFeed(name="flow", settings=USUAL["flow"]), None, NOW)
        others = [feed for feed in feeds.list_feeds(session) if feed.name == "weather"]
    _downgrade(database, "0005")
    with database.transaction() as session:
        session.execute(
            text("UPDATE feeds SET origin = 'nwis', settings = :old WHERE name = 'flow'"), {"old": json.dumps(older)}
        )
    database.migrate()
    with database.reading() as session:
        moved = feeds.get(session, "flow")
        assert [feeds.get(session, one.name) for one in others] == others
    assert (moved.origin, moved.settings) == (
        "usgs",
        {"adapter": "usgs", "basins": [BASIN], "days_back": 7, "series": {BASIN: "68077"}},
    )
    assert isinstance(moved.read(), UsgsSettings)
