"""What a posted job may do depends on whose it is."""

from contextlib import nullcontext

import pytest

from hydrology.errors import InvalidInput
from operations.posted import require_may_fit, speaks_for_the_service
from records import bridges, jobs, keys
from records.engine import Database
from tests.records.factories import NOW, a_basin, a_job
from tests.records.test_bridges import LIVE, a_part


@pytest.mark.parametrize(("scope", "speaks"), [("operator", False), ("admin", True), (None, True)])
def test_only_admins_and_schedules_speak_for_the_service(
    database: Database, scope: keys.Scope | None, speaks: bool
) -> None:
    with database.transaction() as session:
        key = None if scope is None else keys.make(session, "someone", scope, None, NOW)[0].id
        job = jobs.get(session, a_job(session, key_id=key))
        assert speaks_for_the_service(session, job) is speaks


@pytest.mark.parametrize("scope", ["operator", "admin"])
def test_what_forecasts_may_rest_on_is_not_an_operators_to_fit(database: Database, scope: keys.Scope) -> None:
    with database.transaction() as session:
        a_basin(session)
        bridges.create(session, LIVE, [a_part()], NOW)
        key = keys.make(session, "someone", scope, None, NOW)[0].id
        job = jobs.get(session, a_job(session, key_id=key))
        require_may_fit(session, job, "own_way", None)
        for name, model in ((LIVE.name, None), ("ahead", "ecmwf_ifs")):
            with pytest.raises(InvalidInput, match="an admin's key") if scope == "operator" else nullcontext():
                require_may_fit(session, job, name, model)
