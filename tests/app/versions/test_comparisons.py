"""Comparisons: the list, and one with every basin's score."""

from datetime import timedelta
from typing import Any

import pytest
from starlette.testclient import TestClient

from hydrology.base.absent import absent, texts
from hydrology.base.calendar import day
from hydrology.base.reasons import Reason
from records.database.base import from_json, to_json
from records.database.engine import Database
from records.verification import comparisons
from records.verification.comparisons import ComparisonResult
from testing.records import BASIN, NOW, a_basin, a_version, contents
from tests.app.conftest import bearer

ADDRESS = "/v1/comparisons"
BASINS = (BASIN, "SYNTH-01")
UNTIMED = {"training_seconds": absent(Reason.TRAINING_NOT_TIMED), "label": absent(Reason.NOT_NAMED)}
SHORT = absent(Reason.TOO_FEW_DIFFERENCES, minimum=6, basins=2)
LEFT_OUT = {"SYNTH-02": absent(Reason.NO_COMPLETE_DAY, basin="SYNTH-02", product="daymet")}


def score(metric: str, versions: list[str], values: list[float]) -> dict[str, Any]:
    cuts = [
        {"version": version, "p25": 0.1, "median": value, "p75": 0.9}
        for version, value in zip(versions, values, strict=True)
    ]
    apart = {"version": versions[1], "n": 2, "median": values[1] - values[0], "better": 2, "worse": 0, "p": None}
    return {
        "metric": metric,
        "unit": "1",
        "perfect": 1,
        "n": 2,
        "lacking": 0,
        "versions": cuts,
        "differences": [apart | {"reason": to_json(SHORT)}],
    }


def result(versions: list[str]) -> dict[str, Any]:
    """Return the stored JSON of a comparison of two versions, in two metrics."""
    described = {"architecture": "mclstm", "conserving": True, "product": "maurer_extended", "members": 2}
    unknown: dict[str, Any] = {
        "label": None,
        "parameters": 1330,
        "training_seconds": None,
        "machines": [],
        "missing": {name: to_json(reason) for name, reason in UNTIMED.items()},
    }
    cuts = {"p25": 0.1, "median": 0.2, "p75": 0.3}
    apart = {"n": 2, "median": 0.1, "better": 1, "worse": 1, "p": 0.5, "reason": None}
    beside = {"metric": "nse", "n": 2, **cuts, "first": cuts, "difference": apart}
    median = {"metric": "nse", "median": 0.744, "p25": 0.641, "p75": 0.814, "sd": None, "source": "Table B.7"}
    return {
        "versions": [{"id": version, **described, **unknown} for version in versions],
        "scores": [score("nse", versions, [0.25, 0.5]), score("kge_2012", versions, [0.3, 0.6])],
        "published_models": [{"model": "SAC_SMA", "source": "a@1", "citation": "B 2019", "scores": [beside]}],
        "published_table": {
            "comparable": False,
            "note": "Other basins or period.",
            "first_day": "1989-10-01",
            "last_day": "1999-09-30",
            "basins": 447,
            "product": "maurer_extended",
            "models": [{"model": "MC-LSTM", "medians": [median]}],
        },
        "values": {
            "nse": {versions[0]: [0.123456789, 0.5], versions[1]: [0.25, None]},
            "kge_2012": {versions[0]: [0.5, 0.5], versions[1]: [0.75, 0.25]},
        },
        "left_out": {name: to_json(reason) for name, reason in LEFT_OUT.items()},
        "missing": {},
    }


def fill_records(database: Database, hours: int = 0) -> tuple[str, list[str]]:
    """Store a comparison of two new versions; return its id and theirs."""
    with database.transaction() as session:
        versions = [a_version(session).id for _ in range(2)]
        new = comparisons.NewComparison(
            first_day=day("1989-10-01"),
            last_day=day("1999-09-30"),
            versions=tuple(versions),
            basins=BASINS,
            result=from_json(ComparisonResult, result(versions)),
        )
        stored, _ = comparisons.store(session, new, NOW + timedelta(hours=hours))
    return stored.id, versions


def test_a_comparison_reports_what_was_stored_with_every_basin(database: Database, client: TestClient) -> None:
    stored, versions = fill_records(database)
    output = client.get(f"{ADDRESS}/{stored}").json()
    assert (output["id"], output["basins"]) == (stored, list(BASINS))
    assert output["period"] == {"first_day": "1989-10-01", "last_day": "1999-09-30"}
    assert [one["id"] for one in output["versions"]] == versions
    assert (output["versions"][0]["training_seconds"], output["versions"][0]["missing"]) == (None, texts(UNTIMED))
    assert [one["metric"] for one in output["scores"]] == ["nse", "kge_2012"]
    assert output["scores"][0]["differences"][0]["median"] == 0.25
    assert "at least 6 basins" in output["scores"][0]["differences"][0]["reason"]
    assert output["published_models"][0]["citation"] == "B 2019"
    assert output["published_table"]["period"] == {"first_day": "1989-10-01", "last_day": "1999-09-30"}
    assert output["left_out"] == texts(LEFT_OUT)
    first, second, *_ = output["by_basin"]
    assert first == {"metric": "nse", "version": versions[0], "values": [0.1234568, 0.5], "differences": None}
    assert second == {"metric": "nse", "version": versions[1], "values": [0.25, None], "differences": [0.1265432, None]}


def test_one_metric_can_be_asked_for(sqlite_database: Database, sqlite_client: TestClient) -> None:
    stored, _ = fill_records(sqlite_database)
    output = sqlite_client.get(f"{ADDRESS}/{stored}?metric=kge_2012").json()
    assert [one["metric"] for one in output["scores"]] == ["kge_2012"]
    assert {one["metric"] for one in output["by_basin"]} == {"kge_2012"}
    assert output["published_models"] == output["published_table"]["models"] == []
    other = sqlite_client.get(f"{ADDRESS}/{stored}?metric=luck")
    assert (other.status_code, other.json()["type"]) == (404, "/problems/not-compared")
    assert "nse, kge_2012" in other.json()["detail"]


def test_comparisons_are_listed_newest_first_page_by_page(database: Database, client: TestClient) -> None:
    ids, versions = zip(*(fill_records(database, hours) for hours in range(3)), strict=True)
    address: str | None = f"{ADDRESS}?limit=2"
    seen = []
    while address is not None:
        answer = client.get(address)
        seen += answer.json()["comparisons"]
        address = answer.json()["next"]
        assert answer.links.get("next", {}).get("url") == address
    assert [one["id"] for one in seen] == list(ids)[::-1]
    assert (seen[-1]["versions"], seen[-1]["basin_count"]) == (versions[0], 2)
    (of_one,) = client.get(f"{ADDRESS}?version={versions[1][0]}").json()["comparisons"]
    assert of_one["id"] == ids[1]


def test_a_comparison_never_changes_and_reading_changes_nothing(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    stored, _ = fill_records(sqlite_database)
    with sqlite_database.reading() as session:
        before = contents(session)
    whole, part = (sqlite_client.get(f"{ADDRESS}/{stored}{query}") for query in ("", "?metric=nse"))
    assert "immutable" in whole.headers["Cache-Control"]
    assert whole.headers["ETag"] != part.headers["ETag"]
    again = sqlite_client.get(f"{ADDRESS}/{stored}", headers={"If-None-Match": whole.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    sqlite_client.get(ADDRESS)
    with sqlite_database.reading() as session:
        assert contents(session) == before


@pytest.mark.parametrize(
    ("address", "status", "kind"),
    [
        (f"{ADDRESS}/nothing", 404, "unknown-comparison"),
        (f"{ADDRESS}?version=nothing", 404, "unknown-version"),
        (f"{ADDRESS}?versions=nothing", 422, "invalid-request"),
        (f"{ADDRESS}/nothing?metrics=nse", 422, "invalid-request"),
        (f"{ADDRESS}?limit=0", 422, "invalid-request"),
    ],
)
def test_what_is_not_stored_or_not_understood_is_a_problem(
    sqlite_client: TestClient, address: str, status: int, kind: str
) -> None:
    answer = sqlite_client.get(address)
    assert (answer.status_code, answer.json()["type"]) == (status, f"/problems/{kind}")


def test_a_comparison_is_asked_for_as_a_job(sqlite_database: Database, sqlite_client: TestClient) -> None:
    header = bearer(sqlite_database)
    with sqlite_database.transaction() as session:
        a_basin(session)
        versions = [a_version(session).id for _ in range(2)]
    params = {"period": "1989-10-01..1999-09-30", "versions": versions, "basins": ["01013500"]}
    posted = sqlite_client.post("/v1/jobs", headers=header, json={"kind": "comparison", "params": params})
    assert (posted.status_code, posted.json()["kind"]) == (202, "comparison")
    assert posted.json()["params"] == params | {"basins": [BASIN]}
    (listed,) = sqlite_client.get("/v1/jobs?kind=comparison", headers=header).json()["jobs"]
    assert listed["id"] == posted.json()["id"]
    wrongs: list[dict[str, Any]] = [{"versions": []}, {"versions": ["one"] * 21}, {"period": "ever"}, {"basin": ["1"]}]
    for wrong in wrongs:
        refused = sqlite_client.post("/v1/jobs", headers=header, json={"kind": "comparison", "params": params | wrong})
        assert refused.status_code == 422
