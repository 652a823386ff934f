"""A filled store with a basin and a version in the shadow, and what it would hold without them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import String, cast, select
from starlette.testclient import TestClient

from extensions.shadow.shadowing import start_basin, start_version
from hydrology.base.calendar import Period
from jobspec.jobs.forecasting import ForecastParams
from operations.daily import issue_record
from operations.forecasting.forecast import forecast
from operations.verification.compare import compare
from operations.verification.evaluate import evaluate
from records.database.base import Base
from records.database.engine import Database
from records.runs.runs import RunRequest
from records.versions import versions
from runtime.clock import Clock
from testing.answers import readable
from testing.country import BASINS
from testing.filled_store import FILLED_UNTIL, FilledStore, fill
from testing.work import work_of

HIDDEN = BASINS[2]
PAGES = ("/", "/models", "/alerts", "/issues", "/status", "/metrics", "/v1/status")

Answers = dict[str, tuple[int, str]]
"""The status and the text of each address."""


@dataclass(frozen=True, slots=True)
class Filled:
    """The file, what it holds, and the version in the shadow with its run."""

    file: Path
    stored: FilledStore
    version: str
    run: str

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no public answer has."""
        return HIDDEN, self.version, self.run


def fill_with_shadow(file: Path) -> Filled:
    """Fill a worked file; a basin that it serves, and a version with a run and scores, go into the shadow."""
    stored = fill(f"sqlite:///{file}")
    database, clock = Database(f"sqlite:///{file}"), Clock(FILLED_UNTIL)
    work, held_out = work_of(database, clock), Period.parse("2004-10-01..2005-09-30")
    with database.reading() as session:
        (other,) = [one.id for one in versions.list_versions(session) if one.id != stored.version]
    (run,) = forecast(work, RunRequest(ForecastParams(basins=[BASINS[0]], version=other)))
    evaluate(work, other, held_out, BASINS[:1])
    compare(work, [stored.version, other], held_out, BASINS[:1])
    compare(work, [stored.version], held_out, BASINS[:2])
    with database.transaction() as session:
        assert start_basin(session, HIDDEN, clock)
        assert start_version(session, other)
    issue_record.settle(work, [], None)  # which counts the basins anew
    database.close()
    return Filled(file, stored, other, run.id)


def remove_shadow(database: Database, filled: Filled) -> None:
    """Delete what is in the shadow, and the runs and comparisons that are of nothing else, from a copy."""
    tables = Base.metadata.tables
    runs, comparisons, compared = tables["runs"].c, tables["comparisons"].c, tables["comparison_versions"].c
    with database.transaction() as session:
        of_versions = session.scalars(select(compared.comparison_id).where(compared.version_id == filled.version)).all()
        of_basins = session.scalars(select(comparisons.id).where(cast(comparisons.basins, String).contains(HIDDEN)))
        gone = {
            "basin_id": [HIDDEN],
            "version_id": [filled.version],
            "run_id": session.scalars(select(runs.id).where(runs.version_id == filled.version)).all(),
            "comparison_id": [*of_versions, *of_basins],
        }
        own = {"basins": "basin_id", "versions": "version_id", "comparisons": "comparison_id"}
        for table in reversed(Base.metadata.sorted_tables):
            for column in table.c:
                name = own.get(table.name, "") if column.name == "id" else column.name
                if name in gone:
                    session.execute(table.delete().where(column.in_(gone[name])))
            if table.name == "runs":
                session.execute(table.delete().where(runs.id.not_in(select(tables["run_basins"].c.run_id))))
    issue_record.settle(work_of(database, Clock(FILLED_UNTIL)), [], None)


def lists(client: TestClient) -> list[str]:
    """Return the addresses and pages that are of no basin or version alone."""
    paths = client.get("/openapi.json").json()["paths"].items()
    return [*(path for path, methods in paths if "get" in methods and "{" not in path), *PAGES]


def everything(client: TestClient, filled: Filled) -> Iterator[str]:
    """Yield every address of the document that is of something, and a page of each template."""
    document: dict[str, Any] = client.get("/openapi.json").json()
    gauge = client.get(f"/v1/basins/{BASINS[0]}").json()
    place = f"POINT({gauge['longitude']} {gauge['latitude']})"
    of_all = {*lists(client)}
    seen = (path for path, _ in readable(document, filled.stored, place))
    pages = (f"/basins/{BASINS[0]}", f"/models/{filled.stored.version}", f"/comparisons/{filled.stored.comparison}")
    shown = (*seen, *pages, f"/compare?basin={BASINS[0]}&basin={BASINS[1]}", "/?search=SYNTH")
    yield from dict.fromkeys(path for path in shown if path.rstrip("?") not in of_all and not path.endswith("/events"))


def read(client: TestClient, addresses: Iterator[str] | list[str], headers: dict[str, str] | None = None) -> Answers:
    found = {path: client.get(path, headers=headers) for path in addresses}
    return {path: (answer.status_code, answer.text) for path, answer in found.items()}
