"""`freshet ingest`, `freshet basins add` and `climate`: read data into the database."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

from rich.console import RenderableType

from app.basins import schemas
from freshet.cli.context import MayCreateDatabase, opened
from freshet.cli.job_command import Done, job_command
from freshet.cli.job_options import Layout
from freshet.cli.options import Adopt, OnlyBasins, option
from freshet.cli.output import MAX_ROWS, Json, Reporter, answer, exit_if_failed, first_rows, inform, reporting, table
from freshet.commands.basins import basin_lines
from hydrology.base.errors import InvalidInput, counted
from ingestion.base import ANY_FILES, Files, Source
from ingestion.sources.benchmarks import read as read_published
from ingestion.sources.camels import CamelsSource
from ingestion.sources.tables import TablesSource
from jobspec.jobs.data import BasinJob, ClimateJob
from operations.basin_data.ingest import IngestResult, held, ingest_published
from operations.basin_data.ingest import ingest as run
from operations.basin_data.sources import Intake, IsolatedSource
from operations.upkeep import audit_details
from records.basins.basins import list_basins
from records.database.engine import Database
from runtime.settings import Settings

From = Annotated[
    list[str],
    option(
        "SOURCE",
        "A folder, a published zip, or the URL of one (#sha256=... checks the download). Repeat it for more.",
        "--from",
    ),
]


def camels(
    source: From,
    basin: OnlyBasins = None,
    product: Annotated[
        str | None, option("PRODUCT", "The only forcing product to ingest, and that of files whose folder names none.")
    ] = None,
    adopt: Adopt = False,
    as_json: Json = False,
) -> None:
    """Ingest CAMELS-US text: forcing, streamflow, attributes, reference snow, model output.

    Ingesting the same data again changes nothing. A basin with broken files stays as it was; the others continue.
    """
    ingest_archive(partial(CamelsSource, product=product), source, basin, adopt=adopt, as_json=as_json)


def tables(
    product: Annotated[str, option("NAME", "Name of the forcing product, and of the basins' area.")],
    basins: Annotated[
        Path | None, option("FILE", "Own basins: id, latitude, longitude, area_km2, attributes. CSV or JSON.")
    ] = None,
    observations: Annotated[
        Path | None, option("FILE", "Their days: basin, date, variables by name and unit. CSV or JSON.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Ingest own basins and their observations. Observations may belong to basins stored earlier.

    Ingesting the same data again changes nothing. A table is stored completely, or, if a line of it is wrong, not at
    all.
    """
    if basins is None and observations is None:
        raise InvalidInput("There is nothing to ingest: give --basins, --observations or both.")
    settings = Settings.load()
    with reporting() as reporter:
        make = partial(TablesSource, basins, observations, product, _registered(settings))
        outcomes = _ingest(settings, reporter, make, ANY_FILES, table=True)
    _report(outcomes, as_json)


def benchmarks(
    source: Annotated[str, option("FILE", "benchmark_models_per_basin.csv, or the URL of it.", "--from")],
    as_json: Json = False,
) -> None:
    """Ingest published scores of hydrological models in the basins of CAMELS-US, for freshet compare.

    Ingesting the same file again changes nothing. Scores are stored for every basin of the file, ingested or not.
    """
    settings = Settings.load()
    with reporting() as reporter, any_intake(settings, reporter).of([source]) as ((path,), files):
        published = read_published(path, files)
        with opened(settings, begins=MayCreateDatabase.ANYWHERE) as context:
            done = ingest_published(context, published)
            context.record("data ingested", "published scores", new=done.new, changed=done.changed)
    rows = [("models", ", ".join(done.models)), ("basins", done.basins), ("of them stored here", done.basins_here)]
    rows += [("new scores", done.new), ("changed", done.changed), ("unchanged", done.unchanged)]
    title = f"Published scores of {done.source}\n{done.citation}"
    answer(asdict(done), as_json, table(("", ""), rows, title))


@job_command(BasinJob, Layout(arguments=("basin",), names={"area_km2": "--area"}), begins=MayCreateDatabase.ANYWHERE)
def add_basin(done: Done) -> Iterator[RenderableType]:
    """Add a basin, or add data to one. For a USGS gauge, location, name and area are fetched from USGS.

    Weather is averaged over points within the outline, and its area is checked. Every answer names attributes that are
    assumed.
    """
    result = done.result
    inform(f"{result['basin']} is {'new' if result['new'] else 'changed' if result['changed'] else 'as it was'}.")
    yield "\n".join(basin_lines(schemas.basin_detail(done.session, result["basin"])))


@job_command(ClimateJob, Layout(arguments=("basin",)))
def climate(done: Done) -> Iterator[RenderableType]:
    """Compute the climate indices of a basin, as CAMELS defines them, and store them as its attributes."""
    title = f"Climate of {done.result['basin']}, computed from {done.result['computed_from']}"
    yield table(("index", "value"), list(done.result["indices"].items()), title)


def ingest_archive(
    make: Callable[..., Source], places: Sequence[str], wanted: Sequence[str] | None, *, adopt: bool, as_json: bool
) -> None:
    """Ingest an archive and print the outcome; `make` gets the paths of its places."""
    settings = Settings.load()
    with reporting() as reporter, any_intake(settings, reporter).of(places) as (paths, files):
        outcomes = _ingest(settings, reporter, partial(make, paths), files, wanted, adopt=adopt)
    _report(outcomes, as_json)


def _registered(settings: Settings) -> list[str]:
    """Return the stored basins; none if there is no database yet."""
    if Database(settings.database_url).missing:
        return []
    with opened(settings) as context, context.database.reading() as session:
        return [basin.id for basin in list_basins(session)]


def _ingest(
    settings: Settings,
    reporter: Reporter,
    make: Callable[..., Source],
    files: Files,
    wanted: Sequence[str] | None = None,
    *,
    table: bool = False,
    adopt: bool = False,
) -> list[IngestResult]:
    """Store the data of a source. The database is created only now, so a mistyped source leaves none behind."""

    def show(outcome: IngestResult, done: int, total: int) -> None:
        reporter.show("basins", done, total, f"{outcome.basin} {outcome.status}")

    with IsolatedSource(make, files.roots) as source:
        basins = held(source, wanted or [])
        with opened(settings, begins=MayCreateDatabase.ANYWHERE) as context:
            read = audit_details.ReadFiles(source)
            outcomes = run(context, read, basins, show, table=table, adopt=adopt)
            named = audit_details.files(read.of(outcomes), {str(Path.cwd()): ""})
            context.record("data ingested", "basins", **audit_details.changes(outcomes), **named)
    return outcomes


def _report(outcomes: Sequence[IngestResult], as_json: bool) -> None:
    failed = [outcome for outcome in outcomes if outcome.status == "failed"]
    for outcome in failed:
        inform(f"Failed: {outcome.basin}: {outcome.error}")
    for outcome in outcomes:
        if outcome.adopted is not None:
            inform(f"Adopted: {outcome.basin} {outcome.adopted}.")
    odd = [outcome for outcome in outcomes if outcome.input_warnings]
    for outcome in odd[:MAX_ROWS]:
        inform(f"Warning: {outcome.basin}: {' '.join(outcome.input_warnings)}")
    if len(odd) > MAX_ROWS:
        inform(
            f"Warning: and {counted(len(odd) - MAX_ROWS, 'more basin has', 'more basins have')} such "
            "warnings: --json lists all."
        )
    counts = Counter(outcome.status for outcome in outcomes)
    columns = ("basin", "status", "new days", "changed days", "warnings")
    rows = [(o.basin, o.status, o.new_days, o.changed_days, len(o.warnings)) for o in outcomes]
    title = f"{counted(len(outcomes), 'basin')}: " + ", ".join(
        f"{count} {status}" for status, count in sorted(counts.items())
    )
    payload = {"counts": dict(counts), "basins": [asdict(outcome) for outcome in outcomes]}
    answer(payload, as_json, first_rows(columns, rows, title))
    exit_if_failed(len(failed), len(outcomes))


def any_intake(settings: Settings, reporter: Reporter) -> Intake:
    """Return an intake that reads files from anywhere and shows downloads."""

    def show(received: int, size: int | None) -> None:
        reporter.show("download", received, size or received, "bytes")

    return Intake(settings.data / "downloads", settings.ingest_hosts, None, show, lambda _name: None)
