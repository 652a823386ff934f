"""The format of an answer, its cache headers and its file name."""

import re

import pytest
from starlette.testclient import TestClient

from testing.records import BASIN
from tests.app.exports.conftest import (
    BASINS,
    FORECAST,
    FORECASTS,
    OBSERVATIONS,
    SKILL,
    STORAGE,
    VOLUMES,
)

ADDRESSES = [FORECAST, FORECASTS, OBSERVATIONS, STORAGE, SKILL, VOLUMES, BASINS]
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("*/*", "application/json"),
        ("", "application/json"),
        (BROWSER, "application/json"),
        ("application/*", "application/json"),
        ("text/csv", "text/csv"),
        ("TEXT/CSV; charset=utf-8", "text/csv"),
        ("text/*", "text/csv"),
        ("text/csv;q=0.5, application/json", "application/json"),
        ("application/json;q=0.2, text/csv; q=0.3", "text/csv"),
        ("application/json;q=0, */*", "text/csv"),
        ("text/csv, */*", "application/json"),
        ("image/png, text/csv;q=0.001", "text/csv"),
        ("application/json;q=nonsense, text/csv;q=0.1", "text/csv"),
        ("application/json;q=nan, text/csv;q=0.1", "text/csv"),
        ("application/json;q=-1, */*;q=0.1", "application/json"),
    ],
)
def test_the_accept_header_decides(exporting: TestClient, accept: str, media_type: str) -> None:
    answer = exporting.get(SKILL, headers={"Accept": accept})
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].partition(";")[0] == media_type


def test_the_parameter_comes_before_the_header(exporting: TestClient) -> None:
    named = exporting.get(SKILL, params={"format": "json"}, headers={"Accept": "text/csv"})
    assert named.headers["Content-Type"] == "application/json"
    assert exporting.get(SKILL, params={"format": "csv"}, headers={"Accept": "image/png"}).status_code == 200


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize(
    ("params", "accept"),
    [({"format": "xlsx"}, "*/*"), ({}, "image/png"), ({}, "application/json;q=0, text/csv;q=0, text/plain")],
)
def test_an_unknown_format_is_refused_with_the_known_ones(
    exporting: TestClient, address: str, params: dict[str, str], accept: str
) -> None:
    asked = address + "".join(f"{'&' if '?' in address else '?'}format={name}" for name in params.values())
    answer = exporting.get(asked, headers={"Accept": accept})
    assert (answer.status_code, answer.json()["type"]) == (406, "/problems/not-acceptable")
    assert "json (application/json), csv (text/csv)" in answer.json()["detail"]
    assert "Accept" in answer.headers["Vary"]


@pytest.mark.parametrize("address", ADDRESSES)
def test_each_format_has_its_tag_and_caches_distinguish_them(exporting: TestClient, address: str) -> None:
    answers = {name: exporting.get(address, headers={"Accept": name}) for name in ("application/json", "text/csv")}
    tags = {name: answer.headers["ETag"] for name, answer in answers.items()}
    assert len(set(tags.values())) == 2
    for name, answer in answers.items():
        assert "Accept" in answer.headers["Vary"]
        assert answer.headers["Cache-Control"] == "public, max-age=60"
        for other, tag in tags.items():
            again = exporting.get(address, headers={"Accept": name, "If-None-Match": tag})
            assert again.status_code == (304 if other == name else 200)
            assert "Accept" in again.headers["Vary"]


def test_a_file_of_a_run_is_cached_shortly_as_the_run_may_be_adjusted(exporting: TestClient) -> None:
    run = exporting.get(FORECAST).json()["run"]
    file = exporting.get(f"/v1/runs/{run}/basins/{BASIN}?format=csv")
    assert file.headers["Cache-Control"] == "public, max-age=60"


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_file_has_a_safe_name(exporting: TestClient, address: str) -> None:
    named = exporting.get(address, headers={"Accept": "text/csv"}).headers["Content-Disposition"]
    assert re.fullmatch(r'attachment; filename="[0-9A-Za-z][0-9A-Za-z_.-]*\.csv"', named)
    assert "Content-Disposition" not in exporting.get(address).headers
