"""What every GET address, page and reading command answers about a store, in files: equal before and after a change.

    python -m benchmarks.frozen_answers STORE FOLDER [--freshet FILE]

STORE is the data folder of a SQLite store; a copy of it is read. FILE is the `freshet` of another checkout: its answers
are written by the same questions. `diff -r` of two folders shows what a change has changed.
"""

import argparse
import asyncio
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import xarray as xr

from benchmarks.speed.http_load import until_up
from records.access import keys
from records.database.engine import Database
from runtime import child_processes
from testing.processes import free_port

EACH = 3
"""Basins, runs and the like that an address is asked about."""
LISTS = {"basin": "basins", "version": "models", "run": "runs", "job": "jobs", "adjustment": "adjustments"}
"""The list that has the values of a name in an address."""
PARAMETERS = {"observations": "product=usgs&variable=discharge"}
PAGES = (
    "/",
    "/models",
    "/alerts",
    "/status",
    "/jobs",
    "/feeds",
    "/basins/{basin}",
    "/basins/{basin}/what-if",
    "/models/{version}",
)
COMMANDS = (
    *("basins", "basins show {basin}", "thresholds show {basin}", "runs", "runs {run}", "changes {basin}", "errors"),
    *(
        "events {basin}",
        "alerts list",
        "subscriptions list",
        "simulation {basin}",
        "models list",
        "models show {version}",
    ),
    *("jobs list", "keys list", "feeds list", "bridge list", "rain-margin {basin}", "weather list"),
)
VARYING = re.compile(rb"(?<=127\.0\.0\.1:)\d+|\d+(?:\.\d+)? s\b|nonce-[\w-]+")
"""Ports, durations and nonces."""
Values = Mapping[str, Sequence[str]]


def main() -> None:
    """Write the answers of a checkout about a store."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.frozen_answers", description=__doc__)
    parser.add_argument("store", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--freshet", type=Path)
    chosen = parser.parse_args()
    freshet = [str(chosen.freshet)] if chosen.freshet else child_processes.python_command("freshet")
    chosen.folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as data:
        shutil.copy(chosen.store / "freshet.sqlite", data)
        environment = os.environ | {"FRESHET_DATA": data, "FRESHET_LOG_LEVEL": "error", "COLUMNS": "100"}
        with _api(freshet, environment) as client:
            values = {name: _ids(client, of) for name, of in LISTS.items()}
            for name, answer in _answers(client, values):
                _save(chosen.folder, name, answer)
        for command in COMMANDS:
            for words in _filled(command, values):
                done = subprocess.run(
                    [*freshet, *words.split(), "--json"], env=environment, capture_output=True, check=False
                )
                _save(chosen.folder, f"freshet {words}", b"%d\n%b" % (done.returncode, done.stdout))


@contextmanager
def _api(freshet: Sequence[str], environment: Mapping[str, str]) -> Iterator[httpx2.Client]:
    """Run the API on the store, and give a client of it with an administrator's key."""
    subprocess.run([*freshet, "basins"], env=environment, check=True, capture_output=True)  # migrates the copy
    database = Database(f"sqlite:///{environment['FRESHET_DATA']}/freshet.sqlite")
    with database.transaction() as session:
        _, token = keys.make(session, "frozen answers", "admin", None, datetime.now(UTC))
    database.close()
    port = free_port()
    unlimited = {**environment, "FRESHET_REQUESTS_PER_MINUTE": "1000000"}
    with subprocess.Popen([*freshet, "api", "--port", str(port)], env=unlimited) as process:
        try:
            asyncio.run(until_up(port, "/health/live"))
            headers = {"Authorization": f"Bearer {token}"}
            with httpx2.Client(
                base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=300, trust_env=False
            ) as client:
                yield client
        finally:
            process.terminate()


def _ids(client: httpx2.Client, of: str) -> list[str]:
    """Return the ids of a list's first and last rows."""
    answer = client.get(f"/v1/{of}", params={"limit": 1000}).raise_for_status().json()
    ids = [row["id"] for row in next(rows for rows in answer.values() if isinstance(rows, list))]
    return ids[: EACH - 1] + ids[EACH - 1 :][-1:]


def _answers(client: httpx2.Client, values: Values) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the answer of every address in every form, and of every page."""
    document = client.get("/openapi.json").json()
    yield "openapi.json", _json(document)
    for path, methods in document["paths"].items():
        if "get" not in methods or path.endswith("/events"):  # a stream
            continue
        for form in methods["get"]["responses"].get("200", {}).get("content", {"*/*": {}}):
            for address in _filled(path, values):
                answer = client.get(address, params=PARAMETERS.get(path.rpartition("/")[2]), headers={"Accept": form})
                yield f"{address} {form.partition(';')[0]}", b"%d\n%b" % (answer.status_code, _content(answer))
    for page in PAGES:
        for address in _filled(page, values):
            yield f"page {address}", client.get(address, headers={"Accept": "text/html"}).content.replace(b"<", b"\n<")


def _filled(template: str, values: Values) -> Iterator[str]:
    """Yield a template with the first values of each of its names, with the second ones, and so on."""
    names = re.findall(r"{(\w+)[^}]*}", template)
    for number in range(max((len(values.get(name, "")) for name in names), default=1)):
        chosen = {name: values[name][number % len(values[name])] for name in names if values.get(name)}
        yield re.sub(r"{(\w+)[^}]*}", lambda found: chosen.get(found[1], "none"), template)  # noqa: B023


def _content(answer: httpx2.Response) -> bytes:
    """Return a body in a form that can be compared."""
    kind = answer.headers.get("Content-Type", "")
    if kind.startswith("application/x-netcdf"):
        with tempfile.NamedTemporaryFile() as file:
            Path(file.name).write_bytes(answer.content)
            return _json(xr.open_dataset(file.name, decode_times=False).to_dict())
    return _json(answer.json()) if "json" in kind else answer.content


def _json(content: Any) -> bytes:
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False, default=str).encode()


def _save(folder: Path, name: str, answer: bytes) -> None:
    (folder / re.sub(r"[^\w.=-]+", "_", name)).write_bytes(VARYING.sub(b"", answer))


if __name__ == "__main__":
    main()
