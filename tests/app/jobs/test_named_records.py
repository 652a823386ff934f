"""A request that names what is not there is refused when it is posted, with the field."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from records.database.engine import Database
from records.jobs import jobs
from testing.records import BASIN, a_record, a_version
from tests.app.conftest import bearer

PAST, FUTURE, BEFORE = "1990-01-01..1999-12-31", "2010-01-01..2011-12-31", "1950-01-01..1951-12-31"
RULE = "1990-10-01..1996-09-30"


def training(**changes: Any) -> dict[str, Any]:
    config = {"inputs": {"product": "daymet"}, "train_period": PAST} | changes.pop("config", {})
    return {"config": config, **changes}


def tuning(parent: str) -> dict[str, Any]:
    return {"config": {"parent": parent, "train_period": PAST, "validation_period": "1985-01-01..1986-12-31"}}


TYPING_ERRORS: list[tuple[str, dict[str, Any], str]] = [
    ("forecast", {"t0": "2008-10-05"}, "t0"),
    ("forecast", {"t0": "1950-01-01"}, "t0"),
    ("forecast", {"basins": [BASIN, "USGS-99999999"]}, "basins.1"),
    ("forecast", {"version": "nothing"}, "version"),
    ("forecast", {"product": "daymt"}, "product"),
    ("forecast", {"weather": "supplied", "weather_id": "nothing"}, "weather_id"),
    ("what-if", {"t0": "2999-01-01"}, "t0"),
    ("volumes", {"version": "nothing"}, "version"),
    ("daily", {"feeds": ["nothing"]}, "feeds.0"),
    ("replay", {"period": FUTURE}, "period"),
    ("evaluation", {"period": BEFORE}, "period"),
    ("evaluation", {"period": PAST, "basins": ["OWN-mil"]}, "basins.0"),
    ("calibration", {"version": "nothing"}, "version"),
    ("calibration", {"period": FUTURE}, "period"),
    ("reforecast", {"period": BEFORE}, "period"),
    ("verification", {"version": "nothing"}, "version"),
    ("levels", {"basins": ["USGS-99999999"]}, "basins.0"),
    ("comparison", {"period": PAST, "versions": ["nothing"]}, "versions.0"),
    ("fetch", {"feed": "nothing"}, "feed"),
    ("backfill", {"feed": "nothing"}, "feed"),
    ("backfill", {"weather": "nobody/nothing"}, "weather"),
    ("bridge", {"name": "live_as_maurer", "fit": {"from": "liv", "to": "daymet"}}, "fit.from"),
    ("bridge", {"name": "live_as_maurer", "fit": {"from": "daymet", "to": "maurr"}}, "fit.to"),
    ("bridge", {"name": "never_fitted"}, "name"),
    ("climate", {"basin": "USGS-99999999", "product": "daymet", "period": PAST}, "basin"),
    ("training", training(config={"inputs": {"product": "daymt"}}), "config.inputs.product"),
    ("training", training(config={"train_period": FUTURE}), "config.train_period"),
    ("training", training(basins=["USGS-99999999"]), "basins.0"),
    ("training", training(compare={"period": "2008-10-02..2016-09-30"}), "compare.period"),
    ("training", tuning("nothing"), "config.parent"),
    ("retraining", {"version": "nothing"}, "version"),
    ("retraining", {"judge_on": "2010-10-01..2016-09-30"}, "judge_on"),
]


@pytest.fixture
def named(sqlite_database: Database, sqlite_client: TestClient) -> TestClient:
    """The service, with a basin, a product and an administrator's key."""
    with sqlite_database.transaction() as session:
        a_record(session, "daymet", 1980, 2008)
    sqlite_client.headers |= bearer(sqlite_database, "admin")
    return sqlite_client


def test_a_typing_error_is_refused_with_its_field(named: TestClient, sqlite_database: Database) -> None:
    schedule = {"name": "own", "cron": "0 6 * * *"}
    for kind, params, field in TYPING_ERRORS:
        body = {"kind": kind, "params": params}
        posted, scheduled = (
            named.post("/v1/jobs", json=body),
            named.post("/v1/schedules", json={"job": body, **schedule}),
        )
        for answer, prefix in ((posted, "params"), (scheduled, "job.params")):
            assert answer.status_code == 422, (kind, params)
            (fault,) = answer.json()["errors"]
            assert (fault["location"], fault["field"]) == ("body", f"{prefix}.{field}")
    with sqlite_database.reading() as session:
        assert jobs.list_jobs(session) == []


def test_what_is_there_is_accepted(named: TestClient, sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        version = a_version(session).id
    accepted: list[tuple[str, dict[str, Any]]] = [
        ("forecast", {"t0": "2008-09-30", "basins": [BASIN], "version": version, "product": "daymet"}),
        ("evaluation", {"period": "2000-01-01..2030-12-31", "version": version}),
        ("comparison", {"period": PAST, "versions": [version]}),
        ("training", training(basins=[BASIN], compare={"period": RULE})),
        ("training", tuning(version)),
        ("ingest", {"from": ["/srv/camels"], "product": "maurer", "basins": ["USGS-99999999"]}),
        ("pretrained", {"product": "maurer"}),
    ]
    for kind, params in accepted:
        assert named.post("/v1/jobs", json={"kind": kind, "params": params}).status_code == 202, (kind, params)


def test_of_thousands_of_unknown_basins_some_are_named(named: TestClient) -> None:
    basins = [f"USGS-{number:08}" for number in range(9000)]
    answer = named.post("/v1/jobs", json={"kind": "forecast", "params": {"basins": basins}})
    assert answer.status_code == 422
    assert len(answer.json()["errors"]) == 20
