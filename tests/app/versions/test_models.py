"""Model versions: the list, their parts, and their promotions."""

from dataclasses import asdict

import pytest
from starlette.testclient import TestClient

from hydrology.water.probes import ProbeResult
from records.database.engine import Database
from records.versions import promotions
from records.versions.version_properties import Closure, Tuning, VersionProperties
from testing.records import BASIN, NOW, a_basin, a_member, a_version, instant, withdraw
from tests.app.conftest import bearer

LATER = instant("2008-11-01")


def test_versions_are_listed_newest_first_page_by_page(database: Database, client: TestClient) -> None:
    with database.transaction() as session:
        ids = [a_version(session).id for _ in range(3)]
        other = a_version(session, architecture="lstm", conserving=False, product="nldas").id
        promotions.promote(session, ids[1], [a_basin(session)], reason="first", by="someone", at=NOW)
    address: str | None = "/v1/models?limit=2&product=maurer_extended"
    seen = []
    while address is not None:
        answer = client.get(address)
        seen += answer.json()["models"]
        address = answer.json()["next"]
        assert answer.links.get("next", {}).get("url") == address
    assert [one["id"] for one in seen] == ids[::-1]
    assert [one["current_for"] for one in seen] == [0, 1, 0]
    (lstm,) = client.get("/v1/models?architecture=lstm").json()["models"]
    assert (lstm["id"], lstm["conserving"], lstm["product"]) == (other, False, "nldas")


def test_a_version_lists_its_parts(database: Database, client: TestClient) -> None:
    measured = Closure(worst_relative_residual=6.5e-7, basins=1, period="1989-10-01..1999-09-30")
    with database.transaction() as session:
        parent = a_version(session).id
        basin = a_basin(session)
        probe = ProbeResult("closure", "water unaccounted for", "1", 1e-5, 1e-6)
        properties = VersionProperties(closure=measured, physics=(probe,), tuning=Tuning(basins=(basin,)))
        stored = a_version(
            session, a_member(0), a_member(1), basins=("USGS-02", basin), parent_id=parent, properties=properties
        )
        promotions.promote(session, stored.id, [basin], reason="better", by="someone", at=NOW)
    result = client.get(f"/v1/models/{stored.id}").json()
    assert result["members"] == [{"label": 0, "seed": 1000}, {"label": 1, "seed": 1001}]
    assert (result["member_count"], result["basin_count"], result["current_for"]) == (2, 2, 1)
    assert (result["basins"], result["current_basins"]) == ([BASIN, "USGS-02"], [BASIN])
    assert (result["parent"], result["tuned_on"]) == (parent, [BASIN])
    assert (result["config"], result["uses"]) == ({"network": {"architecture": "mclstm", "cells": 64}}, "last")
    assert (result["data_hash"], result["weights_hash"]) == ("data", stored.weights_hash)
    assert result["physics"] == [asdict(probe) | {"passes": True}]
    assert result["closure"] == asdict(measured) | {"tolerance": 1e-5, "closes": True}
    assert (result["trained_on"], result["pretrained"]) == ("maurer_extended", None)
    assert set(result["missing"]) == {"label", "pretrained", "twin"}


def test_a_question_that_is_only_reported_stands_on_the_page_with_its_reason(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    asked = ProbeResult("energy", "the loss", "1", 1.0, 1.6, "Air takes up no more.", failing=0.125, binding=False)
    with sqlite_database.transaction() as session:
        stored = a_version(session, properties=VersionProperties(physics=(asked,))).id
    page = sqlite_client.get(f"/models/{stored}").text
    assert "Air takes up no more." in page
    assert "12.5 %" in page
    assert "no, reported" in page
    (shown,) = sqlite_client.get(f"/v1/models/{stored}").json()["physics"]
    assert shown == asdict(asked) | {"passes": False}


def test_a_version_without_a_parent_gives_the_reason(sqlite_database: Database, sqlite_client: TestClient) -> None:
    properties = VersionProperties(tuning=Tuning(basins=(BASIN,), earlier_periods=("1999-10-01..2008-09-30",)))
    with sqlite_database.transaction() as session:
        scratch, installed = a_version(session).id, a_version(session, properties=properties).id
    result = {one: sqlite_client.get(f"/v1/models/{one}").json() for one in (scratch, installed)}
    assert [one["parent"] for one in result.values()] == [None, None]
    assert (
        result[scratch]["missing"]["parent"] == result[scratch]["missing"]["tuned_on"] == "It was trained from scratch."
    )
    assert "fine-tuned elsewhere" in result[installed]["missing"]["parent"]
    assert result[installed]["tuned_on"] == [BASIN]


def test_a_closure_that_was_not_measured_is_null_with_its_reason(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    with sqlite_database.transaction() as session:
        conserving, other = a_version(session).id, a_version(session, conserving=False).id
        leak = Closure(worst_relative_residual=2e-5, basins=1, period="1989-10-01..1999-09-30")
        leaking = a_version(session, properties=VersionProperties(closure=leak)).id
    for version, reason in ((conserving, f"freshet evaluate --version {conserving}"), (other, "not conserve mass")):
        result = sqlite_client.get(f"/v1/models/{version}").json()
        assert result["closure"] is None
        assert reason in result["missing"]["closure"]
    assert sqlite_client.get(f"/v1/models/{leaking}").json()["closure"]["closes"] is False


def test_promotions_are_reported_with_who_and_why(database: Database, client: TestClient) -> None:
    with database.transaction() as session:
        basins = [a_basin(session, "SYNTH-01"), a_basin(session)]
        old, new = a_version(session).id, a_version(session).id
        promotions.promote(session, old, basins, reason="first", by="training", at=NOW)
        promotions.promote(session, new, [BASIN], reason="better", by="someone", at=LATER)
    result = client.get(f"/v1/models/{old}/promotions").json()
    first = {"promoted_at": "2008-10-01T06:00:00Z", "promoted_by": "training", "reason": "first"}
    better = {"promoted_at": "2008-11-01T00:00:00Z", "promoted_by": "someone", "reason": "better"}
    assert result == {"version": old, "promotions": [first | {"basins": basins}], "current_basins": ["SYNTH-01"]}
    history = client.get("/v1/basins/01013500/promotions").json()
    assert history == {"basin": BASIN, "promotions": [better | {"version": new}, first | {"version": old}]}


def test_an_admin_rolls_a_version_back_in_one_call(sqlite_database: Database, sqlite_client: TestClient) -> None:
    with sqlite_database.transaction() as session:
        a_basin(session)
        old, new = a_version(session).id, a_version(session).id
        promotions.promote(session, old, [BASIN], reason="first", by="training", at=NOW)
        promotions.promote(session, new, [BASIN], reason="better", by="someone", at=LATER)
    address = f"/v1/models/{new}/rollback"
    operator, admin = (bearer(sqlite_database, scope) for scope in ("operator", "admin"))
    assert sqlite_client.post(address, json={"reason": "worse"}, headers=operator).status_code == 403
    answer = sqlite_client.post(address, json={"reason": "worse"}, headers=admin)
    assert answer.json() == {"version": new, "restored": {BASIN: old}, "current_basins": []}
    newest = sqlite_client.get(f"/v1/basins/{BASIN}/promotions").json()["promotions"][0]
    assert (newest["version"], newest["reason"]) == (old, "worse")
    again = sqlite_client.post(address, json={"reason": "worse"}, headers=admin)
    assert (again.status_code, again.json()["type"]) == (422, "/problems/nothing-before")
    (change,) = sqlite_client.get("/v1/audit", headers=admin).json()["changes"]
    assert (change["action"], change["subject"]) == ("model rolled back", new)


def test_a_promotion_is_a_new_answer(sqlite_database: Database, sqlite_client: TestClient) -> None:
    with sqlite_database.transaction() as session:
        a_basin(session)
        version = a_version(session).id
    addresses = f"/v1/models/{version}", f"/v1/models/{version}/promotions", f"/v1/basins/{BASIN}/promotions"
    held = [{"If-None-Match": sqlite_client.get(address).headers["ETag"]} for address in addresses]
    before = [sqlite_client.get(at, headers=tag).status_code for at, tag in zip(addresses, held, strict=True)]
    with sqlite_database.transaction() as session:
        promotions.promote(session, version, [BASIN], reason="better", by="someone", at=NOW)
        withdraw(session, a_version(session).id)
    after = [sqlite_client.get(at, headers=tag).status_code for at, tag in zip(addresses, held, strict=True)]
    assert (before, after) == ([304] * 3, [200] * 3)


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("/v1/models/nothing", "unknown-version"),
        ("/v1/models/nothing/promotions", "unknown-version"),
        (f"/v1/basins/{BASIN}/promotions", "unknown-basin"),
    ],
)
def test_what_is_not_stored_is_a_problem(sqlite_client: TestClient, address: str, kind: str) -> None:
    answer = sqlite_client.get(address)
    assert (answer.status_code, answer.json()["type"]) == (404, f"/problems/{kind}")
