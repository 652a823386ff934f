"""`freshet ingest caravan` and `tables`, and the jobs that do the same."""

from pathlib import Path
from typing import Any

import pytest

from ingestion.base import BasinData
from ingestion.sources.camels import CamelsSource
from jobspec.kinds import queue_of
from records.jobs import jobs
from runtime.settings import Settings
from tests.freshet.conftest import BASINS, Freshet
from tests.operations.basin_data.test_user_basins import as_caravan, as_tables
from workers.job_processes.process_pool import Children
from workers.job_processes.worker import Worker
from workers.queue.enqueue import tools_of

GAUGES = [basin.replace("SYNTH-", "CARAVAN-own_") for basin in BASINS]
OWN = [basin.replace("SYNTH-", "OWN-") for basin in BASINS]


@pytest.fixture(scope="module")
def country_data(country: Path) -> dict[str, BasinData]:
    """The synthetic country, to be written in other formats, by the number of each basin."""
    source = CamelsSource([country])
    return {basin.removeprefix("SYNTH-"): source.read(basin) for basin in BASINS}


@pytest.fixture(scope="module")
def caravan_set(country_data: dict[str, BasinData], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The country as a Caravan file set."""
    folder = tmp_path_factory.mktemp("caravan") / "set"
    as_caravan(folder, country_data, "netcdf")
    return folder


@pytest.fixture(scope="module")
def own_tables(country_data: dict[str, BasinData], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The country as the tables basins.csv and observations.csv."""
    folder = tmp_path_factory.mktemp("tables")
    as_tables(folder, country_data)
    return folder


def tables_of(folder: Path) -> list[str]:
    return ["--basins", str(folder / "basins.csv"), "--observations", str(folder / "observations.csv")]


def basin_ids(freshet: Freshet) -> list[str]:
    return [one["id"] for one in freshet("basins", "--json").json["basins"]]


def products_of(freshet: Freshet, basin: str) -> set[tuple[str, str]]:
    return {(one["product"], one["variable"]) for one in freshet("basins", basin, "--json").json["series"]}


def test_a_caravan_set_is_stored_beside_what_there_is(ingested: Freshet, caravan_set: Path) -> None:
    first = ingested("ingest", "caravan", "--from", str(caravan_set), "--json")
    again = ingested("ingest", "caravan", "--from", str(caravan_set), "--json")

    assert (first.code, first.json["counts"]) == (0, {"new": 3})
    assert (again.code, again.json["counts"]) == (0, {"unchanged": 3})
    assert basin_ids(ingested) == sorted([*BASINS, *GAUGES])
    assert {("era5_land", "precipitation"), ("caravan", "discharge")} <= products_of(ingested, GAUGES[0])


def test_one_basin_of_a_caravan_set_is_chosen(freshet: Freshet, caravan_set: Path) -> None:
    output = freshet("ingest", "caravan", "--from", str(caravan_set), "--basin", GAUGES[1], "--json")
    other = freshet("ingest", "caravan", "--from", str(caravan_set), "--basin", BASINS[0], "--json")

    assert (output.code, output.json["counts"]) == (0, {"new": 1})
    assert (other.code, basin_ids(freshet)) == (2, [GAUGES[1]])


def test_own_basins_are_ingested_from_tables(freshet: Freshet, own_tables: Path) -> None:
    first = freshet("ingest", "tables", "--product", "gauges", *tables_of(own_tables), "--json")
    again = freshet("ingest", "tables", "--product", "gauges", *tables_of(own_tables), "--json")

    assert (first.code, first.json["counts"]) == (0, {"new": 3})
    assert (again.code, again.json["counts"]) == (0, {"unchanged": 3})
    assert basin_ids(freshet) == OWN
    assert {("gauges", "precipitation"), ("own", "discharge")} <= products_of(freshet, OWN[0])


@pytest.mark.extended
def test_observations_follow_for_basins_that_are_stored(freshet: Freshet, own_tables: Path) -> None:
    basins, observations = tables_of(own_tables)[:2], tables_of(own_tables)[2:]
    early = freshet("ingest", "tables", "--product", "gauges", *observations, "--json")
    registered = freshet("ingest", "tables", "--product", "gauges", *basins, "--json")
    followed = freshet("ingest", "tables", "--product", "gauges", *observations, "--json")

    assert (early.code, early.json["problem"]["kind"]) == (4, "bad-source")
    assert "is not registered" in early.json["problem"]["detail"]
    assert registered.json["counts"] == {"new": 3}
    assert followed.json["counts"] == {"changed": 3}


@pytest.mark.extended
def test_discharge_that_is_not_taken_is_printed_and_in_the_result_of_a_job(
    freshet: Freshet, own_tables: Path, tmp_path: Path
) -> None:
    basins = tables_of(own_tables)[:2]
    table = tmp_path / "flow.csv"
    table.write_text(f"basin,date,discharge_cfs\n{OWN[0]},2001-05-01,7\n{OWN[0]},2001-05-02,-0.1\n")
    given = ("--product", "own", *basins, "--observations", str(table))
    expected = (
        "discharge of own: values not taken (negative, a code that is not known, or two that differ), so missing: 1"
    )
    output = freshet("ingest", "tables", *given)
    assert output.code == 0
    assert f"Warning: {OWN[0]}: {table}: {expected}, the first on 2001-05-02." in " ".join(output.err.split())
    job = done(freshet, "upload", observations_file=str(table), product="own")
    assert job.result is not None, job.problem
    assert job.result["warned_basins"] == 1
    assert expected in job.result["warnings"][OWN[0]][0]


@pytest.mark.extended
@pytest.mark.parametrize(
    ("table", "old", "new", "code", "sentence"),
    [
        ("observations", "tmax_degC", "tmax_F", 4, "has a unit that is not taken"),
        ("observations", "tmax_degC", "humidity", 4, "column 5 is not known"),
        ("observations", "2000-10-02", "2000-10-01", 4, "the day 2000-10-01 comes twice"),
        ("basins", "area_km2", "area", 4, "area_km2 is missing"),
        ("basins", "OWN-02", "SYNTH-02", 4, "belongs to SYNTH"),
    ],
)
def test_a_table_with_a_fault_is_not_taken_at_all(
    freshet: Freshet, own_tables: Path, tmp_path: Path, table: str, old: str, new: str, code: int, sentence: str
) -> None:
    for name in ("basins", "observations"):
        text = (own_tables / f"{name}.csv").read_text()
        assert name != table or old in text
        (tmp_path / f"{name}.csv").write_text(text.replace(old, new) if name == table else text)

    output = freshet("ingest", "tables", "--product", "gauges", *tables_of(tmp_path), "--json")

    assert output.code == code
    assert f"{table}.csv" in output.json["problem"]["detail"]
    assert sentence in output.json["problem"]["detail"]
    assert not freshet.data.exists()


def test_tables_need_a_file_and_a_name_of_their_own(freshet: Freshet, own_tables: Path) -> None:
    neither = freshet("ingest", "tables", "--product", "gauges")
    taken = freshet("ingest", "tables", "--product", "daymet", *tables_of(own_tables))

    assert (neither.code, taken.code) == (2, 2)
    assert "give --basins, --observations or both" in neither.err
    assert "'daymet' cannot name your product" in taken.err


def done(freshet: Freshet, kind: str = "ingest", **params: Any) -> jobs.Job:
    """Do a job as a worker does, and return it as it then stands."""
    file = freshet.data / "freshet.sqlite"
    settings = Settings.load(data=freshet.data, database_url=f"sqlite:///{file}", ingest_roots="/")
    with tools_of(settings) as tools, Children(settings) as children:
        with tools.database.transaction() as session:
            new = jobs.NewJob(kind=kind, params=params, queue=queue_of(kind))
            job, _ = jobs.create(session, new, tools.clock.wall())
        Worker("test", tools, children).run(job.id)
        with tools.database.reading() as session:
            return jobs.get(session, job.id)


@pytest.mark.extended
def test_jobs_ingest_every_source(ingested: Freshet, country: Path, caravan_set: Path, own_tables: Path) -> None:
    basins, observations = (own_tables / f"{name}.csv" for name in ("basins", "observations"))
    registered = ingested("ingest", "tables", "--product", "gauges", "--basins", str(basins), "--json")
    camels = done(ingested, "ingest", **{"from": [str(country)]})
    caravan = done(ingested, "ingest", **{"source": "caravan", "from": [str(caravan_set)], "basins": GAUGES[:1]})
    table = done(ingested, "upload", product="gauges", observations_file=str(observations))

    assert camels.result == {"counts": {"unchanged": 3}, "failed": {}}
    assert caravan.result == {"counts": {"new": 1}, "failed": {}}
    assert registered.json["counts"] == {"new": 3}
    assert table.result == {"counts": {"changed": 3}, "failed": {}}
    assert basin_ids(ingested) == sorted([*BASINS, GAUGES[0], *OWN])


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"source": "grdc", "from": ["/data"]}, "params.source: "),
        ({}, "params.from: it is needed"),
        ({"source": "caravan", "from": "/data"}, "params.from: "),
        ({"source": "benchmarks", "from": ["/a", "/b"]}, "benchmarks is one file"),
    ],
)
def test_a_job_without_anything_to_ingest_fails_at_once(
    ingested: Freshet, params: dict[str, Any], sentence: str
) -> None:
    job = done(ingested, **params)

    assert (job.status, job.attempt) == ("failed", 1)
    assert job.problem is not None
    assert sentence in job.problem["detail"]
