"""A shipped combination: exported with its parts and twins, installed whole or not at all, as one version."""

import json
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from pathlib import Path

import pytest
from sqlalchemy import delete

from extensions.receipts.reproduce import reproduce
from extensions.shipping.attachments import write_errors, write_skill
from extensions.shipping.export import export
from extensions.shipping.writing import AnotherVersion
from hydrology.base.calendar import Period, day
from hydrology.base.errors import DataProblem, InvalidInput
from ingestion.base import BasinData, SourceFile, SourceSeries
from jobspec.jobs.forecasting import ForecastParams
from models.pretrained import COMBINED, attachments, combination
from models.pretrained.combination import Combination
from models.pretrained.form import DamagedEnsemble
from operations.basin_data import ingest
from operations.forecasting.forecast import forecast
from operations.training import pretrained
from operations.training.pretrained import derive_means, install, promote_where_vacant, read_shipped, usual_name
from operations.verification.calibrate import calibrate
from operations.verification.evaluate import evaluate
from records.database.engine import Database
from records.runs import runs
from records.runs.runs import RunRequest
from records.series import series
from records.series.year_rows import SERIES
from records.verification import scores
from records.versions import combinations, error_models, versions
from records.versions.promotions import PROMOTIONS
from records.weather.fused_products import list_fused
from testing.country import BASINS, CLOCK, FIRST, SECOND, add_second_product, combined, second_version
from testing.records import contents
from testing.work import work_of

pytestmark = pytest.mark.extended

JUDGED = Period.parse("2004-10-01..2005-09-30")
NAME, OWN, LATE = "both", BASINS[1], BASINS[2]
THIRD, FILE = "third", SourceFile("third.csv", "1" * 64, 1)


def cards(shelf: Path) -> None:
    for folder in shelf.iterdir():
        (folder / "README.md").write_text("A small one.")


def ship_beside(database: Database, version: str, shipped: Combination) -> None:
    """Ship the stored error model and NSE of a version, with those of each product alone."""
    with database.reading() as session:
        model = error_models.get(session, version, BASINS)
        rows = scores.scores(session, versions=[version], metrics=["nse"])
    assert model is not None
    fitted = (model.days, model.shape, model.regional, model.for_unseen, model.basins)
    write_errors(shipped, attachments.ShippedErrors(model.period, *fitted))
    by_member = {}
    for member in ("mean", FIRST, SECOND):
        own = [row for row in rows if row.member == member]
        nse = attachments.ShippedScores(n=[row.n for row in own], value=[row.value for row in own], reasons={})
        by_member[member] = attachments.ShippedMetrics(basins=[row.basin_id for row in own], metrics={"nse": nse})
    mean, evaluated_at = dict(by_member.pop("mean")), CLOCK.wall()
    named = {"content": shipped.content, "period": str(JUDGED), "evaluated_at": evaluated_at, "subsets": by_member}
    write_skill(shipped, attachments.ShippedSkill.model_validate(mean | named))


def with_own_weights(database: Database, both: versions.Version) -> str:
    """Store the same combination with weights of its own in a basin."""
    first, second = (part.version for part in both.parts)
    own = {OWN: {first: 0.2, second: 0.8}}
    weights, at = {first: 0.7, second: 0.3}, CLOCK.wall()
    with database.transaction() as session:
        return combinations.combine(session, weights, label="own", wall=at, now=at, by_basin=own).id


@pytest.fixture(scope="session")
def shipped_file(trained_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shelf with a combination of two products, which was evaluated and calibrated."""
    folder = tmp_path_factory.mktemp("both")
    database = Database(f"sqlite:///{shutil.copy(trained_file, folder / 'freshet.sqlite')}")
    both = with_own_weights(database, combined(database, CLOCK))
    evaluate(work_of(database, CLOCK), both, JUDGED, BASINS)
    calibrate(work_of(database, CLOCK), both, BASINS)
    export(database, both, folder / "shelf" / NAME)
    cards(folder / "shelf")
    ship_beside(database, both, combination.read(folder / "shelf" / NAME))
    database.close()
    return folder / "shelf"


@pytest.fixture
def shelf(shipped_file: Path, tmp_path: Path) -> Path:
    """A copy of the shelf, which a test may harm."""
    return Path(shutil.copytree(shipped_file, tmp_path / "shelf"))


@pytest.fixture
def empty(migrated_sqlite: Path, tmp_path: Path) -> Iterator[Database]:
    """A database without anything."""
    database = Database(f"sqlite:///{shutil.copy(migrated_sqlite, tmp_path / 'empty.sqlite')}")
    yield database
    database.close()


@pytest.fixture
def store(trained_store: Database) -> Database:
    """The country with a second product, which lacks in one basin; no basin has a version."""
    with trained_store.transaction() as session:
        add_second_product(session, CLOCK)
        session.execute(delete(SERIES).where(SERIES.c.basin_id == LATE, SERIES.c.product == SECOND))
        session.execute(PROMOTIONS.delete())
    return trained_store


def test_the_combination_is_installed_where_none_is_named_and_all_its_products_are_stored(
    store: Database, empty: Database, shelf: Path
) -> None:
    (shelf / NAME).rename(shelf / COMBINED)
    with store.reading() as session:
        assert usual_name(session, None, shelf) == COMBINED
        assert usual_name(session, FIRST, shelf) is None  # there is nothing to combine
        assert usual_name(session, None, shelf / COMBINED) is None  # none is on that shelf
    with store.transaction() as session:
        session.execute(delete(SERIES).where(SERIES.c.product == SECOND))
    for database in (store, empty):
        with database.reading() as session:
            assert usual_name(session, None, shelf) is None


def bring_rain(database: Database, basin: str) -> None:
    """Store rain of a third product in a basin."""
    with database.transaction() as session:
        rain = series.read(session, basin, FIRST, "precipitation")
        assert rain is not None
        data = BasinData(basin=basin, areas={}, series=(SourceSeries(THIRD, "precipitation", rain, FILE),))
        ingest.store(session, data, CLOCK)


def test_a_mean_of_products_is_derived_in_the_basins_that_have_them(
    trained_store: Database, shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pretrained, "MEANS", {SECOND: (FIRST, THIRD)})
    shipped = read_shipped(str((shelf / NAME).rename(shelf / COMBINED)))
    work = work_of(trained_store, CLOCK)
    with trained_store.transaction() as session:
        assert usual_name(session, None, shelf) is None
        session.execute(PROMOTIONS.delete())
    assert derive_means(work, shipped) == []

    bring_rain(trained_store, OWN)
    with trained_store.reading() as session:
        assert usual_name(session, None, shelf) == COMBINED
    ((fused, outcomes),) = derive_means(work, shipped)
    assert (fused.product, fused.parts) == (SECOND, (FIRST, THIRD))
    assert [(one.basin, one.status) for one in outcomes] == [(OWN, "changed")]
    promote_where_vacant(work, install(work, shipped).version_id)
    (run,) = forecast(work, RunRequest(ForecastParams(basins=[*BASINS], t0=day("2004-03-10"), horizon=6)))
    with trained_store.reading() as session:
        parts = {basin: runs.basin_of(session, run.id, basin).summary.parts for basin in BASINS}
    assert {basin: [part.product for part in of] for basin, of in parts.items()} == {
        basin: [FIRST, SECOND] if basin == OWN else [FIRST] for basin in BASINS
    }


def test_products_that_no_basin_has_together_have_no_mean(
    trained_store: Database, shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pretrained, "MEANS", {SECOND: (FIRST, THIRD)})
    bring_rain(trained_store, OWN)
    with trained_store.transaction() as session:
        session.execute(delete(SERIES).where(SERIES.c.basin_id == OWN, SERIES.c.product == FIRST))
    assert derive_means(work_of(trained_store, CLOCK), read_shipped(NAME, shelf)) == []
    with trained_store.reading() as session:
        assert list_fused(session) == []


def test_an_installed_combination_serves_every_basin_with_the_parts_that_it_can_use(
    store: Database, shelf: Path
) -> None:
    installed = install(work_of(store, CLOCK), read_shipped(NAME, shelf))
    assert (installed.product, installed.members, installed.already) == (f"{FIRST}+{SECOND}", 3, False)
    assert promote_where_vacant(work_of(store, CLOCK), installed.version_id).basins == BASINS
    (run,) = forecast(
        work_of(store, CLOCK), RunRequest(ForecastParams(basins=[*BASINS], t0=day("2004-03-10"), horizon=6))
    )
    with store.reading() as session:
        version = versions.get(session, installed.version_id)
        of_both, of_one = (runs.basin_of(session, run.id, basin).summary for basin in (BASINS[0], LATE))
        expected = scores.scores(session, versions=[version.id], basins=[LATE], members=[FIRST])
    assert [(part.name, round(part.weight, 9)) for part in version.parts] == [(FIRST, 0.7), (SECOND, 0.3)]
    assert [part.basin_weights for part in version.parts] == [{OWN: 0.2}, {OWN: 0.8}]
    assert version.properties.pretrained is not None
    assert version.properties.pretrained.name == NAME
    assert [part.product for part in of_both.parts] == [FIRST, SECOND]
    assert of_one.subset is not None
    assert (of_one.subset.products, of_one.subset.nse) == ((FIRST,), expected[0].value)
    assert expected[0].shipped
    assert of_both.calibration is not None
    assert reproduce(work_of(store), run.id).reproduced == len(BASINS)


def test_the_same_combination_is_the_same_version_with_its_parts(database: Database, shelf: Path) -> None:
    shipped = read_shipped(NAME, shelf)
    with ThreadPoolExecutor(2) as pool:
        first, again = pool.map(lambda _: install(work_of(database, CLOCK), shipped), range(2))
    assert first.version_id == again.version_id
    assert sorted((first.already, again.already)) == [False, True]
    with database.reading() as session:
        before = contents(session)
        assert len(versions.list_versions(session)) == 3
        assert error_models.get(session, first.version_id, []) is not None
    assert install(work_of(database, CLOCK), replace(shipped, name="renamed")).parts == first.parts
    with database.reading() as session:
        assert contents(session) == before


def test_every_part_takes_another_product_that_is_named(store: Database, shelf: Path) -> None:
    installed = install(work_of(store, CLOCK), read_shipped(NAME, shelf), FIRST)
    assert (installed.product, installed.trained_on) == (FIRST, f"{FIRST}+{SECOND}")
    assert len(installed.parts) == 2
    with store.reading() as session:
        assert error_models.get(session, installed.version_id, []) is None
        assert scores.scores(session, versions=[installed.version_id]) == []
    assert promote_where_vacant(work_of(store, CLOCK), installed.version_id).basins == BASINS
    elsewhere = install(work_of(store, CLOCK), read_shipped(NAME, shelf), "own_weather")
    left_out = promote_where_vacant(work_of(store, CLOCK), elsewhere.version_id).left_out
    assert all("own_weather" in str(reason) for reason in left_out.values())


def test_a_combination_that_its_files_could_not_hold_is_not_exported(
    store: Database, shelf: Path, tmp_path: Path
) -> None:
    with store.transaction() as session:
        first = versions.newest(session)
        same = versions.create(
            session,
            versions.NewVersion(**{field.name: getattr(first, field.name) for field in fields(versions.NewVersion)}),
            versions.members_of(session, first.id),
        )
        twice = {first.id: 0.5, same.id: 0.5}
        copies = combinations.combine(session, twice, label="copies", wall=CLOCK.wall(), now=CLOCK.now()).id
    elsewhere = install(work_of(store, CLOCK), read_shipped(NAME, shelf), FIRST).version_id
    for version, why in ((copies, "have the same members"), (elsewhere, f"learnt from {SECOND} and takes {FIRST}")):
        with pytest.raises(InvalidInput, match=why):
            export(store, version, tmp_path / "new" / "both")
    assert not (tmp_path / "new").exists()


def rewrite(path: Path, old: str, new: str) -> None:
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


DAMAGES: list[tuple[Callable[[Path], None], str]] = [
    (lambda shelf: (shelf / f"{NAME}-second" / "version.json").unlink(), "both-second.* cannot be read"),
    (lambda shelf: cut(shelf / f"{NAME}-second" / "member-01.safetensors"), "member-01.safetensors is damaged"),
    (lambda shelf: rewrite(shelf / f"{NAME}-second" / "version.json", '"seed": ', '"seed": 1'), "is not the part"),
    (lambda shelf: rewrite(shelf / NAME / "combination.json", "0.3", "-0.3"), "parts.1.weight"),
    (lambda shelf: rewrite(shelf / NAME / "combination.json", OWN, "other"), "not of the same basins"),
    (lambda shelf: rewrite(shelf / NAME / "combination.json", '"form": 1', '"form": 3'), "Freshet that it is for"),
    (lambda shelf: rewrite(shelf / NAME / "combination.json", f"{NAME}-second", "../else"), "parts.1.name"),
    (lambda shelf: (shelf / NAME / "README.md").unlink(), "README.md cannot be read"),
    (lambda shelf: rewrite(shelf / NAME / "skill.json", f'"{SECOND}":', '"other":'), "scores of other products"),
    (lambda shelf: cut(shelf / NAME / "errors.safetensors"), "errors.safetensors cannot be used"),
]


@pytest.mark.parametrize(("damage", "output"), DAMAGES)
def test_a_damaged_combination_is_refused_before_anything_is_stored(
    empty: Database, shelf: Path, damage: Callable[[Path], None], output: str
) -> None:
    damage(shelf)
    with pytest.raises(DamagedEnsemble, match=output):
        install(work_of(empty, CLOCK), read_shipped(NAME, shelf))
    with empty.reading() as session:
        assert versions.count(session) == 0


def test_an_installed_combination_is_exported_as_it_came(empty: Database, shelf: Path, tmp_path: Path) -> None:
    installed = install(work_of(empty, CLOCK), read_shipped(NAME, shelf))
    assert not export(empty, installed.version_id, shelf / NAME).changed
    again = export(empty, installed.version_id, tmp_path / "again" / "other")
    assert (again.content, again.changed) == (installed.content, True)
    assert {path.name for path in (tmp_path / "again").iterdir()} == {"other", f"{NAME}-synthetic", f"{NAME}-second"}
    with pytest.raises(AnotherVersion, match="holds another version"):
        export(empty, installed.version_id, shelf / f"{NAME}-second")
    with pytest.raises(AnotherVersion, match="holds a combination"):
        export(empty, installed.parts[0], shelf / NAME)


def test_twins_come_with_their_own_combination(trained_store: Database, empty: Database, tmp_path: Path) -> None:
    with trained_store.transaction() as session:
        twins = [versions.newest(session)]
        twins.append(second_version(session, twins[0]))
        weights = {}
        for twin, weight in zip(twins, (0.6, 0.4), strict=True):
            values = {field.name: getattr(twin, field.name) for field in fields(versions.NewVersion)}
            values |= {"label": "every year", "properties": replace(twin.properties, twin=twin.id)}
            members = [replace(one, log={"all": 1}) for one in versions.members_of(session, twin.id)]
            weights[versions.create(session, versions.NewVersion(**values), members).id] = weight
        today = combinations.combine(session, weights, label="today", wall=CLOCK.wall(), now=CLOCK.now())
    shelf = tmp_path / "shelf"
    export(trained_store, today.id, shelf / "today")
    names = {"today", "today-twin", *(f"today-{part}{twin}" for part in (FIRST, SECOND) for twin in ("", "-twin"))}
    assert {path.name for path in shelf.iterdir()} == names
    cards(shelf)
    installed = install(work_of(empty, CLOCK), read_shipped("today", shelf))
    with empty.reading() as session:
        assert len(versions.list_versions(session)) == len(names)
        twin = versions.get(session, str(installed.twin))
        parts = [versions.get(session, part) for part in installed.parts]
    assert (twin.label, [part.version for part in twin.parts]) == ("today-twin", [part.twin_id for part in parts])
    description = shelf / "today-twin" / "combination.json"
    content = json.loads(description.read_text())
    description.write_text(json.dumps(content | {"parts": content["parts"][::-1]}))
    with pytest.raises(DataProblem, match="is not the twin"):
        read_shipped("today", shelf)
