"""What an operator's key may not change: each attack is refused or labelled, and public answers stay the same bytes."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import torch
from sqlalchemy import update
from starlette.testclient import TestClient

from hydrology.base.calendar import day
from hydrology.base.digests import sha256
from records.access import audit, keys
from records.basins import basins
from records.database.engine import Database
from records.jobs.jobs import Job
from records.jobs.schedules import SCHEDULES
from records.runs import runs
from records.verification import comparisons
from records.versions import promotions, versions
from records.versions.promotions import PROMOTIONS
from runtime.settings import Settings
from testing.country import BASINS
from testing.databases import copy_into
from testing.jobs.in_process import InProcessJobs
from testing.synthetic import archive as synthetic
from tests.app.conftest import bearer, serving
from tests.operations.conftest import country, trained_file
from workers.scheduler import fire

pytestmark = pytest.mark.extended

__all__ = ["country", "trained_file"]

NOW = datetime(2005, 8, 20, 14, tzinfo=UTC)
GAUGE, VACANT = BASINS[0], BASINS[2]
PUBLIC = (
    f"/v1/basins/{GAUGE}",
    f"/v1/basins/{GAUGE}/observations?variables=discharge&start=2005-01-01&end=2005-08-19",
    f"/v1/basins/{GAUGE}/thresholds",
    f"/v1/basins/{GAUGE}/normals",
    f"/v1/basins/{GAUGE}/forecasts/latest",
    f"/v1/basins/{GAUGE}/exceedance?discharge=1",
    f"/v1/basins/{GAUGE}/storage",
    f"/v1/basins/{GAUGE}/drain-down",
    f"/v1/basins/{GAUGE}/volumes",
    f"/v1/basins/{GAUGE}/skill",
    f"/v1/basins/{GAUGE}/verification",
    f"/v1/basins/{GAUGE}/promotions",
    f"/v1/basins/{VACANT}/promotions",
    f"/v1/basins/{VACANT}/forecasts/latest",
    "/v1/alerts",
)


@dataclass(slots=True)
class Service:
    """A service with a version in use, forecasts, skill and levels, and an operator who owns nothing of it.

    Attributes:
        version: the official one.
        operator, admin: the headers of their keys.
        before: the public answers.
    """

    posted_jobs: InProcessJobs
    client: TestClient
    version: str
    operator: dict[str, str]
    admin: dict[str, str]
    before: dict[str, bytes] = field(default_factory=dict)

    @property
    def database(self) -> Database:
        """Its database."""
        return self.posted_jobs.database

    def public(self) -> dict[str, bytes]:
        """Return what everybody reads."""
        addresses = (*PUBLIC, f"/v1/models/{self.version}", f"/v1/models/{self.version}/skill")
        return {address: self.client.get(address).content for address in addresses}

    def post(self, header: dict[str, str], kind: str, **params: Any) -> Any:
        """Post a job and return the answer."""
        return self.client.post("/v1/jobs", json={"kind": kind, "params": params}, headers=header)

    def refused(self, kind: str, **params: Any) -> str:
        """Post a job with the operator's key, see it refused, and return why."""
        answer = self.post(self.operator, kind, **params)
        assert (answer.status_code, answer.json()["type"]) == (403, "/problems/not-allowed"), answer.text
        return str(answer.json()["detail"])

    def done(self, header: dict[str, str], kind: str, **params: Any) -> Job:
        """Post a job, run it, and return it as it has ended."""
        answer = self.post(header, kind, **params)
        assert answer.status_code == 202, answer.text
        return self.posted_jobs.ended(answer.json()["id"])

    def require_unchanged(self) -> None:
        """See that everybody reads what was read before."""
        after = self.public()
        assert {address for address in after if after[address] != self.before[address]} == set()


@pytest.fixture
def service(database_url: str, trained_file: Path, tmp_path: Path) -> Iterator[Service]:
    """The service on either database."""
    torch.set_num_threads(1)
    if database_url.startswith("sqlite"):
        shutil.copy(trained_file, database_url.removeprefix("sqlite:///"))
    else:
        copy_into(trained_file, database_url)
    sent = tmp_path / "sent"
    settings = Settings(
        data=tmp_path, database_url=database_url, broker_url="memory://", as_of=NOW, ingest_roots=(sent,)
    )
    posted_jobs = InProcessJobs(settings)
    database = posted_jobs.database
    with database.transaction() as session:
        version = versions.newest(session).id
        session.execute(PROMOTIONS.delete().where(PROMOTIONS.c.basin_id == VACANT))
    with serving(database_url, NOW, data=tmp_path, ingest_roots=(sent,)) as client:
        admin, operator = bearer(database, "admin", "chief"), bearer(database)
        started = Service(posted_jobs, client, version, operator, admin)
        for kind, params in (
            ("calibration", {"version": version}),
            ("evaluation", {"version": version, "period": "2004-10-01..2005-07-31"}),
            ("levels", {"version": version}),
            ("forecast", {"basins": [GAUGE], "t0": "2005-08-19", "weather": "climatology"}),
            ("forecast", {"basins": [GAUGE], "t0": "2005-08-19", "weather": "dry", "horizon": 180}),
            ("volumes", {"basins": [GAUGE], "t0": "2005-08-19"}),
        ):
            outcome = started.done(admin, kind, **params)
            assert outcome.status == "succeeded", (kind, outcome)
        started.before = started.public()
        for address in ("thresholds", "forecasts/latest", "drain-down", "volumes", "skill"):
            assert client.get(f"/v1/basins/{GAUGE}/{address}").status_code == 200, address
        yield started
    posted_jobs.close()


@pytest.mark.extended
def test_no_attack_changes_what_everybody_reads(service: Service) -> None:
    refused_attacks(service)
    an_ingest(service)
    labelled_runs(service)
    a_training(service)
    a_comparison(service)
    a_schedule_of_a_revoked_key(service)


def refused_attacks(service: Service) -> None:
    """Post what the request alone shows to be another's."""
    feed = {"name": "flow", "settings": {"adapter": "usgs"}}
    assert service.client.post("/v1/feeds", json=feed, headers=service.admin).status_code == 201
    official, basins_ = {"version": service.version}, {"basins": [GAUGE]}
    period = {"period": "2005-01-01..2005-01-05"}
    attacks: dict[str, dict[str, Any]] = {
        "calibration": official,
        "evaluation": official | period,
        "reforecast": official | period,
        "verification": official,
        "levels": official,
        "retraining": {"promote": True},
        "pretrained": {"promote": True},
        "daily": {},
        "prune": {},
        "climate": {"basin": GAUGE, "product": synthetic.PRODUCT, "period": "2001-01-01..2004-12-31"},
        "bridge": basins_ | {"name": "own_way", "fit": {"from": synthetic.PRODUCT, "to": "other"}},
        "ingest": basins_ | {"from": ["/nowhere"]},
        "fetch": {"feed": "flow"},
    }
    for kind, params in attacks.items():
        assert "key" in service.refused(kind, **params), kind
    assert "`source`" in service.refused("ingest", source="benchmarks", **{"from": ["/nowhere"]})
    compare = {"period": "2000-10-01..2004-09-30", "promote": True}
    assert f"{GAUGE}: not registered" in service.refused("training", config=config(), compare=compare, **basins_)
    for kind, params in {"calibration": {}, "evaluation": period, "levels": {}, "verification": {}}.items():
        outcome = service.done(service.operator, kind, **params)  # of the operator's newest version: there is none
        assert outcome.problem is not None
        assert outcome.problem["kind"] == "unknown-version", outcome
    service.require_unchanged()


def an_ingest(service: Service) -> None:
    """Bring a record of the gauge with fifty times its flow, and of a basin that is the operator's since long ago."""
    with service.database.transaction() as session:
        key = next(key for key in keys.list_keys(session) if key.scope == "operator")
        basins.register(session, "SYNTH-04", key.id)
    sent = service.posted_jobs.settings.data / "sent"
    synthetic.write(sent / "camels", basins=4, first_day=day("2000-10-01"), last_day=day("2005-07-31"), seed=9)
    outcome = service.done(service.operator, "ingest", **{"from": [str(sent / "camels")]})
    assert outcome.status == "succeeded", outcome
    assert outcome.result is not None
    assert outcome.result["counts"] == {"failed": len(BASINS), "changed": 1}
    assert "not registered with the key of river office" in outcome.result["failed"][GAUGE]
    with service.database.reading() as session:
        assert basins.registered_with(session, key.id) == ["SYNTH-04"]
        (entry,) = [one for one in audit.page(session) if one.action == "data ingested"]
    assert (entry.who, entry.key_id) == ("river office", key.id)
    detail = entry.detail
    assert (detail["from"], detail["failed"], detail["changed"], detail["changed_days"]) == (
        ["camels"],
        len(BASINS),
        1,
        0,
    )
    assert detail["new_days"] > 1000
    assert detail["invalidated_states"] == 0
    assert detail["file_count"] == len(detail["files"]) > 0
    for file in detail["files"]:
        path = sent / file["name"]
        assert sha256(path.read_bytes()) == file["sha256"]
    service.require_unchanged()


def labelled_runs(service: Service) -> None:
    """Create runs that would be the newest of their kind."""
    for kind, params in (
        ("forecast", {"weather": "dry", "horizon": 1, "t0": "2005-08-19"}),
        ("forecast", {"weather": "climatology", "horizon": 2, "t0": "2005-08-19"}),
        ("forecast", {"horizon": 1, "t0": "2005-08-18"}),
        ("volumes", {"t0": "2005-08-19", "season": "08-20..08-25"}),
        ("what-if", {"t0": "2005-08-19", "weather": "climatology", "changes": {"degrees": 3.0}}),
    ):
        outcome = service.done(service.operator, kind, basins=[GAUGE], **params)
        assert outcome.status == "succeeded", (kind, outcome)
        with service.database.reading() as session:
            (run,) = runs.of_key(session, outcome.id)
        assert run.owner is not None
        assert run.purpose != "operational"
        assert service.client.get(f"/v1/runs/{run.id}").json()["official"] is False
        service.require_unchanged()
    outcome = service.done(service.operator, "replay", period="2005-08-17..2005-08-18", horizon=3, traces=2)
    assert outcome.status == "succeeded", outcome
    service.require_unchanged()


def config(**changes: Any) -> dict[str, Any]:
    """Return a training of one step."""
    return {
        "network": {"cells": 3},
        "inputs": {"product": synthetic.PRODUCT},
        "members": 1,
        "train_period": "2001-10-01..2003-09-30",
        "windows": {"spinup_days": 60, "loss_days": 60, "batch": 2},
        "schedule": {"kind": "cosine", "steps": 1, "warmup_steps": 0, "peak_learning_rate": 0.01},
        **changes,
    }


def a_training(service: Service) -> None:
    """Train one step on a basin without a version, which another has ingested."""
    outcome = service.done(service.operator, "training", config=config(), basins=[GAUGE, VACANT])
    assert outcome.status == "succeeded", outcome
    assert outcome.result is not None
    version = outcome.result["version"]
    with service.database.reading() as session:
        assert versions.owner_of(session, version) is not None
        assert versions.newest(session).id == service.version
        assert promotions.in_use(session).keys() == {service.version}
    assert service.client.get(f"/v1/models/{version}").json()["official"] is False
    service.require_unchanged()
    # Nor does an admin's promotion let it serve others; the operator may score it, as its own.
    promotion = {"basins": [VACANT], "reason": "looks better"}
    answer = service.client.put(f"/v1/models/{version}/promotion", json=promotion, headers=service.admin)
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/not-owners-basin"), answer.text
    outcome = service.done(service.operator, "evaluation", period="2004-10-01..2004-10-05", basins=[GAUGE])
    assert outcome.status == "succeeded", outcome
    assert outcome.result is not None
    assert outcome.result["version"] == version
    service.require_unchanged()


def a_comparison(service: Service) -> None:
    """Compare the official version on five days."""
    wanted = {"versions": [service.version], "basins": [GAUGE], "period": "2005-01-01..2005-01-05"}
    outcome = service.done(service.operator, "comparison", **wanted)
    assert outcome.status == "succeeded", outcome
    assert outcome.result is not None
    with service.database.reading() as session:
        assert comparisons.get(session, outcome.result["comparison"]).owner is not None
    (listed,) = service.client.get("/v1/comparisons").json()["comparisons"]
    assert listed["official"] is False
    service.require_unchanged()


def a_schedule_of_a_revoked_key(service: Service) -> None:
    """Let a schedule fire whose maker's key has been revoked."""
    job = {"kind": "forecast", "params": {"basins": [GAUGE], "t0": "2005-08-19", "weather": "climatology"}}
    new = {"name": "nightly", "job": job, "cron": "0 3 * * *"}
    leaver = bearer(service.database, "admin", "leaver")
    created = service.client.post("/v1/schedules", json=new, headers=leaver)
    assert created.status_code == 201, created.text
    tools, address = service.posted_jobs.tools, created.headers["Location"]
    with service.database.transaction() as session:
        session.execute(update(SCHEDULES).values(next_run_at=tools.clock.wall() - timedelta(hours=1)))
        keys.revoke(session, created.json()["key"], tools.clock.wall())
    assert fire(tools) == 1
    fired = service.client.get(address, headers=service.admin).json()["last_job"]
    outcome = service.posted_jobs.ended(fired)
    assert outcome.status == "failed"
    shown = service.client.get(f"/v1/jobs/{fired}", headers=service.admin).json()["problem"]
    assert shown["kind"] == "not-allowed"
    assert "key of leaver that the schedule" in shown["detail"]
    assert "was revoked" in shown["detail"]
    service.require_unchanged()
