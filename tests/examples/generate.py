"""Writes the examples of the API from the answers of a small service: `make examples`.

Each documented answer is an example of its schema. Lists of objects are cut to the first `MAX_ITEMS`, texts to the
first `MAX_LINES` lines; columns are as long as the days asked for.
"""

import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from starlette.testclient import TestClient

from extensions.archive.archive_runs import RunSelection, archive_runs
from extensions.archive.forecast_archive import STORE
from extensions.edr import FORECASTS
from jobspec.extensions import extensions
from records.access import keys
from records.basins import basins
from records.database.engine import Database
from runtime.clock import Clock
from testing.country import BASINS
from testing.synthetic import archive as synthetic
from testing.work import work_of
from tests.app.conftest import serving
from tests.examples.compare import difference
from tests.examples.machine import Machine, fixed, fixed_machine, with_numbered_hashes
from tests.examples.store import AS_OF, RECORD, fill

ROOT = Path(__file__).parents[2]
MAX_ITEMS = 2
MAX_LINES = 8
JSON = "application/json"
TEXTS = ("text/plain", "text/event-stream")
_DAYS = {"start": "2005-04-18", "end": "2005-04-20"}
QUERIES: Mapping[str, Mapping[str, str]] = {
    "/v1/forecasts": {"basins": "SYNTH-01,SYNTH-99"},
    "/v1/basins/{basin}/observations": _DAYS | {"product": "synth", "start": "2005-09-29", "end": "2005-10-01"},
    "/v1/basins/{basin}/normals": _DAYS,
    "/v1/basins/{basin}/simulation": _DAYS,
    "/v1/basins/{basin}/states": {"limit": "2"},
    "/v1/basins/{basin}/skill": {"metric": "nse"},
    "/v1/basins/{basin}/decision-value": {"cost_loss": "0.2"},
    "/v1/models/{version}/skill": {"metric": "nse"},
    "/v1/comparisons/{comparison}": {"metric": "nse"},
}
"""Queries of the addresses that are read, besides their path."""

_COLUMN = re.compile(r"\[\n[^\[\]{}]*\n *\]")
_LINE = re.compile(r"\n *")

Examples = dict[str, dict[str, Any]]
"""Examples by file, and by schema or operation."""


def generate(file: Path) -> Examples:
    """Return the examples.

    Args:
        file: a SQLite file with all tables and no rows; it is filled.
    """
    torch.set_num_threads(1)
    url = f"sqlite:///{file}"
    with (
        fixed_machine() as machine,
        tempfile.TemporaryDirectory() as folder,
        patch.dict(os.environ, FRESHET_ARCHIVE=folder),
        serving(url, AS_OF, requests_at_once=1) as client,  # none waits for a second connection
    ):
        country = Path(folder) / "camels"
        synthetic.write(country, basins=len(BASINS), first_day=RECORD.first, last_day=RECORD.last)
        database = Database(url)
        with database.transaction() as session:
            _, token = keys.make(session, "river office", "admin", None, machine.now)
        client.headers["Authorization"] = f"Bearer {token}"
        recorder = Recorder(client, machine)
        recorder.names |= fill(database, machine, recorder.ask, country)
        archive_runs(work_of(database, Clock(AS_OF)), Path(folder) / STORE, RunSelection())
        recorder.names |= {"instance": recorder.names["run"], "rival": "nwm"}
        recorder.names["day"] = recorder.ask("GET", "/v1/basins/{basin}/states")["states"][0]["day"]
        recorder.ask("PUT", "/v1/basins/{basin}/shadow", basin="USGS-01170100")
        recorder.names["region"] = "columbia"
        recorder.ask("PUT", "/v1/regions/{region}", {"huc": "17", "unfinished_jobs": 200})
        recorder.read_all()
        other = recorder.names["other_version"]
        better = {"reason": "better on the held-out years", "basins": [*BASINS]}
        recorder.ask("PUT", "/v1/models/{version}/promotion", better, version=other)
        recorder.ask("POST", "/v1/models/{version}/rollback", {"reason": "worse in the floods of March"}, version=other)
        with database.transaction() as session:
            operator, _ = keys.make(session, "mill", "operator", None, machine.now)
            basins.register(session, "OWN-mill", operator.id)
        recorder.ask("PUT", "/v1/basins/{basin}/adoption", basin="OWN-mill")
        database.close()
    examples: Examples = with_numbered_hashes(fixed(recorder.examples()))
    return examples


class Recorder:
    """Asks the service, and stores the first answer of each schema."""

    def __init__(self, client: TestClient, machine: Machine) -> None:
        self.names: dict[str, str] = {"collection": FORECASTS}
        self._read: Examples = {}
        self._written: Examples = {}
        self._client, self._machine = client, machine
        self._paths: dict[str, dict[str, Any]] = client.get("/openapi.json").json()["paths"]

    def ask(self, method: str, path: str, body: Any = None, **names: str) -> Any:
        """Send a request, and return its answer."""
        self._machine.step()
        address = path.format_map(self.names | names)
        answer = self._client.request(method, address, json=body, params=QUERIES.get(path))
        assert answer.is_success, f"{method} {address}: {answer.text}"
        operation = self._paths[path][method.lower()]
        for name in documented(operation, str(answer.status_code)):
            content = answer.json() if answer.headers["Content-Type"] == JSON else _first_lines(answer.text)
            examples = self._read if method == "GET" else self._written
            examples.setdefault(_file_of(operation), {}).setdefault(name, _cut(content))
        return answer.json() if answer.headers["Content-Type"] == JSON else answer.text

    def examples(self) -> Examples:
        """Return the first answer of each schema by file: of a reading request where there is one."""
        names = sorted(self._read.keys() | self._written.keys())
        return {name: self._written.get(name, {}) | self._read.get(name, {}) for name in names}

    def read_all(self) -> None:
        """Read every address whose answer has an example."""
        for path, methods in self._paths.items():
            if "get" in methods and [*documented(methods["get"], "200")]:
                self.ask("GET", path)


def documented(operation: dict[str, Any], status: str) -> Iterator[str]:
    """Yield the name that the example of an answer has: its schema's, or the operation's where it is text."""
    content = operation["responses"][status].get("content", {})
    schema = content.get(JSON, {}).get("schema", {})
    schema = schema.get("anyOf", [schema])[0]  # a list's, before that of its answer with `fields=`
    if "$ref" in schema:
        yield schema["$ref"].rpartition("/")[2]
    elif not content.keys().isdisjoint(TEXTS):
        yield operation["operationId"]


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cut(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_cut(one) for one in (value[:MAX_ITEMS] if value and isinstance(value[0], dict) else value)]
    return value


def _first_lines(text: str) -> str:
    return "".join(text.splitlines(keepends=True)[:MAX_LINES])


def _file_of(operation: dict[str, Any]) -> str:
    """Return the file of an operation's examples: that of its extension, or of its tag."""
    package = _packages().get(operation["operationId"])
    tag: str = operation["tags"][0]
    return f"app/examples/{tag}.json" if package is None else f"{package.replace('.', '/')}/examples.json"


@cache
def _packages() -> dict[str, str]:
    """Return the package of each operation of an extension."""
    return {
        route.name: extension.package
        for extension in extensions()
        for router in extension.routers
        for route in extension.load(router).routes
    }


def files() -> set[str]:
    """Return the names of the files of examples."""
    found = (*ROOT.glob("app/examples/*.json"), *ROOT.glob("extensions/*/examples.json"))
    return {str(file.relative_to(ROOT)) for file in found}


def written(name: str) -> dict[str, Any]:
    """Return the examples in a file; none without one."""
    file = ROOT / name
    return json.loads(file.read_text("utf-8")) if file.exists() else {}


def write(examples: Examples) -> None:
    """Write the files of examples that differ by more than rounding, and remove those that nothing answers any more."""
    for name in files() - examples.keys():
        (ROOT / name).unlink()
    for name, of_file in examples.items():
        if difference(written(name), of_file):
            (ROOT / name).write_text(_as_text(of_file), "utf-8")


def _as_text(examples: dict[str, Any]) -> str:
    """Return examples as indented JSON, with columns in one line."""
    text = json.dumps(examples, indent=1, ensure_ascii=False)
    return _COLUMN.sub(lambda found: f"[{_LINE.sub(' ', found[0][1:-1]).strip()}]", text) + "\n"


def main() -> None:
    """Write the examples."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "freshet.sqlite"
        database = Database(f"sqlite:///{file}")
        database.migrate()
        database.close()
        write(generate(file))


if __name__ == "__main__":
    main()
