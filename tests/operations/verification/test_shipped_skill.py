"""The skill that a shipped ensemble comes with: installed for stored basins, replaced by an evaluation here."""

from pathlib import Path

import pytest

from extensions.shipping.attachments import write_skill
from extensions.shipping.export import export
from hydrology.base.calendar import Period
from models.pretrained import attachments as shipped_skill
from models.pretrained.form import DamagedEnsemble, read
from operations.training.pretrained import install
from operations.verification.evaluate import evaluate
from records.database.engine import Database
from records.verification import scores
from records.versions import versions
from testing.country import BASINS, CLOCK
from testing.work import work_of
from tests.operations.verification.test_calibrate import UNSEEN

NOT_STORED = "USGS-01013500"
PERIOD = str(UNSEEN)


@pytest.fixture
def folder(trained_store: Database, tmp_path: Path) -> Path:
    """An ensemble with the skill of two stored basins, one without a value, and of one that is not stored."""
    folder = tmp_path / "ensemble"
    with trained_store.reading() as session:
        version = versions.newest(session).id
    export(trained_store, version, folder)
    (folder / "README.md").write_text("A small one.")
    nse = shipped_skill.ShippedScores(
        n=[9, 0, 9], value=[0.246813, None, 0.5], reasons={BASINS[1]: "No day is observed."}
    )
    shipped = shipped_skill.ShippedSkill(
        content=read(folder).content,
        period=Period.parse(PERIOD),
        evaluated_at=CLOCK.wall(),
        basins=[BASINS[0], BASINS[1], NOT_STORED],
        metrics={"nse": nse},
    )
    write_skill(read(folder), shipped)
    return folder


def rows(database: Database, version: str) -> dict[str, scores.Score]:
    """Return the NSE of a version by basin."""
    with database.reading() as session:
        return {row.basin_id: row for row in scores.scores(session, versions=[version], metrics=["nse"])}


def test_it_is_installed_for_stored_basins_and_an_evaluation_replaces_it(trained_store: Database, folder: Path) -> None:
    version = install(work_of(trained_store, CLOCK), read(folder)).version_id
    there = rows(trained_store, version)
    assert {name: (row.value, row.shipped) for name, row in there.items()} == {
        BASINS[0]: (0.246813, True),
        BASINS[1]: (None, True),
    }
    assert str(there[BASINS[1]].reason) == "No day is observed."
    with trained_store.reading() as session:
        (quartiles,) = scores.quartiles(session, version, ["nse"])
    assert (quartiles.n, quartiles.lacking, quartiles.shipped) == (1, 1, 1)
    evaluate(work_of(trained_store, CLOCK), version, Period.parse(PERIOD), [BASINS[0]])
    assert install(work_of(trained_store, CLOCK), read(folder)).already
    there = rows(trained_store, version)
    assert (there[BASINS[0]].shipped, there[BASINS[0]].value == 0.246813) == (False, False)
    assert there[BASINS[1]].shipped


def test_it_is_not_that_of_another_product(trained_store: Database, folder: Path) -> None:
    assert rows(trained_store, install(work_of(trained_store, CLOCK), read(folder), product="another").version_id) == {}


@pytest.mark.parametrize(
    ("old", "new", "cause"),
    [
        ('"content":"', '"content":"0', "not of the ensemble beside it"),
        ("0.246813", "null", "has not a value or a reason"),
        ("{", "", "cannot be used"),
        (PERIOD, "soon", "cannot be used"),
    ],
)
def test_a_damaged_file_is_refused(folder: Path, old: str, new: str, cause: str) -> None:
    file = folder / shipped_skill.SKILL_FILE
    file.write_text(file.read_text().replace(old, new, 1))
    with pytest.raises(DamagedEnsemble, match=cause):
        shipped_skill.read_skill(read(folder))
