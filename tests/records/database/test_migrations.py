"""The migrated tables are those of the code, on both systems."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

import migrations
from extensions.usgs.feed_kinds import UsgsSettings
from hydrology.base.absent import absent
from hydrology.base.calendar import Period, day
from hydrology.base.errors import InvalidInput
from hydrology.base.reasons import Reason
from hydrology.verification.held_out_years import PeriodUse
from jobspec.feed_kinds import USUAL, NewFeed
from jobspec.levels import FloodFrequencySettings
from jobspec.subscriptions import NewSubscription
from migrations import configuration
from records.access import keys
from records.alerts import alert_changes, alerts, deliveries, settle_alerts, subscriptions
from records.alerts.alert_changes import NewChange
from records.alerts.alerts import LevelChance
from records.basins import basins, ownership
from records.database.engine import Database, revisions
from records.feeds import feeds
from records.levels import basin_levels
from records.runs import states
from records.schema import Base, write_revision
from records.series import series_writer
from records.verification import lead_scores, scores
from records.verification.scores import Score
from records.versions import versions
from records.versions.version_properties import Tuning, VersionPart, VersionProperties
from records.versions.versions import VERSIONS
from runtime.settings import Settings
from testing.databases import HEAD
from testing.records import (
    BASIN,
    NOW,
    a_basin,
    a_job,
    a_promoted_version,
    a_run,
    a_source,
    a_state,
    a_version,
    change,
    contents,
    daily,
    issued,
)
from tests.records.verification.test_lead_scores import a_verification

SCORE = Score(
    version_id="",
    basin_id=BASIN,
    member="mean",
    metric="nse",
    first_day=day("1989-10-01"),
    last_day=day("1999-09-30"),
    n=3652,
    value=0.74,
    period_use="held out",
    evaluated_at=NOW,
)


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
        series_writer.write(session, *key, daily("2008-12-31", 1.0, *[np.nan] * 3), a_source(session), NOW)
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


def test_an_upgrade_finds_how_the_trainings_used_the_days_of_stored_scores(database: Database) -> None:
    own = {"train_period": "1999-10-01..2008-09-30", "validation_period": "1989-10-01..1999-09-30"}
    part = VersionPart(version="a", name="a", product="daymet", trained_on="daymet", architecture="mclstm", weight=0.5,
                       members=(0,), fitted=("1999-10-01..2008-09-30",), validation=None)  # fmt: skip
    parts = part, replace(part, fitted=("1980-10-01..1999-09-30",), validation="1999-10-01..2008-09-30")
    tuning = Tuning(basins=(BASIN,), earlier_periods=("1980-10-01..1989-09-30",))
    kinds: list[dict[str, Any]] = [
        {"config": own, "basins": (BASIN,)},
        {"config": own | {"held_out_period": "2000-10-01..2001-09-30"}},
        {"config": own, "basins": (BASIN,), "properties": VersionProperties(tuning=tuning)},
        {"config": {}, "basins": (BASIN,), "properties": VersionProperties(parts=parts)},
        {"config": {}},
    ]
    periods = [(1980, 1989), (1989, 1999), (1999, 2008), (2000, 2001), (1985, 2000)]
    days = [Period.parse(f"{first}-10-01..{last}-09-30") for first, last in periods]
    with database.transaction() as session:
        verified = a_verification(session)
        for kind in kinds:
            properties = kind.pop("properties", VersionProperties())
            new = a_version(session, **kind).id
            change(session, VERSIONS, new, properties=properties)  # members or parts, as no version would have both
            version = versions.get(session, new)
            for basin, period in product((BASIN, a_basin(session, "SYNTH-01")), days):
                key: dict[str, Any] = {
                    "version_id": version.id,
                    "basin_id": basin,
                    "first_day": period.first,
                    "last_day": period.last,
                }
                scores.replace(session, [replace(SCORE, **key, period_use=version.use_of(period, basin))])
            use: PeriodUse = "held out" if version.used_periods else "unknown"
            lead_scores.replace(session, [replace(verified, version_id=version.id, period_use=use)])
        before = contents(session)
        assert {one.period_use for one in scores.scores(session)} == {*get_args(PeriodUse)}
    _downgrade(database, "0005")
    database.migrate()
    with database.reading() as session:
        after = contents(session)
    assert after["scores"] == before["scores"]
    place = lead_scores.VERIFICATION.c.keys().index("independent_issues")  # never counted before
    assert after["verification"] == [(*row[:place], None, *row[place + 1 :]) for row in before["verification"]]


def test_an_upgrade_makes_what_an_operator_registered_unofficial(database: Database) -> None:
    with database.transaction() as session:
        operator, _ = keys.make(session, "mill", "operator", None, NOW)
        admin, _ = keys.make(session, "chief", "admin", None, NOW)
        for basin, key in (("OWN-mill", operator.id), ("OWN-office", admin.id), (BASIN, None)):
            basins.register(session, basin, key)
            new = NewChange(kind="promotion", at=NOW, basin_id=basin, version_id=a_version(session).id, why="Old.")
            alert_changes.record_message(session, [new], NOW)
        session.execute(text("UPDATE alert_changes SET sender = 'floods@agency.example'"))
    _downgrade(database, "0001")
    database.migrate()
    with database.reading() as session:
        stored = {change.basin_id: change for change in alert_changes.page(session)}
        assert ownership.official(session, basins.chosen(session)) == ["OWN-office", BASIN]
    assert {basin: change.owner for basin, change in stored.items()} == {
        "OWN-mill": operator.id,
        "OWN-office": None,
        BASIN: None,
    }
    assert {basin for basin, change in stored.items() if change.is_official} == {"OWN-office", BASIN}


def test_an_upgrade_ends_the_alerts_of_floods_that_are_for_comparison_alone(database: Database) -> None:
    skewed, alone = "USGS-13235000", "USGS-13317000"
    with database.transaction() as session:
        for basin in (skewed, alone, BASIN):
            version = a_promoted_version(session, a_basin(session, basin))
            key, _ = keys.make(session, basin, "operator", None, NOW)
            subscriptions.create(session, NewSubscription(url="https://rivers.example/"), key.id, NOW, Settings())
            flood: dict[str, Any] = {"kind": "flood", "return_period_years": 5, "direction": "rising"}
            flood |= {"discharge": 100.0, "calibration": "observed"}
            by_level = {"gev-5": 0.0 if basin == alone else 0.9, "lp3-5": 0.8, "lp3-10": 0.0}
            chances = [LevelChance(level=level, chance=chance, **flood) for level, chance in by_level.items()]
            run = a_run(session, version, issued(basin))
            settle_alerts.settle(session, basin, run, 10, chances, settle_alerts.DecisionTime(NOW, NOW))
        skew = FloodFrequencySettings(regional_skew=0.1, regional_skew_error=0.3)
        basin_levels.put_flood_frequency(session, skewed, skew, NOW)
        sent = len(deliveries.page(session))
    _downgrade(database, "0005")
    database.migrate()
    with database.reading() as session:
        levels = {basin: [one.level for one in alerts.of_basin(session, basin)] for basin in (BASIN, skewed)}
        assert levels == {BASIN: ["gev-5"], skewed: ["lp3-10", "lp3-5"]}
        (end, *earlier) = alert_changes.page(session, basins=[BASIN])
        assert (end.level, end.kind, end.severity, end.severity_before) == ("lp3-5", "level", None, "warning")
        assert (end.message, {one.message for one in earlier}) == (None, {one.id for one in earlier})
        (cancelled, _) = alert_changes.page(session, basins=[alone])
        assert (cancelled.level, cancelled.message) == ("lp3-5", cancelled.id)
        assert [one.level for one in alert_changes.earlier_of_alert(session, cancelled)] == ["lp3-5"]
        assert len(deliveries.page(session)) == sent
    with database.transaction() as session:
        run = a_run(session, version, issued(), t0=day("2008-10-01"))
        chance = LevelChance(level="gev-10", chance=0.9, **flood | {"discharge": 200.0})
        (further,) = settle_alerts.settle(
            session, BASIN, run, 10, [chances[0], chance], settle_alerts.DecisionTime(NOW, NOW)
        )
        taken_over = alert_changes.earlier_of_alert(session, further)
        assert {one.level for one in taken_over} == {"gev-5", "lp3-5"}


def test_an_upgrade_computes_states_anew_where_the_land_is_assumed(database: Database) -> None:
    other = "USGS-13317000"
    with database.transaction() as session:
        version = a_promoted_version(session, a_basin(session, BASIN))
        for basin, assumes in ((BASIN, True), (a_basin(session, other), None)):
            basins.upsert(session, ownership.Basin(basin, assume_attributes=assumes))
            states.put(session, [a_state(version, "2008-09-30", basin_id=basin)], NOW)
    _downgrade(database, "0017")
    database.migrate()
    with database.reading() as session:
        stored = {basin: states.get(session, version, basin, day("2008-09-30")) for basin in (BASIN, other)}
    reasons = {basin: state and state.invalid_reason for basin, state in stored.items()}
    assert reasons == {BASIN: absent(Reason.ATTRIBUTE_REVISED), other: None}


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


def test_an_upgrade_counts_the_days_without_a_value_of_stored_years(database: Database) -> None:
    _fill(database)
    counted = text("SELECT year, unknown_days FROM series ORDER BY year")
    with database.reading() as session:
        before = session.execute(counted).all()
    _downgrade(database, "0026")
    database.migrate()
    with database.reading() as session:
        assert session.execute(counted).all() == before == [(2008, 365), (2009, 365)]
