"""What a posted job may do depends on whose it is."""

import pytest

from operations.posted import speaks_for_the_service
from records import jobs, keys
from records.engine import Database
from tests.records.factories import NOW, a_job


@pytest.mark.parametrize(("scope", "speaks"), [("operator", False), ("admin", True), (None, True)])
def test_only_admins_and_schedules_speak_for_the_service(
    database: Database, scope: keys.Scope | None, speaks: bool
) -> None:
    with database.transaction() as session:
        key = None if scope is None else keys.make(session, "someone", scope, None, NOW)[0].id
        job = jobs.get(session, a_job(session, key_id=key))
        assert speaks_for_the_service(session, job) is speaks
