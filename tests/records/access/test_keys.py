"""A token opens while its key is valid, and is stored nowhere."""

import re
from datetime import timedelta

import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from hydrology.base.digests import sha256
from hydrology.base.errors import InvalidInput
from records.access import keys
from records.access.keys import UnknownKey
from records.database.engine import Database
from records.job_permissions.permissions import SERVICE, of_key
from records.jobs.jobs import JOBS
from testing.records import NOW, a_job, contents

LATER = NOW + timedelta(days=1)


def test_a_token_opens_its_own_key(database: Database) -> None:
    with database.transaction() as session:
        first, token = keys.make(session, "harvester", "operator", None, NOW)
        second, other = keys.make(session, "head", "admin", LATER, LATER - timedelta(seconds=1))
        assert re.fullmatch(rf"freshet_{first.id}_[A-Za-z0-9_-]{{43}}", token)
        assert (first.name, first.scope, first.created_at, first.expires_at) == ("harvester", "operator", NOW, None)
        assert keys.check(session, token, LATER) == first
        assert keys.check(session, other, NOW) == second
        assert keys.list_keys(session) == [second, first]


@pytest.mark.parametrize("scope", ["operator", "admin", None])
def test_a_job_is_official_by_one_rule(database: Database, scope: keys.Scope | None) -> None:
    with database.transaction() as session:
        key = None if scope is None else keys.make(session, "river office", scope, None, NOW)[0]
        grant = SERVICE if key is None else of_key(key)
        job = a_job(session, key_id=grant.key_id)
        found = session.scalars(select(JOBS.c.id).where(keys.official(JOBS.c.key_id))).all()
        assert (found == [job]) is keys.is_official(session, grant.key_id) is grant.is_official
        assert grant.is_official is (scope != "operator")


def test_a_token_is_stored_nowhere(database: Database) -> None:
    with database.transaction() as session:
        key, token = keys.make(session, "harvester", "operator", None, NOW)
        secret = token.split("_", 2)[2]
        stored = (
            repr(contents(session)) + repr(key) + repr(keys.list_keys(session)) + repr(keys.check(session, token, NOW))
        )
        assert secret not in stored
        assert sha256(token.encode()) in stored
        assert sha256(token.encode()) not in repr(key)


@pytest.mark.parametrize("after", [timedelta(0), timedelta(days=1)])
def test_an_expired_key_opens_nothing(database: Database, after: timedelta) -> None:
    with database.transaction() as session:
        key, token = keys.make(session, "harvester", "operator", LATER, NOW)
        assert keys.check(session, token, LATER - timedelta(seconds=1)) == key
        assert keys.check(session, token, LATER + after) is None


def test_a_revoked_key_opens_nothing_and_stays_revoked(database: Database) -> None:
    with database.transaction() as session:
        key, token = keys.make(session, "harvester", "operator", None, NOW)
        _, other = keys.make(session, "head", "admin", None, NOW)
        assert keys.revoke(session, key.id, NOW).revoked_at == NOW
        assert keys.revoke(session, key.id, LATER).revoked_at == NOW
    with database.reading() as session:
        assert keys.check(session, token, LATER) is None
        assert keys.check(session, other, LATER)
    with database.transaction() as session, pytest.raises(UnknownKey, match="'nothing'"):
        keys.revoke(session, "nothing", NOW)


def test_any_other_token_opens_nothing(database: Database) -> None:
    with database.transaction() as session:
        key, token = keys.make(session, "harvester", "operator", None, NOW)
        _, other = keys.make(session, "head", "admin", None, NOW)
        swapped = f"freshet_{key.id}_{other.split('_', 2)[2]}"
        wrong = token[:-1] + ("a" if token[-1] != "a" else "b")
        unknown = f"freshet_{'0' * 22}_{token[-43:]}"
        hash_ = sha256(token.encode())
        for guess in (swapped, wrong, unknown, hash_, f"freshet_{key.id}_{hash_[:43]}", token + "\n", token[:-1]):
            assert keys.check(session, guess, NOW) is None
        for nonsense in ("", "freshet", "freshet__", "freshet_\x00_\x00", f"freshet_{key.id}_", "\ud800", "é" * 60):
            assert keys.check(session, nonsense, NOW) is None


def test_a_key_that_could_not_be_used_is_not_created(database: Database) -> None:
    with database.transaction() as session:
        with pytest.raises(InvalidInput, match="name"):
            keys.make(session, " ", "operator", None, NOW)
        with pytest.raises(InvalidInput, match="past"):
            keys.make(session, "harvester", "operator", NOW, NOW)
        with pytest.raises(IntegrityError), session.begin_nested():
            keys.make(session, "harvester", "reader", None, NOW)  # type: ignore[arg-type]
        assert keys.list_keys(session) == []
