"""Queued jobs of a queue run in turns of their owners, the service's own first but not alone."""

import itertools
from datetime import timedelta

from records.access import keys
from records.database.engine import Database
from records.jobs import attempts, jobs, queues
from testing.records import NOW

LEASE = NOW + timedelta(days=1)


def test_many_jobs_of_one_key_hold_up_neither_the_service_nor_other_keys(database: Database) -> None:
    with database.transaction() as session:
        scopes: dict[str, keys.Scope] = {"eager": "operator", "calm": "operator", "late": "forecaster", "boss": "admin"}
        key = {name: keys.make(session, name, scope, None, NOW)[0].id for name, scope in scopes.items()}
        key_of = {None: "service"} | {value: name for name, value in key.items()}

        instants = (NOW + timedelta(seconds=number) for number in itertools.count())

        def post(kind: object, owner: str | None = None, queue: str = "default") -> str:
            new = jobs.NewJob(kind=str(kind), params={}, queue=queue, key_id=owner)
            return jobs.create(session, new, next(instants))[0].id

        def take(message: str) -> str | None:
            if (chosen := queues.next_job(session, message)) is None:
                return None
            job = attempts.claim(session, chosen, worker="w", lease_until=LEASE, at=next(instants))
            assert job is not None
            attempts.finish(session, job.id, 1, status="succeeded", at=NOW)
            return f"{key_of[job.key_id]} {job.kind}"

        messages = [post(number, key["eager"]) for number in range(25)]
        assert take(messages[3]) == "eager 3"  # the message's own
        assert take(messages[3]) == "eager 0"  # its job has run, but the message is a turn all the same
        messages += [post("check"), post("prune"), post("verification", key["boss"])]
        messages += [post("a", key["calm"]), post("b", key["calm"]), post("c", key["late"])]
        post("member", key["calm"], "training")
        order = [take(message) for message in messages[:2] * 4]
        assert order == [
            *(
                "service check",
                "calm a",
                "service prune",
                "late c",
                "boss verification",
                "eager 1",
                "calm b",
                "eager 2",
            ),
        ]
        rest = [take(message) for message in messages]
        assert {one for one in rest if one} == {f"eager {number}" for number in range(4, 25)}
        assert take(messages[0]) is None


def test_a_running_job_is_awaited_by_others_of_its_queue_alone(database: Database) -> None:
    with database.transaction() as session:
        mine, other = (keys.make(session, name, "operator", None, NOW)[0].id for name in ("mine", "other"))
        new = jobs.NewJob(kind="member", params={}, queue="training", key_id=mine)
        running, _ = (jobs.create(session, new, NOW)[0] for _ in range(2))
        held = attempts.claim(session, running.id, worker="w", lease_until=LEASE, at=NOW)
        assert held is not None
        for posted in (jobs.NewJob(kind="a", params={}, queue="default"), None):
            assert not queues.is_awaited(session, held)
            if posted is not None:
                jobs.create(session, posted, NOW)
        for owner in (other, None):
            waiting, _ = jobs.create(session, jobs.NewJob(kind="a", params={}, queue="training", key_id=owner), NOW)
            assert queues.is_awaited(session, held)
            attempts.request_cancel(session, waiting.id, NOW)
        # A job that has given way goes behind the others, though it was started first.
        jobs.create(session, jobs.NewJob(kind="a", params={}, queue="training", key_id=other), NOW)
        attempts.release(session, held.id, 1, NOW, "others wait")
        chosen = queues.next_job(session, held.id)
        assert chosen is not None
        assert jobs.get(session, chosen).key_id == other
