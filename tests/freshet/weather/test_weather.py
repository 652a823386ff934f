"""`freshet weather`, and the forecasts that go on with it."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from records.database.engine import Database
from records.runs import runs
from tests.freshet.conftest import BASINS, Freshet


def written(where: Path, *basins: str, **changes: Any) -> str:
    """Write a weather forecast of the ten days after 2005-09-25, and return where."""
    days = [f"2005-09-{day}" for day in range(26, 31)] + [f"2005-10-0{day}" for day in range(1, 6)]
    units = {"precipitation": "mm/day", "tmax": "degC", "tmin": "degC", "srad": "W/m2", "vp": "Pa"}
    values = {"precipitation": 2.0, "tmax": 12.0, "tmin": 3.0, "srad": 150.0, "vp": 700.0}
    traces = {
        label: {name: [value * factor] * len(days) for name, value in values.items()}
        for label, factor in (("dry", 0.5), ("wet", 1.5))
    }
    document = {
        "source": "our-own",
        "model": "two-guesses",
        "reference_time": "2005-09-26T00:00:00Z",
        "available_time": "2005-09-26T05:00:00Z",
        "credit": "Weather guessed by the river office",
        "units": units,
        "basins": {basin: {"time": days, "traces": traces} for basin in basins},
    }
    path = where / "weather.json"
    path.write_text(json.dumps(document | changes))
    return str(path)


def test_a_weather_forecast_is_added_listed_and_forecast_with(worked: Freshet, tmp_path: Path) -> None:
    file = written(tmp_path, *BASINS)
    added = worked("weather", "add", file, "--json")
    assert (added.code, added.json["new"]) == (0, len(BASINS))
    assert worked("weather", "add", file, "--json").json["known"] == len(BASINS)
    listed = worked("weather", "list", "--json").json["weather"]
    assert (listed[0]["id"], listed[0]["model"]) == (added.json["weather"]["weather.json"], "two-guesses")
    assert "two-guesses" in worked("weather", "list").out

    result = worked("forecast", "--weather", "supplied", "--t0", "2005-09-25", "--json")

    (run,) = result.json["runs"]
    stored = worked("runs", run["run"], "--json").json
    assert (result.code, stored["forcing_kind"], stored["status"]) == (0, "supplied", "issued")
    assert stored["weather"]["credit"] == "Weather guessed by the river office"
    assert worked("runs", run["run"], "--basin", BASINS[0], "--json").json["traces"] == 2
    shown = worked("runs", run["run"])
    assert "Weather guessed by the river office" in shown.err
    assert "members and traces" in shown.out


def test_a_forecast_goes_on_with_the_weather_of_other_years(worked: Freshet) -> None:
    result = worked("forecast", "--weather", "climatology", "--json")
    (run,) = result.json["runs"]
    forecast = worked("runs", run["run"], "--basin", BASINS[0], "--json").json
    assert (result.code, forecast["t0"], forecast["forcing_kind"]) == (0, "2005-09-30", "climatology")
    assert forecast["traces"] == 5


def test_a_dry_spell_is_a_what_if(worked: Freshet) -> None:
    (run,) = worked("forecast", "--weather", "dry", "--horizon", "40", "--json").json["runs"]
    forecast = worked("runs", run["run"], "--basin", BASINS[0], "--json").json
    assert (forecast["status"], forecast["forcing_kind"], forecast["purpose"]) == ("issued", "dry", "what-if")
    assert forecast["water_balance"]["mean"]["precipitation"] == 0


def test_a_forecast_reports_the_age_of_its_water_where_it_is_asked_to(worked: Freshet) -> None:
    with closing(Database(f"sqlite:///{worked.data / 'freshet.sqlite'}")) as database:
        for asked, known in (([], False), (["--age"], True)):
            (run,) = worked("forecast", *asked, "--json").json["runs"]
            with database.reading() as session:
                assert (runs.basin_of(session, run["run"], BASINS[0]).summary.age_reason is None) is known


def test_a_basin_whose_weather_cannot_be_used_is_reported_beside_the_others(worked: Freshet, tmp_path: Path) -> None:
    file = written(tmp_path, *BASINS[:2], "OWN-nowhere", model="another")
    result = worked("weather", "add", file, "--json")
    assert (result.code, result.json["new"]) == (6, 2)
    assert "Refused: weather.json: No basin 'OWN-nowhere' is stored here" in result.err


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--weather", "supplied"], 4, "no weather forecast that is known holds"),
        (["--weather", "supplied", "--weather-id", "nothing"], 3, "No weather forecast 'nothing' is stored here"),
        (["--weather-id", "nothing"], 2, "--weather-id goes with --weather supplied alone"),
        (["--weather", "tarot"], 2, "tarot"),
    ],
)
def test_weather_that_cannot_be_used_is_reported(
    worked: Freshet, arguments: list[str], code: int, sentence: str
) -> None:
    result = worked("forecast", *arguments, "--json")
    assert result.code == code
    assert sentence in result.json["problem"]["detail"]


def test_a_file_that_is_not_a_weather_forecast_is_reported(worked: Freshet, tmp_path: Path) -> None:
    for name, sentence in (("none.csv", "cannot be read"), ("weather.grib", "is neither .csv, .json nor .nc")):
        result = worked("weather", "add", str(tmp_path / name))
        assert result.code == 4
        assert sentence in result.err
