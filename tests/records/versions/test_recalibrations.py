"""Recalibrations: one for each version and weather model, replaced whole."""

import pytest

from records.database.engine import Database
from records.runs.run_weather import RunRecalibration
from records.versions import error_models
from records.versions.versions import UnknownVersion
from testing.records import NOW, a_version


def fitted(issue_days: int) -> RunRecalibration:
    return RunRecalibration(
        fitted_on="2005-02-27..2005-04-02",
        issue_days=issue_days,
        reforecast_days=2,
        days=9,
        centre=[0.1, 0.2],
        spread=[1.0, 0.9],
    )


def test_another_fit_replaces_that_of_its_weather_model_alone(database: Database) -> None:
    with database.transaction() as session:
        version = a_version(session).id
        for weather, issue_days in (("a/b", 10), ("a/c", 11), ("a/b", 20)):
            error_models.replace_recalibration(session, version, weather, fitted(issue_days), NOW)
    with database.reading() as session:
        found = [error_models.recalibration_of(session, version, weather) for weather in ("a/b", "a/c", "a/d")]
    assert found == [fitted(20), fitted(11), error_models.ASSUMED]


def test_it_belongs_to_a_version(database: Database) -> None:
    with database.transaction() as session, pytest.raises(UnknownVersion):
        error_models.replace_recalibration(session, "none", "a/b", fitted(10), NOW)
