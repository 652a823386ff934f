"""A shipped ensemble: written from a version, installed whole or not at all, used where it never learnt."""

import json
import pickle
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from extensions.bmi import Freshet
from extensions.shipping.attachments import write_errors
from extensions.shipping.export import export, ship
from extensions.shipping.writing import AnotherVersion
from hydrology.base.calendar import Period, day
from hydrology.base.errors import DataProblem, InvalidInput
from hydrology.uncertainty.error_model import FLOW_CLASSES, LEVELS, NO_FLOW_KNOWN, BasinErrors, Shape
from jobspec.jobs.forecasting import ForecastParams
from models import checkpoint
from models.pretrained import attachments
from models.pretrained.form import DamagedEnsemble, names, owner, read
from models.saved_state import Owner
from operations.forecasting.forecast import forecast
from operations.training import assemble
from operations.training.assemble import new_version
from operations.training.pretrained import UnknownEnsemble, install, promote_where_vacant, read_shipped
from operations.training.train import begin, train_member
from operations.verification.compare import compare
from operations.verification.evaluate import evaluate
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database
from records.runs import runs
from records.runs.run_summary import RunSummary
from records.runs.runs import RunRequest
from records.versions import error_models, promotions, trainings, versions
from records.versions.promotions import PROMOTIONS, Withdrawn
from records.versions.version_properties import Pretrained
from testing.country import BASINS, CLOCK, configuration
from testing.records import contents, withdraw
from testing.training import train
from testing.work import work_of

pytestmark = pytest.mark.extended

LEARNT, UNSEEN = BASINS[:2], BASINS[2]
NAME = "small-ensemble"


@pytest.fixture(scope="session")
def shipped(trained_file: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A shelf with an ensemble that learnt from two of the three basins, and the database that it was trained in."""
    folder = tmp_path_factory.mktemp("shipped")
    file = Path(shutil.copy(trained_file, folder / "freshet.sqlite"))
    database = Database(f"sqlite:///{file}")
    trained = train(work_of(database, CLOCK), configuration(seed=5), LEARNT)
    export(database, trained.version_id, folder / "shelf" / NAME)
    database.close()
    return folder / "shelf", file


@pytest.fixture
def shelf(shipped: tuple[Path, Path], tmp_path: Path) -> Path:
    """A copy of the shelf, which a test may harm."""
    return Path(shutil.copytree(shipped[0], tmp_path / "shelf"))


@pytest.fixture
def origin(shipped: tuple[Path, Path], tmp_path: Path) -> Iterator[Database]:
    """A copy of the database in which the ensemble was trained."""
    database = Database(f"sqlite:///{shutil.copy(shipped[1], tmp_path / 'origin.sqlite')}")
    yield database
    database.close()


def newest(database: Database) -> versions.Version:
    with database.reading() as session:
        return versions.newest(session)


def discharge(database: Database, version: str) -> dict[str, Any]:
    """Forecast every basin with a version, and return the results of the members."""
    (run,) = forecast(
        work_of(database, CLOCK), RunRequest(ForecastParams(basins=list(BASINS), t0=day("2004-03-10"), version=version))
    )
    with database.reading() as session:
        return {basin: runs.series_of(session, run.id, basin)["discharge"].values for basin in BASINS}


def summary(database: Database, version: str, basin: str) -> RunSummary:
    """Forecast a basin with a version, and return what the run stores of it."""
    (run,) = forecast(
        work_of(database, CLOCK), RunRequest(ForecastParams(basins=[basin], t0=day("2004-03-10"), version=version))
    )
    with database.reading() as session:
        return runs.basin_of(session, run.id, basin).summary


def rewrite(folder: Path, **changes: Any) -> None:
    """Change the content of a description."""
    path = folder / "version.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def another_product(folder: Path) -> None:
    """Let an ensemble claim that it was trained on another product."""
    config = json.loads((folder / "version.json").read_text())["config"]
    rewrite(folder, config=config | {"inputs": config["inputs"] | {"product": "maurer_extended"}})


def test_an_installed_ensemble_has_the_exported_weights_in_half_precision(origin: Database, shelf: Path) -> None:
    trained = newest(origin)
    installed = install(work_of(origin, CLOCK), read_shipped(None, shelf))
    with origin.transaction() as session:
        halved = [
            replace(member, weights={"best": _through_half(member.weights["best"])})
            for member in versions.members_of(session, trained.id)
        ]
        rounded = versions.create(session, replace(_new(trained), label="rounded"), halved)
    exported, again, expected = (discharge(origin, one) for one in (trained.id, installed.version_id, rounded.id))
    with origin.reading() as session:
        physics = versions.get(session, installed.version_id).properties.physics
    assert physics == assemble.measured(_new(trained), halved)
    for basin in BASINS:
        np.testing.assert_array_equal(again[basin], expected[basin])
        np.testing.assert_allclose(again[basin], exported[basin], rtol=0.02)
        assert not np.array_equal(again[basin], exported[basin])


def test_an_export_is_installed_from_its_folder_with_the_same_forecasts(
    origin: Database, trained_store: Database, tmp_path: Path
) -> None:
    folder, again = tmp_path / "anywhere" / "exported", tmp_path / "again"
    trained = newest(origin).id
    export(origin, trained, folder)
    (folder / "README.md").write_text("My own card.")
    assert export(origin, trained, folder).changed is False
    assert (folder / "README.md").read_text() == "My own card."
    first = install(work_of(origin, CLOCK), read_shipped(str(folder)))
    assert install(work_of(origin, CLOCK), read_shipped(str(folder / "version.json"))).version_id == first.version_id

    export(origin, first.version_id, again)
    second = install(work_of(trained_store, CLOCK), read_shipped(str(again)))
    assert second.content == first.content
    here, there = discharge(origin, first.version_id), discharge(trained_store, second.version_id)
    for basin in BASINS:
        np.testing.assert_array_equal(here[basin], there[basin])


def test_an_export_is_run_over_bmi(origin: Database, tmp_path: Path) -> None:
    export(origin, newest(origin).id, tmp_path / "exported")
    with origin.reading() as session:
        known = basins.get(session, UNSEEN).attributes
    static = read(tmp_path / "exported").description.config.inputs.static
    configuration = {"ensemble": "exported", "basin": UNSEEN, "area_km2": 100.0, "first_day": "2004-03-10"}
    file = tmp_path / "basin.json"
    file.write_text(json.dumps(configuration | {"attributes": {name: known[name] for name in static}}))
    component = Freshet()
    component.initialize(str(file))
    for name, value in zip(component.get_input_var_names(), (12.0, 180.0, 9.5, 1.0, 650.0), strict=False):
        component.set_value(name, np.array([value]))
    component.update()
    assert np.isfinite(component.get_value_ptr(component.get_output_var_names()[0])).all()


def test_a_hostile_export_is_refused(shelf: Path, tmp_path: Path) -> None:
    folder = shelf / NAME
    for damage, sentence in (
        (_elsewhere, "members.1.file"),
        (_pickled, "member-01.safetensors is not of the form safetensors"),
    ):
        copy = Path(shutil.copytree(folder, tmp_path / damage.__name__))
        damage(copy)
        with pytest.raises(DamagedEnsemble, match=sentence):
            read_shipped(str(copy))
    (folder / "member-02.pkl").write_bytes(pickle.dumps([]))  # nothing names it, so nothing reads it
    assert list(read_shipped(str(folder)).weights) == [0, 1]  # type: ignore[union-attr]


def _pickled(folder: Path) -> None:
    """Put a pickle in a member's place, and describe it."""
    blob = pickle.dumps({"redistribution.bias": [0.0]})
    (folder / MEMBER).write_bytes(blob)
    members = json.loads((folder / "version.json").read_text())["members"]
    members[1]["sha256"] = sha256(blob).hexdigest()
    rewrite(folder, members=members)


def _through_half(weights: bytes) -> bytes:
    """Return weights as float32 that half precision holds."""
    tensors, header = checkpoint.parse(weights)
    return checkpoint.dump({name: tensor.half().float() for name, tensor in tensors.items()}, header)


def _new(version: versions.Version) -> versions.NewVersion:
    """Return the properties of a version when it was created."""
    return versions.NewVersion(**{name: getattr(version, name) for name in versions.NewVersion.__dataclass_fields__})


def test_an_installed_ensemble_is_a_version_with_all_its_properties(
    database: Database, origin: Database, shelf: Path
) -> None:
    trained, ensemble = newest(origin), read(shelf / NAME)
    installed = install(work_of(database, CLOCK), ensemble)
    with database.reading() as session:
        trained_store = versions.get(session, installed.version_id)
        members = versions.members_of(session, installed.version_id)
    with origin.reading() as session:
        before = versions.members_of(session, trained.id)
    same = ("architecture", "conserving", "product", "config", "scaler", "basins", "data_hash", "code_version", "uses")
    assert [getattr(trained_store, name) for name in same] == [getattr(trained, name) for name in same]
    assert trained_store.label == NAME
    assert trained_store.properties.attribute_ranges == trained.properties.attribute_ranges
    assert trained_store.properties.pretrained == Pretrained(
        name=NAME, content=ensemble.content, trained_on="synthetic"
    )
    assert [(one.label, one.seed, one.log) for one in members] == [(one.label, one.seed, one.log) for one in before]
    hashes = [sha256(one.weights["best"]).hexdigest() for one in members]
    assert hashes == [one.sha256 for one in ensemble.description.members]
    assert (installed.already, installed.members, installed.learnt_from) == (False, 2, 2)


def test_the_same_content_and_product_are_the_same_version(database: Database, shelf: Path) -> None:
    ensemble = read_shipped(NAME, shelf)
    first = install(work_of(database, CLOCK), ensemble)
    with database.reading() as session:
        before = contents(session)
    again = install(work_of(database, CLOCK), replace(ensemble, name="renamed"))
    assert (again.version_id, again.already) == (first.version_id, True)
    with database.reading() as session:
        assert contents(session) == before
    other = install(work_of(database, CLOCK), ensemble, "own_weather")
    assert (other.already, other.version_id == first.version_id) == (False, False)
    rewrite(shelf / NAME, data_hash="other")
    assert install(work_of(database, CLOCK), read_shipped(NAME, shelf)).already is False


def test_states_of_a_shipped_ensemble_are_those_of_its_installation(database: Database, shelf: Path) -> None:
    installed = install(work_of(database, CLOCK), read_shipped(None, shelf))
    with database.reading() as session:
        version = versions.get(session, installed.version_id)
    assert owner(read(shelf / NAME)) == Owner(version.weights_hash, version.product)


def test_two_installations_at_once_are_one_version(database: Database, shelf: Path) -> None:
    ensemble = read(shelf / NAME)
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda _: install(work_of(database, CLOCK), ensemble), range(2)))
    assert len({one.version_id for one in done}) == 1
    assert sorted(one.already for one in done) == [False, True]


def test_an_installed_ensemble_is_exported_as_it_came(origin: Database, shelf: Path) -> None:
    for product in (None, "own_weather"):
        installed = install(work_of(origin, CLOCK), read_shipped(NAME, shelf), product)
        assert not export(origin, installed.version_id, shelf / NAME).changed


def test_the_same_export_writes_nothing_and_another_is_refused(origin: Database, shelf: Path) -> None:
    folder = shelf / NAME
    with origin.reading() as session:
        own, other = (one.id for one in versions.list_versions(session))
    before = _files(folder)
    assert not export(origin, own, folder).changed
    with pytest.raises(AnotherVersion, match="holds another version"):
        export(origin, other, folder)
    assert _files(folder) == before
    (folder / "member-01.safetensors").write_bytes(b"half of it")
    assert export(origin, own, folder).changed
    assert {name: content for name, (content, _) in _files(folder).items()} == {
        name: content for name, (content, _) in before.items()
    }


def _files(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return the content of each file, and when it was written."""
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def test_a_file_that_cannot_be_written_leaves_no_ensemble(origin: Database, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "one"
    (folder / "member-01.safetensors").mkdir(parents=True)  # where a file is to be
    with pytest.raises(OSError, match="member-01"):
        export(origin, newest(origin).id, folder)
    assert names(folder.parent) == []
    assert sorted(path.name for path in folder.iterdir()) == ["member-00.safetensors", "member-01.safetensors"]


def test_a_value_that_half_precision_cannot_hold_is_refused(origin: Database, tmp_path: Path) -> None:
    version = newest(origin)
    with origin.reading() as session:
        members = versions.members_of(session, version.id)
    for value in (7e4, float("nan")):
        tensors, _ = checkpoint.parse(members[1].weights["best"])
        tensors["redistribution.bias"][0] = value
        large = replace(members[1], weights={"best": checkpoint.dump(tensors, {})})
        with pytest.raises(DataProblem, match=r"cannot hold the weights redistribution\.bias"):
            ship(tmp_path / "large", version, [members[0], large])
        assert not (tmp_path / "large").exists()


def test_members_of_a_training_under_way_are_shipped_one_by_one(trained_store: Database, tmp_path: Path) -> None:
    folder = tmp_path / "shelf" / "growing"
    started = begin(work_of(trained_store, CLOCK), configuration(seed=9), LEARNT)
    labels = []
    for member in (1, 0):
        train_member(work_of(trained_store, CLOCK), started, member, "cpu", lambda _progress: None)
        with trained_store.reading() as session:
            done = [one for one in trainings.finished_members(session, started.training_id) if one.label == member]
        labels.append(ship(folder, new_version(CLOCK, started), done).members)
        assert list(read(folder).weights) == list(labels[-1])
    assert labels == [(1,), (0, 1)]
    with trained_store.reading() as session:
        (first, second) = trainings.finished_members(session, started.training_id)
    swapped = replace(first, weights=second.weights)
    with pytest.raises(AnotherVersion, match="other weights of member 0"):
        ship(folder, new_version(CLOCK, started), [swapped])


def test_what_is_not_shipped_is_reported_with_what_is(shelf: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownEnsemble, match=f"No ensemble 'nothing' is shipped: choose one of {NAME}"):
        read_shipped("nothing", shelf)
    shutil.copytree(shelf / NAME, shelf / "twin")
    with pytest.raises(InvalidInput, match=f"Several ensembles are shipped \\({NAME}, twin\\): name one"):
        read_shipped(None, shelf)
    with pytest.raises(UnknownEnsemble, match="No trained ensemble is shipped"):
        read_shipped(None, tmp_path)


MEMBER = "member-01.safetensors"


def _cut(folder: Path) -> None:
    (folder / MEMBER).write_bytes((folder / MEMBER).read_bytes()[:-1])


def _other_shape(folder: Path) -> None:
    tensors, _ = checkpoint.parse((folder / MEMBER).read_bytes())
    _put(folder, tensors | {"redistribution.bias": torch.zeros(3, dtype=torch.float16)})


def _other_precision(folder: Path) -> None:
    tensors, _ = checkpoint.parse((folder / MEMBER).read_bytes())
    _put(folder, {name: tensor.float() for name, tensor in tensors.items()})


def _not_finite(folder: Path) -> None:
    tensors, _ = checkpoint.parse((folder / MEMBER).read_bytes())
    tensors["redistribution.bias"][0] = torch.nan
    _put(folder, tensors)


def _put(folder: Path, tensors: checkpoint.Tensors) -> None:
    """Put other tensors in a member's place, and describe them."""
    blob = checkpoint.dump(tensors, {})
    (folder / MEMBER).write_bytes(blob)
    members = json.loads((folder / "version.json").read_text())["members"]
    members[1]["sha256"] = sha256(blob).hexdigest()
    rewrite(folder, members=members)


def _elsewhere(folder: Path) -> None:
    members = json.loads((folder / "version.json").read_text())["members"]
    members[1]["file"] = "../../freshet.sqlite"
    rewrite(folder, members=members)


DAMAGES = [
    (_cut, f"{MEMBER} is damaged .* fetch it again"),
    (lambda folder: (folder / MEMBER).unlink(), f"{MEMBER} cannot be read .* fetch it again"),
    (lambda folder: (folder / "README.md").unlink(), "README.md cannot be read"),
    (lambda folder: (folder / "version.json").write_text("{"), "version.json is not JSON"),
    (lambda folder: (folder / "version.json").write_text("[" * 5000), "version.json is not JSON"),
    (lambda folder: rewrite(folder, data_hash=float("nan")), "version.json"),
    (lambda folder: rewrite(folder, scaler={}), "the scaler does not fit"),
    (lambda folder: rewrite(folder, attribute_ranges={}), "attribute_ranges are not of the attributes"),
    (lambda folder: rewrite(folder, form=3), "form: .* install the Freshet that it is for"),
    (_elsewhere, "members.1.file"),
    (_other_shape, f"{MEMBER} does not fit the network .*redistribution.bias"),
    (_other_precision, f"{MEMBER} holds values that are not numbers of half precision"),
    (_not_finite, rf"{MEMBER} holds values that are not numbers of half precision \(redistribution.bias\)"),
]


@pytest.mark.parametrize(("damage", "output"), DAMAGES)
def test_a_damaged_ensemble_is_refused_and_named(shelf: Path, damage: Any, output: str) -> None:
    damage(shelf / NAME)
    with pytest.raises(DamagedEnsemble, match=output):
        read_shipped(NAME, shelf)


def test_an_interrupted_installation_leaves_nothing(database: Database, shelf: Path) -> None:
    ensemble = read(shelf / NAME)
    with database.reading() as session:
        before = contents(session)
    lacking = replace(ensemble, weights={0: ensemble.weights[0], 1: None})  # type: ignore[dict-item]
    with pytest.raises(TypeError):
        install(work_of(database, CLOCK), lacking)
    with database.reading() as session:
        assert contents(session) == before
    assert install(work_of(database, CLOCK), ensemble).already is False


def test_a_basin_outside_the_training_is_forecast_and_marked(trained_store: Database, shelf: Path) -> None:
    version = install(work_of(trained_store, CLOCK), read_shipped(NAME, shelf)).version_id
    unseen, seen = (summary(trained_store, version, basin) for basin in (UNSEEN, LEARNT[0]))
    assert (unseen.seen_in_training, seen.seen_in_training) == (False, True)
    assert f"{UNSEEN} is not among the 2 basins" in str(unseen.training_note)
    assert seen.training_note == f"{LEARNT[0]} is one of the 2 basins that the version learnt from."
    assert seen.outside_training == ()
    assert unseen.trained_on == seen.trained_on == "synthetic"


def test_attributes_beyond_those_of_its_basins_are_named(trained_store: Database, shelf: Path) -> None:
    version = install(work_of(trained_store, CLOCK), read_shipped(NAME, shelf)).version_id
    with trained_store.transaction() as session:
        of_learnt = [basins.get(session, basin).attributes for basin in LEARNT]
        within = {name: float(value) for name, value in of_learnt[0].items()}
        high = 1 + max(one["elev_mean"] for one in of_learnt)
        basins.upsert(session, Basin(UNSEEN, attributes=within | {"elev_mean": high}))
    extrapolated = summary(trained_store, version, UNSEEN)
    assert extrapolated.outside_training == ("elev_mean",)
    assert f"elev_mean ({high:g}, theirs " in str(extrapolated.training_note)
    with trained_store.transaction() as session:
        basins.upsert(session, Basin(UNSEEN, attributes=within))
    assert summary(trained_store, version, UNSEEN).outside_training == ()


def test_another_product_than_it_learnt_from_is_reported(trained_store: Database, shelf: Path) -> None:
    another_product(shelf / NAME)
    installed = install(work_of(trained_store, CLOCK), read_shipped(NAME, shelf), "synthetic")
    with trained_store.reading() as session:
        version = versions.get(session, installed.version_id)
    assert (version.product, version.trained_on, installed.trained_on) == (
        *("synthetic", "maurer_extended", "maurer_extended"),
    )
    of_learnt = summary(trained_store, version.id, LEARNT[0])
    assert of_learnt.trained_on == "maurer_extended"
    assert "It learnt from maurer_extended and is driven by synthetic." in str(of_learnt.training_note)
    with pytest.raises(InvalidInput, match="takes synthetic, not maurer_extended"):
        forecast(
            work_of(trained_store, CLOCK),
            RunRequest(ForecastParams(basins=list(BASINS), version=version.id, product="maurer_extended")),
        )


def test_it_serves_basins_that_have_its_inputs_and_no_version_yet(origin: Database, shelf: Path) -> None:
    with origin.transaction() as session:
        basins.upsert(session, Basin("OWN-mill"))
        session.execute(PROMOTIONS.delete().where(PROMOTIONS.c.basin_id == UNSEEN))
    version = install(work_of(origin, CLOCK), read_shipped(NAME, shelf)).version_id
    promoted = promote_where_vacant(work_of(origin, CLOCK), version)
    assert promoted.basins == (UNSEEN,)
    assert set(promoted.left_out) == {"OWN-mill", *LEARNT}
    assert "OWN-mill has no precipitation" in str(promoted.left_out["OWN-mill"])
    assert "freshet models promote" in str(promoted.left_out[LEARNT[0]])
    assert promote_where_vacant(work_of(origin, CLOCK), version).basins == ()
    with origin.transaction() as session:
        assert promotions.current(session, [UNSEEN]) == {UNSEEN: version}
        withdraw(session, version)
    with pytest.raises(Withdrawn):
        promote_where_vacant(work_of(origin, CLOCK), version)


def test_a_version_is_meant_for_the_basins_here_that_it_learnt_from_or_else_those_it_serves(
    trained_store: Database, shelf: Path
) -> None:
    here = install(work_of(trained_store, CLOCK), read_shipped(NAME, shelf)).version_id
    rewrite(shelf / NAME, basins=[f"USGS-{number:08}" for number in range(1, len(LEARNT) + 1)])
    elsewhere = install(work_of(trained_store, CLOCK), read_shipped(NAME, shelf)).version_id
    with trained_store.transaction() as session:
        assert promotions.basins_of(session, here) == list(LEARNT)
        with pytest.raises(promotions.NoBasin, match="name the basins"):
            promotions.basins_of(session, elsewhere)
        promotions.promote(session, elsewhere, [UNSEEN], reason="unseen", by="someone", at=CLOCK.now())
        assert promotions.basins_of(session, elsewhere) == [UNSEEN]
    evaluate(work_of(trained_store, CLOCK), elsewhere, Period.parse("2004-10-01..2005-09-30"), [UNSEEN])
    with trained_store.reading() as session:
        closure = versions.get(session, elsewhere).properties.closure
    assert closure is not None
    assert closure.basins == 1


def test_versions_are_compared_in_what_is_stored_of_the_basins_they_have_in_common(
    trained_store: Database, shelf: Path
) -> None:
    own = newest(trained_store).id
    rewrite(shelf / NAME, basins=[LEARNT[0], "USGS-00000001"])
    installed = install(work_of(trained_store, CLOCK), read_shipped(NAME, shelf)).version_id
    done = compare(work_of(trained_store, CLOCK), [installed, own], Period.parse("2004-10-01..2005-09-30"))
    assert (done.basins, done.result.left_out) == ((LEARNT[0],), {})


def test_an_ensemble_brings_its_error_model_for_its_own_product(database: Database, shelf: Path) -> None:
    table = np.full((NO_FLOW_KNOWN + 1, len(FLOW_CLASSES) - 1), 0.5)
    of_basin = BasinErrors(2.0, np.arange(float(table.shape[1])), table, table / 2, table / 4, 1500)
    shape = Shape(table, table, table, np.zeros((*table.shape, len(LEVELS))))
    period = Period.parse("2003-10-01..2004-09-30")
    bare = install(work_of(database, CLOCK), read_shipped(NAME, shelf))
    with database.reading() as session:
        assert error_models.get(session, bare.version_id, LEARNT) is None
    write_errors(
        read_shipped(NAME, shelf), attachments.ShippedErrors(period, 366, shape, shape, True, {LEARNT[0]: of_basin})
    )
    again, elsewhere = (
        install(work_of(database, CLOCK), read_shipped(NAME, shelf), product) for product in (None, "own")
    )
    assert again.version_id == bare.version_id
    with database.reading() as session:
        model = error_models.get(session, again.version_id, LEARNT)
        assert error_models.get(session, elsewhere.version_id, LEARNT) is None
    assert model is not None
    assert (model.period, model.days, model.for_unseen, list(model.basins)) == (period, 366, True, [LEARNT[0]])
    assert (model.basins[LEARNT[0]].mean_flow, model.basins[LEARNT[0]].days) == (2.0, 1500)
    np.testing.assert_array_equal(model.basins[LEARNT[0]].spread, table / 4)


def test_a_damaged_error_model_is_refused(database: Database, shelf: Path) -> None:
    table = np.full((NO_FLOW_KNOWN + 1, len(FLOW_CLASSES) - 1), 0.5)
    shape = Shape(table, table, table, np.zeros((*table.shape, len(LEVELS))))
    of_basin = BasinErrors(2.0, np.arange(float(table.shape[1])), table, table, table, 1500)
    shipped = read_shipped(NAME, shelf)
    period, of_basins = Period.parse("2004-01-01..2004-12-31"), {"A": of_basin, "B": of_basin}
    write_errors(shipped, attachments.ShippedErrors(period, 366, shape, shape, False, of_basins))
    file = shelf / NAME / attachments.ERRORS_FILE
    whole = file.read_bytes()
    tensors, header = checkpoint.parse(whole)
    headers = (
        {"basins": {"B": 1500}},
        {"basins": {"B": 1500, "A": 1500}},
        {"basins": {"A": 1500, "B": 1500, "C": 1500}},
        {"basins": ["A", "B"]},
        {"days": 5},
        {"period": 2004},
        {"for_unseen": True},
    )
    others = [checkpoint.dump(tensors, header | other) for other in headers]
    for damaged in (whole[:-100], whole[:-8] + b"\x00" * 8, b"", b"{}", *others):
        file.write_bytes(damaged)
        with pytest.raises(DamagedEnsemble, match="fetch it again"):
            install(work_of(database, CLOCK), shipped)
    file.write_bytes(whole)
    rewrite(shelf / NAME, data_hash="other")
    with pytest.raises(DamagedEnsemble, match="not of the ensemble beside it"):
        install(work_of(database, CLOCK), read_shipped(NAME, shelf))
