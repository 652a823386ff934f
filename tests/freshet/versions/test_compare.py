"""`freshet compare` and `freshet ingest benchmarks`, and the jobs that do the same."""

import shutil
from pathlib import Path
from typing import Any

import pandas
import pytest

from jobspec.kinds import queue_of
from records.database.engine import Database
from records.jobs import jobs
from records.verification import scores
from runtime.settings import Settings
from tests.freshet.conftest import BASINS, PERIODS, SMALL, Freshet
from tests.ingestion.test_benchmarks import ROWS, write
from workers.job_processes.process_pool import Children
from workers.job_processes.worker import Worker
from workers.queue.enqueue import tools_of

pytestmark = pytest.mark.extended

HELD_OUT = ("--period", "2005-04-01..2005-09-30")


@pytest.fixture(scope="module")
def two_data(worked_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with two versions, to be copied."""
    data = Path(shutil.copytree(worked_data, tmp_path_factory.mktemp("two") / "copy"))
    assert Freshet(data)("train", *PERIODS, *SMALL, "--seed", "7", "--label", "the other").code == 0
    return data


@pytest.fixture
def two(two_data: Path, tmp_path: Path) -> Freshet:
    """The command line, with two versions."""
    return Freshet(Path(shutil.copytree(two_data, tmp_path / "copy")))


def versions(freshet: Freshet) -> list[str]:
    """Return the options that name both versions, the older one first."""
    stored = freshet("models", "list", "--json").json["models"]
    return [part for one in stored[::-1] for part in ("--version", one["id"])]


def test_two_versions_are_compared_once(two: Freshet) -> None:
    first = two("compare", *versions(two), *HELD_OUT, "--json")
    again = two("compare", *versions(two), *HELD_OUT, "--json")

    assert (first.code, first.json["basins"]) == (0, len(BASINS))
    assert first.json == again.json
    assert "comparison: 6 of 6" in first.err
    text = two("compare", *versions(two), *HELD_OUT).out
    assert all(part in text for part in ("at least 6 basins that differ", "the other", "0.744"))


def test_tables_by_basin_hold_the_stored_scores_in_every_format(two: Freshet, tmp_path: Path) -> None:
    (tmp_path / "basins.txt").write_text("SYNTH-03\nSYNTH-01\n")
    chosen = ("--basins-file", str(tmp_path / "basins.txt"))
    first, second = versions(two)[1::2]
    files = {form: tmp_path / f"table.{form}" for form in ("csv", "parquet", "tex")}
    for file in files.values():
        assert two("evaluate", *HELD_OUT, "--version", first, *chosen, "--to", str(file)).code == 0
    read = pandas.read_csv(files["csv"], index_col="basin")
    pandas.testing.assert_frame_equal(pandas.read_parquet(files["parquet"]).set_index("basin"), read, check_dtype=False)
    stored = two("evaluate", *HELD_OUT, "--version", first, *chosen, "--json")
    assert stored.code == 0
    database = Database(f"sqlite:///{two.data / 'freshet.sqlite'}")
    with database.reading() as session:
        rows = scores.scores(session, versions=[first], members=["mean"])
    database.close()
    of_mean = {(row.basin_id, row.metric): row.value for row in rows if row.value is not None}
    assert {(basin, metric): value for metric, of in read.items() for basin, value in of.dropna().items()} == of_mean
    assert sorted(read.index) == ["SYNTH-01", "SYNTH-03"]
    tex = files["tex"].read_text()
    assert f"SYNTH-01 & {' & '.join(f'{value:.3f}' for value in read.loc['SYNTH-01'].dropna())}" in tex.replace(
        " &  ", " "
    )
    assert r"\toprule" in tex

    compared = tmp_path / "compared.csv"
    assert two("compare", *versions(two), *HELD_OUT, "--to", str(compared)).code == 0
    table = pandas.read_csv(compared, index_col="basin")
    assert sorted(table.index) == list(BASINS)
    assert table.loc["SYNTH-01", f"nse_{first}"] == pytest.approx(of_mean["SYNTH-01", "nse"], rel=1e-6)
    assert f"nse_{second}" in table
    wrong = two("compare", *versions(two), *HELD_OUT, "--to", "scores.xls")
    assert (wrong.code, "end its name with .csv, .parquet, .tex" in wrong.err) == (2, True)


def test_the_text_shows_differences_and_the_printed_table_with_its_label(two: Freshet) -> None:
    output = two("compare", *versions(two), *HELD_OUT, "--basin", "SYNTH-02")

    assert output.code == 0
    for part in ("1 basin", "nse", "the other", "fhv, %", "Table B.7"):
        assert part in output.out
    assert "No published scores are stored" in output.err
    assert "Other basins or period" in output.out


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--period", "always"], 2, "'always' is not a period"),
        (["--period", "2004-01-01..2005-09-30"], 2, "overlaps the train period"),
        (["--period", "2005-04-01..2010-09-30"], 4, "does not cover 2005-04-01..2010-09-30"),
        ([*HELD_OUT, "--version", "none"], 3, "No model version 'none'"),
        ([*HELD_OUT, "--basin", "01013500"], 3, "No basin 'USGS-01013500'"),
    ],
)
def test_an_impossible_comparison_is_reported(two: Freshet, arguments: list[str], code: int, sentence: str) -> None:
    output = two("compare", *versions(two), *arguments, "--json")

    assert output.code == code
    assert sentence in output.json["problem"]["detail"]


def test_published_scores_are_stored_once(freshet: Freshet, tmp_path: Path) -> None:
    file = write(tmp_path, *ROWS)
    first = freshet("ingest", "benchmarks", "--from", str(file), "--json")
    again = freshet("ingest", "benchmarks", "--from", str(file), "--json")
    text = freshet("ingest", "benchmarks", "--from", str(file)).out

    assert first.code == 0
    assert (first.json["models"], first.json["basins"], first.json["basins_here"]) == (["FUSE_900", "SAC_SMA"], 2, 0)
    assert (first.json["new"], again.json["new"], again.json["unchanged"]) == (8, 0, 8)
    assert "doi:10.4211/hs.474ecc37e7db45baa425cdb4fc1b61e1" in text


def test_another_file_is_refused(freshet: Freshet, tmp_path: Path) -> None:
    file = write(tmp_path, "1,2", header="basin,score")
    wrong = freshet("ingest", "benchmarks", "--from", str(file), "--json")
    none = freshet("ingest", "benchmarks", "--from", str(tmp_path / "nothing.csv"), "--json")

    assert (wrong.code, none.code) == (4, 4)
    assert "the columns are not gauge_id, model, NSE" in wrong.json["problem"]["detail"]


def done(freshet: Freshet, kind: str, **params: Any) -> jobs.Job:
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


def test_a_job_stores_the_same_comparison_as_the_command(two: Freshet) -> None:
    named = versions(two)[1::2]
    job = done(two, "comparison", versions=named, period=HELD_OUT[1])
    output = two("compare", *versions(two), *HELD_OUT, "--json").json

    assert job.status == "succeeded"
    assert job.result == output == {"comparison": output["comparison"], "basins": 3, "left_out": {}}
    broken = done(two, "comparison", versions=named, period="2004-01-01..2005-09-30")
    assert broken.status == "failed"
    assert broken.problem is not None
    assert "took no part in its training" in broken.problem["detail"]


def test_a_job_ingests_published_scores(ingested: Freshet, tmp_path: Path) -> None:
    file = str(write(tmp_path, *ROWS))
    job = done(ingested, "ingest", **{"source": "benchmarks", "from": [file]})
    assert job.status == "succeeded"
    assert job.result is not None
    assert (job.result["new"], job.result["basins"]) == (8, 2)
    for wrong, sentence in (
        ({"from": [file, file]}, "benchmarks is one file in `from`, without product and basins"),
        ({"from": [file], "basins": ["01013500"]}, "benchmarks is one file in `from`, without product and basins"),
        ({"from": [file], "product": "daymet"}, "benchmarks is one file in `from`, without product and basins"),
    ):
        failed = done(ingested, "ingest", source="benchmarks", **wrong)
        assert failed.problem is not None
        assert sentence in failed.problem["detail"]
