"""Records every reading answer of the service on one store, and compares two recordings.

    python -m tests.examples.answers fill STORE             fill a SQLite file as the examples are
    python -m tests.examples.answers record STORE FILE      ask every address of the OpenAPI document, and every page
    python -m tests.examples.answers compare FILE OTHER     list what differs

Each address is asked with each of its parameters in turn, in each format, for what does not exist, with the copy held
and without a key. The answers of two versions of the code on one store are equal unless a change states otherwise.
"""

import base64
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import netCDF4
import torch
from starlette.testclient import TestClient

from extensions.edr import FORECASTS
from records.access import keys
from records.database.engine import Database
from testing.country import BASINS
from testing.synthetic import archive as synthetic
from tests.app.conftest import serving
from tests.examples.generate import QUERIES, Recorder
from tests.examples.machine import fixed_machine
from tests.examples.store import AS_OF, BASIN, LEVEL, RECORD, T0, fill

PAGES = ("/", "/basins/{basin}", "/basins/{basin}/levels", "/basins/{basin}/what-if", "/alerts", "/deliveries",
         "/models", "/models/{version}", "/comparisons/{comparison}", "/jobs", "/jobs/{job}", "/feeds", "/schedules",
         "/status", "/problems/unknown-basin", "/guide")  # fmt: skip
UNKNOWN: Mapping[str, str] = {"basin": "OWN-none", "collection": "none", "feed": "none", "bridge": "none"}
"""Values of path parameters that name nothing; other ones are identifiers."""
NO_ID = "0" * 22
VALUES: Mapping[str, tuple[str, ...]] = {
    "area": ("synth", "none"),
    "basins": (f"{BASINS[0]},OWN-none", "OWN-none"),
    "basin": (BASIN, "OWN-none"),
    "bbox": ("-180,-90,180,90", "1,2,3"),
    "cost_loss": ("0.2", "2"),
    "coords": ("POINT(0 0)", "POLYGON((-180 -90,180 -90,180 90,-180 90,-180 -90))", "x"),
    "crs": ("CRS84", "x"),
    "datetime": ("2005-04-21", "2005-04-21/..", "x"),
    "discharge": ("3",),
    "end": ("2005-04-19", "1980-01-01"),
    "format": ("json", "csv", "netcdf", "parquet", "geojson", "coveragejson", "none"),
    "huc": ("01",),
    "issued_after": ("2005-01-01T00:00:00Z", "2005"),
    "known_at": ("2005-04-20T00:00:00Z", "2026-11-20T14:31:00Z"),
    "least_severity": ("advisory", "warning"),
    "limit": ("1", "0"),
    "members": ("true",),
    "metric": ("nse", "none"),
    "model": ("none",),
    "parameter-name": ("calibrated_median", "none"),
    "product": ("synth", "none"),
    "purpose": ("what-if", "operational"),
    "q": ("synth", "none"),
    "run": ("{run}", NO_ID),
    "season": ("04-01..07-31", "DJF", "x"),
    "start": ("2005-04-19", "1980-01-01"),
    "t0": (T0, "2004-01-01"),
    "t0_from": (T0,),
    "t0_to": ("2004-01-01",),
    "units": ("mm/day", "cfs", "source", "none"),
    "updated_since": ("2005-01-01T00:00:00Z", "2030-01-01T00:00:00Z"),
    "variable": ("discharge", "storage", "none"),
    "version": ("{version}", NO_ID),
}
"""Values of query parameters."""
CHANGING = ("etag", "x-request-id", "ratelimit", "ratelimit-policy", "content-length")
"""Headers that may differ."""
TIMED = ("/metrics", "/v1/jobs/{job}/events")
NETCDF = "application/x-netcdf"


@contextmanager
def _service(file: Path) -> Iterator[TestClient]:
    limits = {"requests_per_minute": 1_000_000, "failed_keys_per_minute": 1_000_000, "writes_per_minute": 1_000_000}
    with serving(f"sqlite:///{file}", AS_OF, **limits) as client:
        yield client


def fill_store(file: Path) -> None:
    """Fill a store, and write the parameters of its addresses and the token of a key beside it."""
    torch.set_num_threads(1)
    database = Database(f"sqlite:///{file}")
    database.migrate()
    with fixed_machine() as machine, tempfile.TemporaryDirectory() as folder, _service(file) as client:
        synthetic.write(Path(folder) / "camels", basins=len(BASINS), first_day=RECORD.first, last_day=RECORD.last)
        with database.transaction() as session:
            _, token = keys.make(session, "river office", "admin", None, machine.now)
            _, other = keys.make(session, "operators", "operator", None, machine.now)
        client.headers["Authorization"] = f"Bearer {token}"
        names = fill(database, machine, Recorder(client, machine).ask, Path(folder) / "camels")
    database.close()
    names |= {"collection": FORECASTS, "instance": names["run"], "threshold": LEVEL, "path": "forecasts.zarr/zarr.json"}
    file.with_suffix(".json").write_text(json.dumps({"names": names, "admin": token, "operator": other}))


def record(file: Path) -> dict[str, Any]:
    """Return every answer on a store by its request, and the OpenAPI document."""
    stored = json.loads(file.with_suffix(".json").read_text())
    names = stored["names"]
    with fixed_machine(), _service(file) as client:
        document = client.get("/openapi.json").json()
        for methods in document["paths"].values():
            for operation in methods.values():  # whose order does not matter
                operation["parameters"] = {one["name"]: one for one in operation.get("parameters", [])}
        answers: dict[str, Any] = {}

        def ask(path: str, query: Mapping[str, str], key: str | None = "admin", held: bool = False) -> str:
            headers = {} if key is None else {"Authorization": f"Bearer {stored[key]}"}
            answer = client.get(path, params=query, headers=headers | ({"If-None-Match": "*"} if held else {}))
            shown = {name: value for name, value in answer.headers.items() if name not in CHANGING}
            body = _shown(shown.get("content-type", ""), answer.content)
            asked = f"{path} {json.dumps(query)} {key}{' held' if held else ''}"
            tagged = {"tagged": "etag" in answer.headers}
            answers[asked] = {"status": answer.status_code, "headers": shown, "body": body} | tagged
            return body if isinstance(body, str) else ""

        for path, methods in document["paths"].items():
            if "get" in methods and path not in TIMED:
                for address, query in _requests(path, list(methods["get"]["parameters"].values()), names):
                    answer = ask(address, query)
                    if answer.startswith("{") and (following := json.loads(answer).get("next")):
                        ask(following, {})
                base = dict(QUERIES.get(path, {}))
                for key in ("operator", None):
                    ask(path.format_map(names), base, key)
                ask(path.format_map(names), base, held=True)
                ask(path.format_map(names), base | {"format": "csv"}, held=True)
        for path in PAGES:
            ask(path.format_map(names), {})
        for query in ({"run": names["run"]}, {"units": "mm/day"}, {"members": "true"}, {"run": NO_ID}):
            ask("/basins/{basin}".format_map(names), query)
        changed = client.get("/v1/runs?purpose=what-if").json()["runs"][0]["id"]
        ask("/basins/{basin}/what-if".format_map(names), {"run": changed})
    return {"document": document, "answers": answers}


def _requests(path: str, parameters: Any, names: Mapping[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield requests of an address: each value of each parameter by itself, and each format with units and members."""
    base, address = dict(QUERIES.get(path, {})), path.format_map(names)
    yield address, base
    yield address, base | {"unknown": "1"}
    for parameter in parameters:
        name = parameter["name"]
        if parameter["in"] == "path":
            yield path.format_map({**names, name: UNKNOWN.get(name, NO_ID)}), base
            yield path.format_map({**names, name: "!"}), base
        elif parameter["in"] == "query":
            for value in VALUES.get(name, ()):
                yield address, base | {name: value.format_map(names)}
    queries = {parameter["name"] for parameter in parameters if parameter["in"] == "query"}
    for name, value in {"units": "mm/day", "members": "true", "run": names["run"]}.items():
        if {name, "format"} <= queries:
            yield from ((address, base | {name: value, "format": format_}) for format_ in VALUES["format"])


def _shown(media_type: str, content: bytes) -> Any:
    """Return the body of an answer; of NetCDF, whose files hold the time of writing, its variables."""
    if media_type == NETCDF:
        with netCDF4.Dataset("answer", memory=content) as file:
            return {"": str(file.__dict__)} | {
                name: [str(it), str(it[:].tolist())] for name, it in file.variables.items()
            }
    if media_type.startswith("text/") or "json" in media_type:
        return content.decode()
    return base64.b64encode(content).decode()


def differences(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """Yield where and how two recordings differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted(one.keys() | other.keys()):
            if name not in one or name not in other:
                yield f"{path}/{name}: only in {'the second' if name in other else 'the first'}"
            else:
                yield from differences(one[name], other[name], f"{path}/{name}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from differences(left, right, f"{path}/{index}")
    elif one != other:
        yield f"{path}: {str(one)[:300]!r} and {str(other)[:300]!r}"


def main(command: str, *files: str) -> None:
    """Run a command."""
    first, *rest = (Path(file) for file in files)
    if command == "fill":
        fill_store(first)
    elif command == "record":
        recorded = record(first)
        rest[0].write_text(json.dumps(recorded))
        sys.stdout.write(f"{len(recorded['answers'])} answers\n")
    else:
        found = list(differences(json.loads(first.read_text()), json.loads(rest[0].read_text())))
        sys.stdout.write("\n".join([*found, f"{len(found)} differences\n"]))


if __name__ == "__main__":
    main(*sys.argv[1:])
