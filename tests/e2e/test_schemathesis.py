"""Every operation of the OpenAPI document under generated requests, on either database."""

import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import httpx2
import pytest

from app.http.limits.body_limit import OBSERVATIONS
from extensions.edr import FORECASTS
from testing.country import BASINS
from testing.filled_store import FILLED_UNTIL
from testing.synthetic import archive as synthetic
from tests.e2e.conftest import Api

pytestmark = pytest.mark.extended

SEED = 20
MIN_CASES = {"sqlite": 500, "postgresql": 200}
PHASES = os.environ.get("FRESHET_CONFORMANCE_PHASES", "examples,fuzzing")
"""With `examples,coverage,fuzzing`, each parameter's edges are tried too: three thousand requests, some minutes."""
FUZZED = {"sqlite": 6, "postgresql": 1}
"""Requests an operation, besides the examples and the edges of its parameters."""
# `Allow` in an answer to OPTIONS names one route of an address, and the router has one route a method.
LEFT_OUT = "allow_header_conformance"
EVENTS = "/v1/jobs/{job}/events"
# Rules that a schema cannot express: valid by it, and refused all the same.
REFUSED = {
    "GET /v1/basins": [422],  # a box whose corners are the wrong way round
    "GET /v1/outlooks": [422],  # the same
    "GET /v1/basins/{basin}/normals": [422],  # an area where nothing is converted; days in the wrong order
    "GET /v1/forecasts": [422],  # the same box; basins that are named and chosen by place too
    "GET /v1/basins/{basin}/observations": [422],  # an area where nothing is converted; days in the wrong order
    **{  # no such parameter; a time that is none; a place that is none
        f"GET /v1/edr/collections/{{collection}}{instance}/{query}": [422]
        for instance in ("", "/instances/{instance}")
        for query in ("locations/{basin}", "position", "area", "cube")
    },
    "GET /v1/basins/{basin}/what-if": [422],  # a run that is not a what-if
    "GET /v1/basins/{basin}/thresholds": [422],  # an area where nothing is converted
    "GET /v1/basins/{basin}/simulation": [422],  # an area where nothing is converted; days that were not evaluated
    "GET /v1/basins/{basin}/volumes": [422],  # a day that no month has
    "GET /v1/basins/{basin}/drain-down": [422],  # a run and a T0; a run on other weather
    "PUT /v1/basins/{basin}/rating": [422],  # text without a table
    "PUT /v1/basins/{basin}/flood-categories": [422],  # a document that is not of a gauge
    "PUT /v1/basins/{basin}/flood-frequency": [422],  # half a skew
    "PUT /v1/basins/{basin}/thresholds/{threshold}": [422],  # the name of a level of the record
    "POST /v1/jobs": [422],  # a day that no month has; an idempotency key that another request has
    "POST /v1/basins": [422],  # an outline that is none; a namespace that has a source; half a place; such a key
    "POST /v1/basins/observations": [422],  # such a key
    "POST /v1/weather": [422],  # such a key
    "PUT /v1/basins/{basin}": [422],  # a namespace that has a source
    "POST /v1/models": [422],  # a version that is named twice
    "PUT /v1/models/{version}/promotion": [422],  # a basin that the version was not trained for
    "POST /v1/models/{version}/rollback": [422],  # a version before which no basin had another
    "POST /v1/feeds": [422],  # a basin that is not stored; a product of an archive; a series of a basin named twice
    "POST /v1/basins/{basin}/adjustments": [422],  # a level that is none; as many days as the run has
    "POST /v1/basins/{basin}/updates": [422],  # a flow that is not of the last day, or of another unit
    "POST /v1/basins/{basin}/alerts/held": [422],  # dismissed without a note
    "POST /v1/basins/{basin}/ratings/held": [422],  # the same
    "POST /v1/subscriptions": [422],  # a basin that is not stored; an address that nothing may be sent to
    "PATCH /v1/subscriptions/{subscription}": [422],  # the same
    "PUT /v1/regions/{region}": [422],  # no rule, or two
    "POST /v1/schedules": [422],  # a time zone that there is not; no such minute
    "PUT /v1/schedules/{schedule}": [412, 422],  # the same; a tag that was held before
    "DELETE /v1/schedules/{schedule}": [412],
}
RARELY_ACCEPTED = {
    # What few guesses meet: two versions, an address that may be sent to, a tag that was held, a draft, a job of
    # what is stored, a basin that an operator registered, the name of a rival, a version that serves no basin, gates
    # that are met.
    "GET /v1/basins/{basin}/rivals/{rival}",
    "DELETE /v1/basins/{basin}/shadow",
    "PUT /v1/models/{version}/shadow",
    "DELETE /v1/models/{version}/shadow",
    "PUT /v1/basins/{basin}/adoption",
    "DELETE /v1/basins/{basin}/adoption",
    "POST /v1/schedules",
    "POST /v1/basins/{basin}/adjustments",
    "POST /v1/basins/{basin}/updates",
    "POST /v1/basins/{basin}/alerts/held",
    "POST /v1/basins/{basin}/ratings/held",
    "POST /v1/adjustments/{adjustment}/publish",
    "DELETE /v1/adjustments/{adjustment}",
    "POST /v1/models",
    "POST /v1/subscriptions",
    "POST /v1/subscriptions/{subscription}/resume",
    "PUT /v1/schedules/{schedule}",
    "DELETE /v1/schedules/{schedule}",
    "PUT /v1/basins/{basin}/rating",
    "PUT /v1/basins/{basin}/flood-categories",
}
ACCEPTED = ["2xx", "3xx", 401, 403, 404, 409, 416, 429]


def test_every_operation_conforms_to_its_schema(api: Api, database_url: str, tmp_path: Path) -> None:
    described = httpx2.get(f"{api.address}/openapi.json", trust_env=False, timeout=30).json()
    operations = {f"{method.upper()} {path}" for path, methods in described["paths"].items() for method in methods}

    system = database_url.partition(":")[0]
    result = _run(api, tmp_path, system)
    assert result.returncode == 0, result.stdout + result.stderr
    answers = _answers(tmp_path / "report.ndjson")
    cases = sum(one.total() for one in answers.values())
    print(f"{cases} requests of {len(operations)} operations")  # noqa: T201 - shown with -s
    assert set(answers) == operations
    assert cases >= MIN_CASES[system]
    if system == "sqlite":  # three requests guess neither a tag nor an address that may be sent to
        refused = {name for name, statuses in answers.items() if not any(status < 300 for status in statuses)}
        assert refused <= RARELY_ACCEPTED, refused


def _run(api: Api, folder: Path, system: str) -> subprocess.CompletedProcess[str]:
    """Run the command line of schemathesis, with the names of stored things among its values."""
    (folder / "schemathesis.toml").write_text(_configuration(api))
    options = {
        "--phases": PHASES,
        "--exclude-checks": LEFT_OUT,
        "--max-examples": str(FUZZED[system]),
        "--seed": str(SEED),
        "--generation-database": "none",
        "--report": "ndjson",
        "--report-ndjson-path": str(folder / "report.ndjson"),
    }
    flags = ["--no-color", "--continue-on-failure", "--no-shrink", "--warnings", "off"]
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{api.address}/openapi.json", *flags]
    arguments = [part for option in options.items() for part in option]
    return subprocess.run([*command, *arguments], cwd=folder, capture_output=True, text=True, timeout=1200, check=False)


def _configuration(api: Api) -> str:
    known = {
        "basin": [*BASINS, "OWN-mill"],
        "collection": [FORECASTS],
        "run": [api.stored.run],
        "instance": [api.stored.run],
        "change": [api.stored.change],
        "path": ["forecasts.zarr/zarr.json"],
        "day": [api.stored.t0],
        "issue": [f"{FILLED_UNTIL:%Y-%m-%d}"],
        "version": [api.stored.version],
        "comparison": [api.stored.comparison],
        "job": api.stored.ended,
        "schedule": [api.stored.schedule],
        "weather": [api.stored.weather],
        "feed": [api.stored.feed],
        "bridge": [api.stored.bridge],
        "threshold": [api.stored.threshold],
        "subscription": [api.stored.subscription],
        "delivery": [api.stored.delivery],
        "adjustment": [api.stored.adjustment],
        "region": [api.stored.region],
    }
    products = json.dumps([synthetic.PRODUCT])
    lines = [f'headers = {{ Authorization = "Bearer {api.stored.token}" }}']
    lines += [f"[dictionaries.{name}]\nvalues = {json.dumps(values)}" for name, values in known.items()]
    lines += [
        f"[dictionaries.product]\nvalues = {products}",
        "[parameters]",
        '"query.product" = { dictionary = "product", probability = 0.7 }',
        *(f'"path.{name}" = {{ dictionary = "{name}", probability = 0.7 }}' for name in known),
        "[[operations]]",
        f'include-path = "{EVENTS}"',
        f'parameters = {{ "path.job" = "{api.stored.ended[0]}" }}',
    ]
    places = httpx2.get(f"{api.address}/v1/edr/collections/{FORECASTS}/locations", trust_env=False, timeout=30).json()
    longitude, latitude = places["features"][0]["geometry"]["coordinates"]
    for instance in ("", "/instances/{instance}"):
        position = f"/v1/edr/collections/{{collection}}{instance}/position"
        lines += ["[[operations]]", f'include-path = "{position}"']
        lines.append(f'parameters = {{ "query.coords" = "POINT({longitude} {latitude})" }}')
    # An address below `/v1/basins/{basin}`, whose methods it has too: `observations` is not a basin, which is answered.
    lines += ["[[operations]]", f'include-path = "{OBSERVATIONS}"', "checks.unsupported_method.enabled = false"]
    # The job that a weather forecast is posted to checks its content.
    lines += ["[[operations]]", 'include-name = "POST /v1/weather"', "checks.negative_data_rejection.enabled = false"]
    for name, refused in REFUSED.items():
        expected = json.dumps([*ACCEPTED, *refused])
        lines += [
            "[[operations]]",
            f'include-name = "{name}"',
            f"checks.positive_data_acceptance.expected-statuses = {expected}",
        ]
        if name.startswith("PUT /v1/schedules"):  # the example's name is this one's: no other may be called so
            lines.append(f'parameters = {{ "path.schedule" = "{api.stored.schedule}" }}')
    return "\n".join(lines)


def _answers(report: Path) -> dict[str, Counter[int]]:
    """Return how often each operation answered with each status."""
    found: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for line in report.read_text().splitlines():
        ended: dict[str, Any] | None = json.loads(line).get("ScenarioFinished")
        if ended is not None:
            recorder = ended["recorder"]
            found[recorder["label"]].update(
                exchange["response"]["status_code"] for exchange in recorder.get("interactions", {}).values()
            )
    return dict(found)
