"""A shipped ensemble that has learnt from every year is judged by its twin, which has not."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from extensions.shipping.export import export, ship
from hydrology.base.calendar import Period
from hydrology.base.errors import InvalidInput
from jobspec.jobs.training import PromotionRule
from models.pretrained.form import DamagedEnsemble, Named
from operations.training.pretrained import Installed, install, read_shipped
from operations.training.promotion_rule import decide
from operations.verification.compare import compare
from operations.verification.evaluate import Evaluation, evaluate
from operations.verification.score_basins import BasinSkill
from records.database.engine import Database
from records.simulations import snow_cells
from records.verification import scores as verification_scores
from records.versions import promotions, versions
from testing.country import BASINS, CLOCK, configuration
from testing.training import train
from testing.work import work_of

pytestmark = pytest.mark.extended

EVERY_YEAR, HELD_OUT = "2001-10-01..2008-09-30", "2004-10-01..2008-09-30"
YEARS = Period.parse(HELD_OUT)
TODAY, TWIN = "small-today", "small-twin"


@pytest.fixture(scope="session")
def trained_file(long_trained_file: Path) -> Path:
    """The country with the longer record."""
    return long_trained_file


@pytest.fixture
def shelf(trained_store: Database, tmp_path: Path) -> Path:
    """An ensemble of every year, and its twin."""
    ids = {}
    for name, held_out in ((TWIN, HELD_OUT), (TODAY, None)):
        config = configuration(train_period=EVERY_YEAR, validation_period=None, held_out_period=held_out, members=1)
        ids[name] = train(work_of(trained_store, CLOCK), config, BASINS).version_id
    shelf = tmp_path / "shelf"
    content = export(trained_store, ids[TWIN], shelf / TWIN).content
    with trained_store.reading() as session:
        version, members = versions.get(session, ids[TODAY]), versions.members_of(session, ids[TODAY])
    ship(shelf / TODAY, version, members, Named(name=TWIN, content=content))
    for name in (TWIN, TODAY):
        (shelf / name / "README.md").write_text("A small one.")
    return shelf


@pytest.fixture
def today(trained_store: Database, shelf: Path) -> Installed:
    """The ensemble of every year, installed."""
    return install(work_of(trained_store, CLOCK), read_shipped(TODAY, shelf))


def scores(basins: tuple[BasinSkill, ...]) -> Mapping[str, float | None]:
    return {basin.basin: basin.scores["nse"].value for basin in basins}


def test_a_twin_is_installed_with_the_ensemble_that_names_it(
    trained_store: Database, shelf: Path, today: Installed
) -> None:
    twin = install(work_of(trained_store, CLOCK), read_shipped(TWIN, shelf))
    assert (today.twin, twin.already, twin.twin) == (twin.version_id, True, None)
    with trained_store.reading() as session:
        assert versions.get(session, today.version_id).twin_id == twin.version_id
    exported = export(trained_store, today.version_id, shelf.parent / "elsewhere" / TODAY)
    assert exported.content == today.content


def test_another_ensemble_in_the_twins_place_is_refused(shelf: Path) -> None:
    description = shelf / TWIN / "version.json"
    description.write_text(json.dumps(json.loads(description.read_text()) | {"data_hash": "other"}))
    with pytest.raises(DamagedEnsemble, match=f"{TWIN} is not the twin that .*{TODAY}"):
        read_shipped(TODAY, shelf)


def test_years_that_it_has_learnt_from_are_scored_by_the_twin(trained_store: Database, today: Installed) -> None:
    assert today.twin is not None
    of_twin = evaluate(work_of(trained_store, CLOCK), today.twin, YEARS, BASINS)
    done: Evaluation[BasinSkill] = evaluate(work_of(trained_store, CLOCK), today.version_id, YEARS, BASINS)
    assert (done.version_id, done.scored) == (today.version_id, today.twin)
    assert scores(done.basins) == scores(of_twin.basins)
    assert done.worst_residual not in (None, of_twin.worst_residual)
    with trained_store.reading() as session:
        assert verification_scores.scores(session, versions=[today.version_id]) == []
        closure = versions.get(session, today.version_id).properties.closure
        own_snow = {row.basin_id for row in snow_cells.own_cells(session, today.version_id)}
    assert closure is not None
    assert closure.worst_relative_residual == done.worst_residual
    assert own_snow == {basin.basin for basin in of_twin.basins if basin.snow is not None}


def test_the_rule_judges_the_version_in_use_by_its_twin(trained_store: Database, today: Installed) -> None:
    with trained_store.transaction() as session:
        promotions.promote(session, today.version_id, BASINS, reason="every year", by="someone", at=CLOCK.now())
    candidate = train(work_of(trained_store, CLOCK), configuration(members=1, seed=9), BASINS).version_id
    decision = decide(work_of(trained_store, CLOCK), candidate, PromotionRule(period=YEARS))
    with trained_store.reading() as session:
        judged = {
            row.version_id for row in verification_scores.scores(session, versions=[today.version_id, str(today.twin)])
        }
    assert f"{today.version_id} was judged by its twin {today.twin}." in decision.sentence
    assert decision.current == (today.version_id,)
    assert (decision.basins, judged) == (len(BASINS), {today.twin})


def test_a_comparison_asks_for_the_twin(trained_store: Database, today: Installed) -> None:
    with pytest.raises(InvalidInput, match=f"name its twin {today.twin} in its place"):
        compare(work_of(trained_store, CLOCK), [today.version_id], YEARS)
