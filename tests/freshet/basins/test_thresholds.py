"""`freshet thresholds`: shown, set, removed."""

import pytest

from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.series import series_writer
from testing.records import BASIN, NOW, a_source
from tests.freshet.conftest import Freshet
from tests.records.alerts.test_thresholds import a_record


@pytest.fixture
def office(empty: Freshet) -> Freshet:
    """The command line, with twelve years of a gauge."""
    database = Database(f"sqlite:///{empty.data / 'freshet.sqlite'}")
    with database.transaction() as session:
        basins.upsert(session, Basin(BASIN))
        series_writer.write(session, BASIN, "usgs", "discharge", a_record(), a_source(session), NOW)
    database.close()
    return empty


def test_the_levels_of_a_record_are_shown(office: Freshet) -> None:
    result = office("thresholds", "show", "01013500", "--json").json
    assert (result["basin"], result["units"], result["fixed"]) == (BASIN, "m3/s", [])
    _, floods, _, low, duration = result["record"]
    assert (floods["kind"], floods["method"], floods["years"]) == ("flood", "gev", 12)
    assert floods["period"] == {"first_day": "1990-10-01", "last_day": "2002-09-30"}
    two, *_, fifty = floods["levels"]
    assert (two["name"], fifty["name"], fifty["return_period_years"]) == ("gev-2", "gev-50", 50)
    assert two["discharge"] < fifty["discharge"] < fifty["high"]
    assert [level["name"] for level in low["levels"]] == ["7q2", "7q10"]
    highest = float(a_record().values.max()) * 0.3048**3
    assert two["discharge"] < highest < 2 * fifty["discharge"]
    assert duration["levels"][0]["exceeded_percent"] == 70
    shown = office("thresholds", "show", BASIN)
    assert f"{two['discharge']:.3f}" in shown.out


def test_a_record_that_is_too_short_gives_the_reason(ingested: Freshet) -> None:
    shown = ingested("thresholds", "show", "SYNTH-01")
    assert (shown.code, "Years with enough days: 5. A level needs 10." in shown.out) == (0, True)


def test_a_level_is_set_and_removed(office: Freshet) -> None:
    created = office("thresholds", "set", BASIN, "bankfull", "210.5", "--json").json
    assert (created["name"], created["discharge"], created["direction"]) == ("bankfull", 210.5, "rising")
    assert office("thresholds", "set", BASIN, "bankfull", "210.5", "--json").json == created
    assert office("thresholds", "set", BASIN, "bankfull", "3", "--falling", "--json").json["direction"] == "falling"
    (fixed,) = office("thresholds", "show", BASIN, "--json").json["fixed"]
    assert (fixed["name"], fixed["discharge"], fixed["direction"]) == ("bankfull", 3, "falling")
    assert "bankfull" in office("thresholds", "show", BASIN).out
    assert office("thresholds", "remove", BASIN, "bankfull").code == 0
    assert office("thresholds", "remove", BASIN, "bankfull").code == 3
    changes = office("audit", "--json").json["changes"]
    assert [(change["action"], change["subject"]) for change in changes] == [
        ("threshold removed", BASIN),
        ("threshold set", BASIN),
        ("threshold set", BASIN),
    ]
    entered = {"name": "bankfull", "discharge": 3.0, "unit": "m3/s", "direction": "falling"}
    assert changes[1]["detail"] == entered | {"impact": None, "instruction": None}


def test_a_regional_skew_is_set_and_the_trend_shown(office: Freshet) -> None:
    shown = office("thresholds", "show", BASIN)
    assert "(Mann-Kendall); levels are not adjusted." in shown.out
    before = office("thresholds", "show", BASIN, "--json").json["record"][2]
    set_to = ["--regional-skew", "0.4", "--regional-skew-error", "0.1"]
    stored = office("thresholds", "frequency", BASIN, *set_to, "--json").json
    assert (stored["regional_skew"], stored["regional_skew_error"]) == (0.4, 0.1)
    assert office("thresholds", "frequency", BASIN, *set_to, "--json").json == stored
    after = office("thresholds", "show", BASIN, "--json").json["record"][2]
    assert (before["method"], before["low_outliers"]) == ("bulletin-17c", 0)
    assert before["levels"][4]["discharge"] != after["levels"][4]["discharge"]
    refused = office("thresholds", "frequency", BASIN, "--regional-skew", "0.4", "--json")
    assert (refused.code, "give both or none" in refused.json["problem"]["detail"]) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["set", "SYNTH-01", "bankfull", "7"], 3, "No basin 'SYNTH-01'"),
        (["show", "SYNTH-01"], 3, "No basin 'SYNTH-01'"),
        (["set", BASIN, "bank full", "7"], 2, "name"),
        (["set", BASIN, "bankfull", "0"], 2, "discharge"),
        (["set", BASIN, "7q10", "7"], 2, "choose another name"),
        (["set", BASIN, "bankfull", "seven"], 2, "FLOW"),
    ],
)
def test_an_impossible_level_is_reported(office: Freshet, arguments: list[str], code: int, sentence: str) -> None:
    result = office("thresholds", *arguments, "--json")
    assert result.code == code
    assert sentence in result.json["problem"]["detail"]
    assert office("thresholds", "show", BASIN, "--json").json["fixed"] == []
