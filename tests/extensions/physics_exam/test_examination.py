"""A training ends with the exam, on the weather of its basins."""

from extensions.physics_exam.examination import examine
from extensions.physics_exam.questions import QUESTIONS
from operations.versions.load_networks import load_version
from records.database.engine import Database
from records.versions import versions
from testing.country import BASINS, CLOCK
from testing.work import work_of


def test_a_version_stores_what_is_asked_of_its_networks(trained_store: Database) -> None:
    with trained_store.reading() as session:
        version = versions.newest(session)
        ensemble = load_version(session, version.id).ensemble
    examined = examine(work_of(trained_store, CLOCK), ensemble, names=BASINS)
    assert {probe.name for probe in examined} <= {question.name for question in QUESTIONS}
    assert "less flow after rain" in {probe.name for probe in examined}
    assert version.properties.physics is not None
    assert version.properties.physics[-len(examined) :] == examined


def test_networks_are_not_examined_where_too_little_weather_is_stored(trained_store: Database) -> None:
    with trained_store.reading() as session:
        ensemble = load_version(session, versions.newest(session).id).ensemble
    assert examine(work_of(trained_store, CLOCK), ensemble, names=()) == ()
