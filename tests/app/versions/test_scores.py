"""Scores of a version in a basin and over its basins."""

import re
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from hydrology.base.absent import absent
from hydrology.base.calendar import Period, day
from hydrology.base.reasons import Reason
from hydrology.verification.held_out_years import PeriodUse
from records.database.engine import Database
from records.simulations import snow_cells
from records.verification import scores as verification_scores
from records.versions.version_properties import Pretrained, VersionProperties
from testing.records import BASIN, NOW, a_basin, a_promoted_version, a_run, a_version
from tests.app import factories
from tests.app.forecasts.test_water import CELLS

SCORE = verification_scores.Score(
    version_id="",
    basin_id=BASIN,
    member="mean",
    metric="nse",
    first_day=day("1989-10-01"),
    last_day=day("1999-09-30"),
    n=3652,
    value=0.75,
    period_use="held out",
    evaluated_at=NOW,
)
NO_SNOW = absent(Reason.REFERENCE_SNOW_IS_CONSTANT)
FHV = replace(SCORE, metric="fhv", n=25, value=None, reason=absent(Reason.TOO_FEW_PAIRS, minimum=26, pairs=25))


def fill_records(database: Database) -> tuple[str, str]:
    """Store scores of the current version of three basins; return it, and one without scores."""
    with database.transaction() as session:
        a_basin(session)
        current, other = a_promoted_version(session), a_version(session).id
        scores = [replace(one, version_id=current) for one in (replace(SCORE, shipped=True), FHV)]
        scores += [
            replace(scores[0], basin_id=a_basin(session, basin), value=value)
            for basin, value in (("SYNTH-01", 0.25), ("SYNTH-02", 0.5))
        ]
        verification_scores.replace(session, scores)
    return current, other


def test_a_basin_reports_the_scores_of_its_current_version(database: Database, client: TestClient) -> None:
    version, _ = fill_records(database)
    result = client.get(f"/v1/basins/{BASIN}/skill").json()
    assert (result["basin"], result["version"]) == (BASIN, version)
    fhv, nse = result["scores"]
    assert (nse["metric"], nse["value"], nse["reason"], nse["n"]) == ("nse", 0.75, None, 3652)
    assert nse["period"] == {"first_day": "1989-10-01", "last_day": "1999-09-30"}
    assert (nse["shipped"], fhv["shipped"]) == (True, False)
    assert (fhv["value"], fhv["reason"], fhv["n"]) == (None, str(FHV.reason), 25)
    assert set(result["missing"]) == {"snow"}
    only = client.get(f"/v1/basins/{BASIN}/skill?metric=nse&version={version}").json()
    assert only["scores"] == [nse]


def test_a_version_without_scores_of_its_own_reports_those_of_its_twin(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    twin, _ = fill_records(sqlite_database)
    shipped = Pretrained(name="today", content="a", trained_on="maurer_extended", twin=twin)
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session, properties=VersionProperties(pretrained=shipped))
    for address in (f"/v1/basins/{BASIN}/skill", f"/v1/models/{version}/skill"):
        answer = sqlite_client.get(address).json()
        assert (answer["version"], answer["scored"]) == (version, twin)
        assert {score["metric"] for score in answer["scores"]} == {"nse", "fhv"}
    assert sqlite_client.get(f"/v1/models/{version}").json()["twin"] == twin


def test_a_score_states_how_the_training_used_its_days(sqlite_database: Database, sqlite_client: TestClient) -> None:
    config = {"train_period": "1999-10-01..2008-09-30", "validation_period": "1989-10-01..1999-09-30"}
    uses: dict[str, PeriodUse] = {
        "1980-10-01..1989-09-30": "held out",
        "1989-10-01..1999-09-30": "validation",
        "1999-10-01..2008-09-30": "training",
        "1980-10-01..2008-09-30": "mixed",
    }
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session, a_basin(session), config=config)
    page, models = f"/basins/{BASIN}", "/models"
    for days, use in reversed(uses.items()):  # the held-out years come last: no page may show the others before
        period = Period.parse(days)
        score = replace(
            SCORE, version_id=version, first_day=period.first, last_day=period.last, value=0.1234, period_use=use
        )
        with sqlite_database.transaction() as session:
            verification_scores.replace(session, [score])
        for address in (models, f"/models/{version}"):
            text = sqlite_client.get(address).text
            assert ("0.123" in text) == (use == "held out")
            assert ("1980-10-01 to 1989-09-30" in text) == (use == "held out")  # which days they are
    for address in (f"/v1/basins/{BASIN}/skill", f"/v1/models/{version}/skill"):
        answer = sqlite_client.get(address).json()
        found = {"..".join(score["period"].values()): score["period_use"] for score in answer["scores"]}
        assert found == uses
        assert ",mixed," in sqlite_client.get(address, headers={"Accept": "text/csv"}).text
        for days, use in uses.items():
            (only,) = sqlite_client.get(address, params={"period_use": use}).json()["scores"]
            assert "..".join(only["period"].values()) == days
        unknown = sqlite_client.get(address, params={"period_use": "unknown"})
        assert (unknown.status_code, unknown.json()["type"]) == (404, "/problems/not-evaluated")
        assert unknown.json()["detail"].startswith(f"No score over unknown days of version {version}")
        assert sqlite_client.get(address, params={"period_use": "fresh"}).status_code == 422
    assert sqlite_client.get(page).status_code == 200


def test_a_page_shows_no_score_of_learnt_years_as_skill(sqlite_database: Database, sqlite_client: TestClient) -> None:
    config = {"train_period": "1989-10-01..1999-09-30"}
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session, a_basin(session), config=config)
        verification_scores.replace(session, [replace(SCORE, version_id=version, period_use="training")])
        a_run(session, version, factories.forecast(), horizon_days=3)
    text = sqlite_client.get(f"/basins/{BASIN}").text
    assert "not evaluated on held-out days here yet" in text
    assert f"No score over held-out days of version {version} in {BASIN} is stored" in text
    assert "Simulation of days held out of its training" not in text
    assert "0.75 <small" not in sqlite_client.get("/").text
    with sqlite_database.transaction() as session:
        verification_scores.replace(session, [replace(SCORE, version_id=version)])
    text = sqlite_client.get(f"/basins/{BASIN}").text
    assert "NSE 0.75 (1 is perfect) on held-out days, 1 October 1989 to 30 September 1999" in text
    assert "Simulation of days held out of its training" in text
    assert '0.75 <small class="together">1989 to 1999</small>' in sqlite_client.get("/").text


def test_a_page_shows_the_scores_of_draws_of_the_same_days_beside_those_of_the_mean(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    version, _ = fill_records(sqlite_database)
    of_mean = replace(SCORE, version_id=version, metric="fhv", value=-13.4)
    draws = replace(of_mean, member=verification_scores.DRAWS, value=-0.6)
    other_days = replace(draws, metric="nse", first_day=day("1990-10-01"))
    with sqlite_database.transaction() as session:
        a_run(session, version, factories.forecast(), horizon_days=3)
        verification_scores.replace(session, [of_mean, other_days])
    assert "Draws <small>" not in sqlite_client.get(f"/basins/{BASIN}").text
    with sqlite_database.transaction() as session:
        verification_scores.replace(session, [draws])
    row = sqlite_client.get(f"/basins/{BASIN}").text.partition('<th scope="row">FHV')[2].partition("</tr>")[0]
    assert [*re.findall(r"together\">([^<]*)<", row)] == ["-13 %", "-1 %", ""]


def test_held_out_scores_of_the_twin_stand_before_scores_of_days_that_a_version_has_learnt_from(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    twin, _ = fill_records(sqlite_database)
    shipped = Pretrained(name="today", content="a", trained_on="maurer_extended", twin=twin)
    with sqlite_database.transaction() as session:
        version = a_promoted_version(session, properties=VersionProperties(pretrained=shipped))
        verification_scores.replace(session, [replace(SCORE, version_id=version, period_use="training")])
    for address in (f"/v1/basins/{BASIN}/skill", f"/v1/models/{version}/skill"):
        scored = [
            sqlite_client.get(address, params=asked).json()["scored"] for asked in ({}, {"period_use": "held out"})
        ]
        assert scored == [version, twin]


def test_a_basin_reports_how_well_its_snow_reads(sqlite_database: Database, sqlite_client: TestClient) -> None:
    version, _ = fill_records(sqlite_database)
    unread = replace(
        CELLS,
        version_id=version,
        product="snodas",
        test_r=None,
        bias_pct=None,
        reason=NO_SNOW,
    )
    with sqlite_database.transaction() as session:
        snow_cells.replace(session, [replace(CELLS, version_id=version), unread])
    result = sqlite_client.get(f"/v1/basins/{BASIN}/skill").json()
    snodas, uaz = result["snow"]
    assert (uaz["test"]["r"], uaz["reason"], uaz["label"]) == (0.8, None, "not trained on snow")
    assert (snodas["test"]["r"], snodas["reason"]) == (None, str(unread.reason))
    assert result["missing"] == {}


def test_a_version_reports_its_quartiles_over_the_basins(database: Database, client: TestClient) -> None:
    version, _ = fill_records(database)
    result = client.get(f"/v1/models/{version}/skill").json()
    fhv, nse = result["scores"]
    assert (nse["n"], nse["lacking"], nse["p25"], nse["median"], nse["p75"]) == (3, 0, 0.375, 0.5, 0.625)
    assert (fhv["n"], fhv["lacking"], fhv["median"]) == (0, 1, None)
    assert client.get(f"/v1/models/{version}/skill?metric=nse").json()["scores"] == [nse]


def test_a_new_score_is_a_new_answer(sqlite_database: Database, sqlite_client: TestClient) -> None:
    version, _ = fill_records(sqlite_database)
    addresses = f"/v1/basins/{BASIN}/skill", f"/v1/models/{version}/skill"
    held = [{"If-None-Match": sqlite_client.get(address).headers["ETag"]} for address in addresses]
    before = [sqlite_client.get(at, headers=tag).status_code for at, tag in zip(addresses, held, strict=True)]
    with sqlite_database.transaction() as session:
        verification_scores.replace(session, [replace(SCORE, version_id=version, value=0.76)])
    after = [sqlite_client.get(at, headers=tag).status_code for at, tag in zip(addresses, held, strict=True)]
    assert (before, after) == ([304, 304], [200, 200])


def test_an_unevaluated_version_reports_how_to_evaluate_it(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    version, other = fill_records(sqlite_database)
    addresses = {
        f"/v1/basins/{BASIN}/skill?version={other}": "not-evaluated",
        f"/v1/basins/{BASIN}/skill?metric=luck": "not-evaluated",
        f"/v1/models/{other}/skill": "not-evaluated",
        f"/v1/models/{version}/skill?metric=luck": "not-evaluated",
        f"/v1/basins/{BASIN}/skill?version=nothing": "unknown-version",
        "/v1/models/nothing/skill": "unknown-version",
        "/v1/basins/SYNTH-01/skill": "no-model",
        "/v1/basins/SYNTH-09/skill": "unknown-basin",
    }
    for address, kind in addresses.items():
        answer = sqlite_client.get(address)
        assert (answer.status_code, answer.json()["type"]) == (404, f"/problems/{kind}")
        if kind == "not-evaluated":
            assert "freshet evaluate --version" in answer.json()["detail"]


@pytest.mark.parametrize("asked", ["metric=", "metric=a%20b", "version=a/b"])
def test_a_parameter_that_cannot_be_used_is_named(sqlite_client: TestClient, asked: str) -> None:
    answer = sqlite_client.get(f"/v1/basins/{BASIN}/skill?{asked}")
    assert answer.status_code == 422
    assert [fault["field"] for fault in answer.json()["errors"]] == [asked.partition("=")[0]]
