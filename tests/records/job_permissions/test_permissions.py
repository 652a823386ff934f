"""The rights of a job are those of its key, as they are when it is posted and when it runs."""

from datetime import timedelta

import pytest

from jobspec.kinds import read
from records.access import keys
from records.access.keys import KEYS
from records.basins import basins
from records.database.engine import Database
from records.job_permissions import permissions
from records.job_permissions.permissions import SERVICE, NotAllowed
from records.jobs import jobs, schedules
from records.versions import promotions, versions
from records.versions.promotions import NotOwnersBasin
from records.weather import bridges
from testing.bridges import LIVE
from testing.records import BASIN, NOW, a_basin, a_job, a_run, a_version, issued

DAILY = read("daily", {})
CHECK = read("check", {})
LATER = NOW + timedelta(days=1)


@pytest.mark.parametrize("scope", ["operator", "admin"])
@pytest.mark.parametrize("by_schedule", [False, True])
def test_a_job_has_the_rights_that_its_key_has_when_it_runs(
    database: Database, scope: keys.Scope, by_schedule: bool
) -> None:
    with database.transaction() as session:
        key = keys.make(session, "river office", scope, LATER, NOW)[0]
        schedule = None
        if by_schedule:
            schedule = schedules.create(
                session,
                schedules.NewSchedule(
                    name="nightly", kind="check", params={}, cron="0 3 * * *", timezone="UTC", key_id=key.id
                ),
                NOW,
            ).id
        job = jobs.get(session, a_job(session, kind="check", key_id=key.id, schedule_id=schedule))
        created = f"schedule {schedule} was created with" if by_schedule else "job was posted with"
        grant = permissions.of_job(session, job, CHECK, NOW)
        assert (grant.role, grant.key_id, grant.is_official) == (scope, key.id, scope == "admin")
        assert grant.purpose == ("operational" if scope == "admin" else "on-request")
        with pytest.raises(NotAllowed, match=f"key of river office that the {created} expired at"):
            permissions.of_job(session, job, CHECK, LATER)
        keys.revoke(session, key.id, NOW)
        with pytest.raises(NotAllowed, match=f"key of river office that the {created} was revoked at"):
            permissions.of_job(session, job, CHECK, NOW)
        lost = jobs.get(session, a_job(session, kind="check", key_id="nobody's", schedule_id=schedule))
        with pytest.raises(NotAllowed, match=f"The key nobody's that the {created} is not stored here"):
            permissions.of_job(session, lost, CHECK, NOW)


def test_a_job_whose_key_has_a_smaller_scope_by_now_is_refused(database: Database) -> None:
    with database.transaction() as session:
        key = keys.make(session, "chief", "admin", None, NOW)[0].id
        job = jobs.get(session, a_job(session, kind="daily", key_id=key, schedule_id="nightly"))
        assert permissions.of_job(session, job, DAILY, NOW).is_official
        session.execute(KEYS.update().values(scope="operator"))
        session.expire_all()
        with pytest.raises(
            NotAllowed, match=r"may not run a job of the kind daily\. .* Use a forecaster's key"
        ) as refused:
            permissions.of_job(session, job, DAILY, NOW)
    assert refused.value.status == 403


def test_what_a_job_creates_must_be_new_until_an_attempt_has_planned_it(database: Database) -> None:
    fit = read("bridge", {"name": LIVE.name, "fit": {"from": "daymet", "to": "maurer"}})
    with database.transaction() as session:
        key = keys.make(session, "mill", "operator", None, NOW)[0]
        bridges.create(session, LIVE, [], NOW)
        with pytest.raises(NotAllowed, match=LIVE.name):
            permissions.require(session, permissions.of_key(key, fit), fit)
        permissions.require(session, permissions.of_key(key, fit), fit, resumed=True)


def test_a_forecasters_daily_cycle_and_forecast_are_the_services_own_and_no_other_job(database: Database) -> None:
    with database.transaction() as session:
        ann = keys.make(session, "Ann", "forecaster", None, NOW)[0]
    for request in (DAILY, read("daily-part", {"basins": [BASIN], "horizon": 3}), read("forecast", {})):
        grant = permissions.of_key(ann, request)
        assert (grant.is_official, grant.owner, grant.purpose) == (True, None, "operational")
    for kind in ("prune", "retraining"):
        request = read(kind, {})
        refusal = f"the scope forecaster, may not run a job of the kind {kind}.* Use an admin's key"
        with database.reading() as session, pytest.raises(NotAllowed, match=refusal):
            permissions.require(session, permissions.of_key(ann, request), request)


def test_a_job_without_a_key_is_the_services_own(database: Database) -> None:
    with database.transaction() as session:
        job = jobs.get(session, a_job(session, kind="daily"))
        assert permissions.of_job(session, job, DAILY, NOW) is SERVICE
    assert (SERVICE.owner, SERVICE.purpose) == (None, "operational")


def test_an_operators_version_serves_only_basins_of_that_key(database: Database) -> None:
    with database.transaction() as session:
        key = keys.make(session, "mill", "operator", None, NOW)[0].id
        a_basin(session)
        basins.register(session, "OWN-mill", key)
        official, own = a_version(session).id, a_version(session, owner=key).id
        promotions.promote(session, own, ["OWN-mill"], reason="better", by="someone", at=NOW)
        with pytest.raises(NotOwnersBasin, match=f"not {BASIN}: name the operator's basins"):
            promotions.promote(session, own, ["OWN-mill", BASIN], reason="better", by="someone", at=NOW)
        assert promotions.current(session, ["OWN-mill", BASIN]) == {"OWN-mill": own}
        promotions.promote(session, official, ["OWN-mill", BASIN], reason="better", by="someone", at=NOW)
        assert promotions.servable(session, key, ["OWN-mill", BASIN]) == ["OWN-mill"]
        assert (versions.newest(session).id, versions.newest(session, key).id) == (official, own)


def test_a_run_of_an_operator_cannot_be_operational(database: Database) -> None:
    with database.transaction() as session:
        a_basin(session)
        version = a_version(session).id
        with pytest.raises(Exception, match="ck_runs_owner"), session.begin_nested():
            a_run(session, version, issued(), owner="somebody's")
