"""The migrated tables are those of the code, on both systems."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

import migrations
from hydrology.base.calendar import day
from jobspec import kinds
from records.database.engine import Database, revisions
from records.database.ids import fingerprint
from records.forecasts import latest
from records.jobs import jobs, schedules
from records.runs import runs, states
from records.runs.lifetime_balance import SinceEmpty
from records.runs.run_summary import RunSummary
from records.runs.what_if import RunWhatIf
from records.schema import Base
from records.series import series
from records.versions import trainings, versions
from records.versions.tables import VersionBasinRow, VersionRow
from records.versions.version_properties import Pretrained, VersionProperties
from tests.records.factories import (
    BASIN,
    NOW,
    a_basin,
    a_job,
    a_promoted_version,
    a_run,
    a_source,
    a_state,
    a_version,
    contents,
    daily,
    not_issued,
)


def _described(connection: Connection) -> dict[str, Any]:
    """Return all that the database reports of its tables, but alembic's own."""
    inspector = inspect(connection)
    return {
        table: {
            "columns": [{**column, "type": str(column["type"])} for column in inspector.get_columns(table)],
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
    config = Config()
    config.set_main_option("script_location", migrations.__path__[0])
    with database.migrating() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, revision)


def test_the_revisions_are_those_that_alembic_finds() -> None:
    config = Config()
    config.set_main_option("script_location", migrations.__path__[0])
    scripts = ScriptDirectory.from_config(config).walk_revisions()
    assert list(revisions()) == [script.revision for script in scripts][::-1]


def _of_version(session: Session, version: str, column: Any) -> Any:
    """Return one column of a version: another revision may not have them all."""
    return session.scalar(select(column).where(VersionRow.id == version))


def test_alembic_finds_no_difference(database: Database) -> None:
    with database.reading() as session:
        context = MigrationContext.configure(session.connection(), opts={"compare_type": True})
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


@pytest.mark.parametrize("before_it", ["0003", "0004", "0006"])
def test_jobs_and_references_to_them_outlive_a_change_of_their_kinds(database: Database, before_it: str) -> None:
    with database.transaction() as session:
        posted = a_job(session, kind="evaluation")
        schedule = schedules.create(
            session,
            schedules.NewSchedule(
                name="daily",
                kind="forecast",
                params={},
                cron="0 6 * * *",
                timezone="UTC",
                enabled=True,
                next_run_at=NOW,
            ),
            NOW,
        )
        assert schedules.advance(session, schedule.id, 1, ran_at=NOW, next_run_at=NOW, job_id=posted)
        before = contents(session)
        a_job(session, kind="later")
    _downgrade(database, before_it)
    of_another_kind = text("UPDATE jobs SET kind = 'later'")  # the columns are those of that revision
    with database.transaction() as session, pytest.raises(IntegrityError), session.begin_nested():
        session.execute(of_another_kind)
    database.migrate()
    with database.transaction() as session:
        assert contents(session) == before
        a_job(session, kind="later")


def test_tables_that_were_sent_before_are_a_kind_of_their_own(database: Database) -> None:
    sent, other = {"source": "tables", "observations_file": "/a", "product": "own"}, {"from": ["/b"]}
    _downgrade(database, "0006")
    with database.transaction() as session:
        posted = [a_job(session, kind="ingest", params=params) for params in (sent, other)]
    database.migrate()
    with database.reading() as session:
        migrated = [jobs.get(session, job) for job in posted]
    assert [(job.kind, job.params) for job in migrated] == [
        ("upload", {"observations_file": "/a", "product": "own"}),
        ("ingest", other),
    ]
    assert [kinds.read(job.kind, job.params).stored() for job in migrated] == [job.params for job in migrated]
    _downgrade(database, "0006")
    with database.reading() as session:
        assert [jobs.get(session, job).params for job in posted] == [sent, other]


def test_a_downgrade_lets_go_only_of_basins_that_are_not_stored(database: Database) -> None:
    with database.transaction() as session:
        version = a_version(session, basins=(a_basin(session), "SYNTH-01")).id
        assert versions.get(session, version).basins == ("SYNTH-01", BASIN)
    _downgrade(database, "0004")
    with database.transaction() as session:
        assert session.scalars(select(VersionBasinRow.basin_id).filter_by(version_id=version)).all() == [BASIN]
        with pytest.raises(IntegrityError), session.begin_nested():
            session.execute(text("INSERT INTO version_basins VALUES (:id, 'SYNTH-01')"), {"id": version})
    database.migrate()
    with database.transaction() as session:
        assert versions.get(session, version).basins == (BASIN,)
        a_version(session, basins=("SYNTH-01",))


def test_trainings_of_before_a_choice_state_what_they_were(database: Database) -> None:
    def configs() -> list[Any]:
        with database.reading() as session:
            (training,) = trainings.list_trainings(session)
            return [_of_version(session, version, VersionRow.config), training.request["config"]]

    before = {"network": {"architecture": "mclstm", "cells": 64}}
    after = {
        "network": {"architecture": "mclstm", "cells": 64, "embedding": 0},
        "ema_decay": 0.0,
        "precision": "float32",
        "expectile": 0.5,
    }
    with database.transaction() as session:
        version = a_version(session).id
        trainings.start(session, {"config": before}, NOW)
    _downgrade(database, "0004")
    assert configs() == [before, before]
    database.migrate()
    assert configs() == [after, after]
    _downgrade(database, "0004")
    assert configs() == [before, before]


def test_a_run_from_before_its_program_was_stored_has_none(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        run = a_run(session, a_version(session).id)
    _downgrade(database, "0007")
    database.migrate()
    with database.reading() as session:
        assert runs.get(session, run.id) == replace(run, program=None)


def test_the_newest_run_of_a_basin_is_noted_of_runs_that_were_stored_before(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        version = a_promoted_version(session)
        old = a_run(session, version, t0=day("2008-09-28"))
        a_run(session, version, not_issued("rain is missing"), t0=day("2008-09-29"))
        a_run(session, version, t0=day("2008-09-30"), purpose="on-request")
        a_run(session, version, t0=day("2008-09-27"))
    _downgrade(database, "0024")
    database.migrate()
    with database.reading() as session:
        found = latest.latest(session, BASIN, NOW)
    assert found.run == old
    assert found.superseded_by is not None
    assert found.superseded_by.reason == "rain is missing"


def test_a_downgrade_lets_go_of_dry_runs_alone(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        version = a_version(session).id
        run = a_run(session, version)
        dry = a_run(session, version, forcing_kind="dry", purpose="what-if")
        assert runs.list_runs(session) == [dry, run]
    _downgrade(database, "0027")
    database.migrate()
    with database.reading() as session:
        assert runs.list_runs(session) == [run]
        assert runs.issued_pairs(session, [run.id, dry.id]) == [(run.id, BASIN)]


def test_a_downgrade_lets_go_of_runs_that_were_asked_to_change_something(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        version = a_version(session).id
        run, dry = a_run(session, version), a_run(session, version, forcing_kind="dry", purpose="what-if")
        a_run(session, version, purpose="what-if", what_if=RunWhatIf(changes={"degrees": 2.0}))
    _downgrade(database, "0028")
    database.migrate()
    with database.reading() as session:
        assert runs.list_runs(session) == [dry, run]


def _numbers(session: Session, keys: list[tuple[str, str]]) -> Any:
    """Return all numbers of runs, to the bit."""
    return {
        key: (
            {
                name: (series.unit, dict(series.axes), series.values.dtype.str, series.values.tobytes())
                for name, series in content.series.items()
            },
            content.ledgers,
            runs.basin_of(session, *key),
        )
        for key, content in runs.content_of_many(session, keys).items()
    }


def test_every_array_and_ledger_of_runs_outlives_their_packing(database: Database) -> None:
    chance = np.random.default_rng(0)
    lead, members, traces = [1, 2, 3, 4], ["0", "1"], [1981, 1982, 1983]
    cells = chance.random((2, 7), dtype=np.float32)
    arrays: dict[str, dict[str, list[Any]]] = {
        "discharge": {"member": members, "trace": traces, "lead": lead},
        "discharge_quantiles": {"level": [0.05, 0.5, 0.95], "lead": lead},
        "ledger": {"entry": ["rain", "residual", "tolerance"], "member": members, "trace": traces},
        "nothing": {"lead": []},
    }
    series = [
        runs.RunSeries(name, "mm/day", axes, chance.random([*map(len, axes.values())], dtype=np.float32))
        for name, axes in arrays.items()
    ]
    series.append(runs.RunSeries("cells_at_t0", "mm", {"member": members, "cell": list(range(7))}, cells))
    ledgers = [
        runs.Ledger("0", {"rain": 1 / 3, "loss": -0.1}, 1e-7, 1e-5, SinceEmpty(residual_mm=2e-5, precipitation_mm=9.0)),
        runs.Ledger("1", {"rain": 1 / 3, "loss": -0.2}, 1e-7, 1e-5, None, "1982"),
    ]
    with database.transaction() as session:
        version = a_version(session).id
        names = [a_basin(session, name) for name in (BASIN, "SYNTH-01", "SYNTH-02")]
        state = states.put(session, a_state(version, "2008-09-30", arrays={"c": cells}), NOW)
        shown = runs.RunBasin(
            basin_id=names[0], status="withheld", reason="open", state_hash=state.sha256, summary=RunSummary(traces=3)
        )
        results = [
            runs.BasinResult(basin=shown, series=series, ledgers=ledgers),
            runs.BasinResult(basin=replace(shown, basin_id=names[1]), series=series),
            not_issued("nothing is known", names[2]),
        ]
        stored = [a_run(session, version, *results).id for _ in range(3)]
        keys = [(run, name) for run in stored for name in names]
        before, rows = _numbers(session, keys), contents(session)
    _downgrade(database, "0033")
    with database.reading() as session:
        count = session.execute(text("SELECT count(*) FROM run_series WHERE variable = 'cells_at_t0'")).scalar_one()
        sizes = session.execute(text("SELECT length(content) FROM run_series WHERE variable = 'cells_at_t0'")).scalars()
        assert (count, set(sizes)) == (6, {cells.nbytes})
        assert session.execute(text("SELECT count(*) FROM run_ledger")).scalar_one() == 3 * 4
    database.migrate()
    with database.reading() as session:
        assert _numbers(session, keys) == before
        assert contents(session) == rows


def test_a_training_that_was_half_done_goes_on_under_the_names_of_now(database: Database) -> None:
    config = {
        "windows": {"spinup_days": 60, "batch": 4},
        "schedule": {"kind": "cosine", "steps": 8, "peak_learning_rate": 0.02, "final_learning_rate": 0.001},
        "ema_decay": 0.9,
    }
    before = {
        "windows": {"warmup_days": 60, "batch": 4},
        "schedule": {"kind": "cosine", "steps": 8, "peak": 0.02, "final": 0.001},
        "averaging": 0.9,
    }
    request = {"config": config, "basins": [BASIN]}
    with database.transaction() as session:
        version = a_version(session, config=config).id
        training = trainings.start(session, request, NOW).id
        trainings.save_checkpoint(session, training, 0, 7, b"half way", {"steps": 8}, NOW)
        parent = a_job(session, kind="training", params={"config": config}, idempotency_key="once")
        member = a_job(session, kind="member", params={"training": training, "member": 0})
        stored = contents(session)
    _downgrade(database, "0008")
    with database.reading() as session:
        (then,) = trainings.list_trainings(session)
        assert _of_version(session, version, VersionRow.config) == then.request["config"] == before
        assert jobs.get(session, parent).params == {"config": before}
        assert jobs.get(session, member).params["training"] == then.id == fingerprint(then.request) != training
    database.migrate()
    with database.transaction() as session:
        assert contents(session) == stored
        assert trainings.start(session, request, NOW).id == training
        checkpoint = trainings.checkpoint(session, training, 0)
        assert checkpoint is not None
        assert checkpoint.step == 7
        assert a_job(session, kind="training", params={"config": config}, idempotency_key="once") == parent


def test_an_ensemble_that_was_installed_is_named_by_its_content_of_now(database: Database) -> None:
    before = "87ea657652ab29057ef3c2522a100aebb01254fce7cd5b5a1346a0bcec4c830c"
    now = "9861031e97ae21582096b94bcd07cc71664236a2acb648d5ca1cfe9bd67f3eaa"
    installed = Pretrained(name="mclstm-maurer-447", content=now, trained_on="maurer_extended")
    with database.transaction() as session:
        training = trainings.start(session, {"pretrained": now}, NOW).id
        version = a_version(session, properties=VersionProperties(pretrained=installed)).id
        stored = contents(session)
    _downgrade(database, "0008")
    with database.reading() as session:
        (then,) = trainings.list_trainings(session)
        assert then.request == {"pretrained": before}
        properties = _of_version(session, version, VersionRow.properties)
        assert properties.pretrained == replace(installed, content=before)
    database.migrate()
    with database.transaction() as session:
        assert contents(session) == stored
        assert trainings.start(session, {"pretrained": now}, NOW).id == training


def test_rows_from_before_there_were_checksums_are_given_theirs(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        for years in (1998, 1999):
            series.write(
                session,
                BASIN,
                "usgs",
                "discharge",
                daily(f"{years}-12-31", 1.0, *[float(years)] * 366),
                a_source(session),
                NOW,
            )
        version = a_version(session).id
        for at in ("2008-09-29", "2008-09-30"):
            states.put(session, a_state(version, at, sums={"loss": np.array([1.0, 2.0])}), NOW)
        stored = contents(session)
        assert len(stored["series_revisions"]) == 2
    _downgrade(database, "0031")
    database.migrate()
    with database.reading() as session:
        assert contents(session) == stored


def test_downgrade_removes_every_table_and_upgrade_brings_them_back(database: Database) -> None:
    with database.transaction() as session:
        before = _described(session.connection())
    _downgrade(database)
    with database.reading() as session:
        assert _described(session.connection()) == {}
    assert database.check().revision is None
    database.migrate()
    with database.reading() as session:
        assert _described(session.connection()) == before
