"""The list of runs and the outcome of a run."""

from datetime import timedelta

import pytest
from starlette.testclient import TestClient

from hydrology.base.calendar import day
from records.database.engine import Database
from testing.records import BASIN, NOW, a_basin, a_run, a_version, issued, not_issued


def fill_records(database: Database) -> dict[str, str]:
    """Store four runs of two versions, one of them not available yet, and return their ids by what they are."""
    with database.transaction() as session:
        a_basin(session)
        a_basin(session, "SYNTH-01")
        first, second = a_version(session).id, a_version(session).id
        return {
            "first": first,
            "second": second,
            "old": a_run(session, first, t0=day("2008-09-01")).id,
            "partial": a_run(
                session, first, issued(), not_issued("The rain ends.", "SYNTH-01"), t0=day("2008-09-15")
            ).id,
            "what-if": a_run(
                session,
                second,
                issued("SYNTH-01"),
                purpose="what-if",
                issued_at=NOW - timedelta(days=2),
                available_at=NOW,
                forcing_cutoff=day("2008-10-10"),
            ).id,
            "coming": a_run(session, second, available_at=NOW + timedelta(hours=1)).id,
        }


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("", ["what-if", "partial", "old"]),
        ("basin=SYNTH-01", ["what-if", "partial"]),
        ("basin=01013500", ["partial", "old"]),
        ("version={second}", ["what-if"]),
        ("purpose=operational", ["partial", "old"]),
        ("t0_from=2008-09-15", ["what-if", "partial"]),
        ("t0_to=2008-09-15", ["partial", "old"]),
        ("t0_from=0001-01-01&t0_to=9999-12-31", ["what-if", "partial", "old"]),
        ("issued_after=2008-09-30T00:00:00Z", ["partial", "old"]),
        ("known_at=2008-10-01T05:59:59Z", []),
        ("known_at=2008-10-01T06:00:00Z", ["what-if", "partial", "old"]),
        ("known_at=2026-01-01T00:00:00Z", ["what-if", "partial", "old"]),
        ("issued_after=2008-10-01T08:00:00%2B02:00", []),
        ("after={partial}", ["old"]),
    ],
)
def test_runs_are_found_by_their_properties(
    database: Database, client: TestClient, asked: str, found: list[str]
) -> None:
    ids = fill_records(database)
    result = client.get(f"/v1/runs?{asked.format(**ids)}").json()
    assert [run["id"] for run in result["runs"]] == [ids[name] for name in found]
    assert result["next"] is None


def test_pages_hold_every_run_once(database: Database, client: TestClient) -> None:
    ids = fill_records(database)
    asked = "limit=1&t0_to=2008-09-30&issued_after=2008-09-01T00:00:00Z&purpose=operational&basin=01013500"
    address: str | None = f"/v1/runs?{asked}&version={ids['first']}"
    seen = []
    while address is not None:
        answer = client.get(address)
        seen += [run["id"] for run in answer.json()["runs"]]
        address = answer.json()["next"]
        assert answer.links.get("next", {}).get("url") == address
    assert seen == [ids["partial"], ids["old"]]


def test_a_run_reports_the_outcome_of_each_basin(database: Database, client: TestClient) -> None:
    ids = fill_records(database)
    answer = client.get(f"/v1/runs/{ids['partial']}")
    result = answer.json()
    assert (result["status"], result["t0"], result["members"], result["version"]) == (
        "partial",
        "2008-09-15",
        2,
        ids["first"],
    )
    assert result["program"] == "torch 2.13.0 for AVX2, recurrence avx2"
    unknown = {"seen_in_training": None, "attributes_assumed": None}
    assert result["basins"] == [
        {"basin": "SYNTH-01", "basin_kind": "synthetic", "status": "withheld", "reason": "The rain ends.", **unknown},
        {"basin": BASIN, "basin_kind": "usgs", "status": "issued", "reason": None, **unknown},
    ]
    assert "1 of 2" in result["reason"]
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    again = client.get(f"/v1/runs/{ids['partial']}", headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 304
    other = client.get(f"/v1/runs/{ids['what-if']}", headers={"If-None-Match": answer.headers["ETag"]})
    assert (other.status_code, other.json()["forcing_cutoff"]) == (200, "2008-10-10")


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("/v1/runs/nothing", "unknown-run"),
        ("/v1/runs?basin=01013501", "unknown-basin"),
        ("/v1/runs?version=nothing", "unknown-version"),
    ],
)
def test_what_is_not_stored_is_a_problem(sqlite_client: TestClient, address: str, kind: str) -> None:
    answer = sqlite_client.get(address)
    assert (answer.status_code, answer.json()["type"]) == (404, f"/problems/{kind}")


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ("issued_after=2008-10-01T06:00:00", "issued_after"),
        ("issued_after=0001-01-01T00:00:00%2B23:00", "issued_after"),
        ("t0_from=yesterday", "t0_from"),
        ("purpose=fun", "purpose"),
        ("limit=0", "limit"),
        ("basin=fish", "basin"),
        ("basin=", "basin"),
        ("after=%20", "after"),
    ],
)
def test_a_filter_that_cannot_be_used_is_named(sqlite_client: TestClient, asked: str, field: str) -> None:
    answer = sqlite_client.get(f"/v1/runs?{asked}")
    assert answer.status_code == 422
    assert [fault["field"] for fault in answer.json()["errors"]] == [field]
