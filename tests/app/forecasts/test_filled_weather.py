"""What is read from a run whose past days got weather from other sources: labels, and words about the days to come."""

from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from hydrology.base.calendar import day
from records.database.engine import Database
from records.runs.filled_note import filled_note
from records.runs.run_weather import FilledWeather
from testing.records import BASIN, a_basin, a_promoted_version, a_run
from tests.app import factories
from tests.app.forecasts.test_traces import WEATHER

LATEST = f"/v1/basins/{BASIN}/forecasts/latest"
UNTIL = day("2008-10-02")


def a_label(first: str, last: str, source: str = "forecast", **chosen: object) -> FilledWeather:
    of_source = {"source": source, "id": "01a1", "name": "a-model", "reference_day": first}
    correlations = {"precipitation": [0.8], "tmax": [0.9]}
    return FilledWeather(**{**of_source, "first": first, "last": last, "correlations": correlations, **chosen})  # type: ignore[arg-type]


@pytest.fixture
def run(database: Database) -> str:
    """A run over three days, of which one had ended."""
    result = factories.forecast_with_traces()
    summary = replace(result.basin.summary, filled_weather=(a_label("2008-10-01", "2008-10-01"),))
    result = replace(result, basin=replace(result.basin, summary=summary))
    with database.transaction() as session:
        version = a_promoted_version(session, a_basin(session))
        chosen = {"horizon_days": 3, "filled_days": 1, "forcing_kind": "supplied", "weather": WEATHER}
        return a_run(session, version, result, **chosen).id


def test_an_answer_names_the_source_of_filled_weather(run: str, client: TestClient) -> None:
    answer = client.get(LATEST).json()
    assert (answer["run"], answer["filled_days"]) == (run, 1)
    assert answer["filled_weather"] == [
        {
            "first": "2008-10-01",
            "last": "2008-10-01",
            "source": "forecast",
            "id": "01a1",
            "name": "a-model",
            "reference_day": "2008-10-01",
            "correlations": {"precipitation": [0.8], "tmax": [0.9]},
        }
    ]
    assert answer["weather_note"] == "Weather of 1 October is not observed yet: it is the forecast of that day."
    assert "1 October" not in answer["in_words"]
    assert "2 October" in answer["in_words"]
    assert len(answer["time"]) == 3
    assert answer["weather_note"] in client.get(f"/basins/{BASIN}").text


def test_a_run_that_filled_nothing_does_not_mention_it(database: Database, client: TestClient) -> None:
    with database.transaction() as session:
        a_run(session, a_promoted_version(session, a_basin(session)), factories.forecast(), horizon_days=3)
    assert {"filled_days", "filled_weather", "weather_note"}.isdisjoint(client.get(LATEST).json())


@pytest.mark.parametrize(
    ("filled", "note"),
    [
        ([], None),
        ([a_label("2008-10-01", "2008-10-01", "product")], None),
        (
            [
                a_label(f"2008-10-0{at}", f"2008-10-0{at}", reference_day=f"2008-{before}")
                for at, before in ((1, "09-30"), (2, "10-01"))
            ],
            "Weather of 1 to 2 October is not observed yet: it is the forecast of the day before.",
        ),
        (
            [a_label("2008-10-01", "2008-10-02", reference_day="2008-09-29")],
            "Weather of 1 to 2 October is not observed yet: it is the forecast of 29 September.",
        ),
        (
            [
                a_label("2008-10-01", "2008-10-01", "bridge", name="second", correlations={"precipitation": [0.9]}),
                a_label("2008-10-01", "2008-10-01", correlations={"tmax": [0.9]}),
            ],
            (
                "Precipitation of 1 October is not observed yet: it is that of second, bridged. "
                "Tmax of 1 October is not observed yet: it is the forecast of that day."
            ),
        ),
        (
            [a_label("2008-10-08", "2008-10-09", "climatology", id=None, name=None, reference_day=None)],
            "From 8 October on no weather forecast is known: the weather is that of other years.",
        ),
        (
            [a_label("2008-10-02", "2008-10-05", "climatology", id=None, name=None, reference_day=None)],
            (
                "Weather of 2 October is not observed yet: it is that of other years. "
                "From 3 October on no weather forecast is known: the weather is that of other years."
            ),
        ),
        ([a_label("2008-10-06", "2008-10-07", reference_day="2008-09-30")], None),
    ],
)
def test_the_note_names_days_variables_and_sources(filled: list[FilledWeather], note: str | None) -> None:
    assert filled_note(filled, UNTIL) == note
