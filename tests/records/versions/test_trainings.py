"""A training is its request; it goes on from its newest checkpoints and its finished members."""

import pytest
from sqlalchemy import text

from hydrology.base.absent import absent
from hydrology.base.reasons import Reason
from records.database.checksums import Corrupt
from records.database.engine import Database
from records.versions import trainings
from records.versions.trainings import Checkpoint, UnknownTraining
from records.versions.versions import Member
from testing.records import NOW, a_member, a_version, contents, instant, list_trainings, row_counts

REQUEST = {"architecture": "mclstm", "seeds": [1, 2], "learning_rate": 0.01}
LATER = instant("2009-01-01")

STOPPED = absent(Reason.FAILED, message="The machine stopped.")


def test_the_same_request_is_the_same_training(database: Database) -> None:
    with database.transaction() as session:
        first = trainings.start(session, REQUEST, NOW)
        before = contents(session)
        again = trainings.start(session, dict(reversed(REQUEST.items())), LATER)
        assert again == first
        assert contents(session) == before
        assert trainings.start(session, REQUEST | {"seeds": [1, 3]}, NOW).id != first.id
        assert (first.status, first.request, first.started_at) == ("running", REQUEST, NOW)


def test_a_failed_training_runs_again_and_retains_its_checkpoints(database: Database) -> None:
    with database.transaction() as session:
        training = trainings.start(session, REQUEST, NOW).id
        trainings.save_checkpoint(session, training, Checkpoint(0, 10, b"ten", {}, NOW))
        trainings.fail(session, training, STOPPED, NOW)
        failed = trainings.get(session, training)
        assert (failed.status, failed.reason) == ("failed", STOPPED)
        again = trainings.start(session, REQUEST, LATER)
        assert (again.status, again.reason, again.started_at, again.updated_at) == ("running", None, NOW, LATER)
        stored = trainings.checkpoint(session, training, 0)
    assert stored is not None
    assert stored.content == b"ten"


def test_only_the_newest_checkpoint_of_a_member_is_stored(database: Database) -> None:
    with database.transaction() as session:
        training = trainings.start(session, REQUEST, NOW).id
        assert trainings.checkpoint(session, training, 0) is None
        assert trainings.save_checkpoint(session, training, Checkpoint(0, 10, b"ten", {"loss": 2.0}, NOW))
        assert trainings.save_checkpoint(session, training, Checkpoint(1, 5, b"five", {"loss": 3.0}, NOW))
        assert trainings.save_checkpoint(session, training, Checkpoint(0, 20, b"twenty", {"loss": 1.0}, LATER))
        assert not trainings.save_checkpoint(session, training, Checkpoint(0, 15, b"stale", {"loss": 1.5}, LATER))
        assert trainings.checkpoint(session, training, 0) == Checkpoint(0, 20, b"twenty", {"loss": 1.0}, LATER)
        stored = [trainings.checkpoint(session, training, label) for label in (0, 1)]
        assert [one and one.progress for one in stored] == [{"loss": 1.0}, {"loss": 3.0}]
        assert row_counts(session)["training_checkpoints"] == 2


def test_a_damaged_checkpoint_is_not_returned(database: Database) -> None:
    with database.transaction() as session:
        training = trainings.start(session, REQUEST, NOW).id
        trainings.save_checkpoint(session, training, Checkpoint(0, 10, b"ten", {}, NOW))
        session.execute(text("UPDATE training_checkpoints SET sha256 = 'other'"))
        with pytest.raises(Corrupt):
            trainings.checkpoint(session, training, 0)


def test_a_finished_member_takes_the_place_of_its_checkpoint(database: Database) -> None:
    without_best = Member(1, 7, {"last": b"last"}, {})
    with database.transaction() as session:
        training = trainings.start(session, REQUEST, NOW).id
        trainings.save_checkpoint(session, training, Checkpoint(0, 10, b"ten", {}, NOW))
        trainings.save_checkpoint(session, training, Checkpoint(1, 10, b"ten", {}, NOW))
        trainings.finish_member(session, training, a_member(0), NOW)
        assert trainings.checkpoint(session, training, 0) is None
        assert trainings.checkpoint(session, training, 1) is not None
        trainings.finish_member(session, training, without_best, NOW)
        before = contents(session)
        trainings.finish_member(session, training, a_member(0), LATER)
        assert contents(session) == before
        assert trainings.finished_members(session, training) == [a_member(0), without_best]


def test_a_finished_training_leads_to_its_version_and_leaves_no_weights_behind(database: Database) -> None:
    with database.transaction() as session:
        training = trainings.start(session, REQUEST, NOW).id
        trainings.finish_member(session, training, a_member(0), NOW)
        trainings.save_checkpoint(session, training, Checkpoint(1, 10, b"ten", {}, NOW))
        version = a_version(session, *trainings.finished_members(session, training)).id
        trainings.finish(session, training, version, LATER)
        again = trainings.start(session, REQUEST, instant("2010-01-01"))
        assert (again.status, again.version_id, again.updated_at) == ("finished", version, LATER)
        assert list_trainings(session, status="finished") == [again]
        assert list_trainings(session, status="running") == []
        assert not {"training_members", "training_checkpoints"} & set(row_counts(session))


def test_an_unknown_training_is_missed(database: Database) -> None:
    with database.transaction() as session:
        with pytest.raises(UnknownTraining, match="'nothing'"):
            trainings.get(session, "nothing")
        with pytest.raises(UnknownTraining):
            trainings.fail(session, "nothing", STOPPED, NOW)
