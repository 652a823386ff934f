"""The service as a whole: its OpenAPI document, its documentation pages, what it loads."""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel
from starlette.testclient import TestClient

from app.openapi import filled
from jobspec.kinds import REQUESTABLE, read
from records.database.engine import Database
from testing.records import BASIN, a_basin, a_promoted_version, a_run
from tests import openapi
from tests.app.conftest import serving
from tests.app.factories import forecast

AnyModel = TypeVar("AnyModel", bound=BaseModel)


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The OpenAPI document."""
    return openapi.document()


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the operations by their ids."""
    return {one["operationId"]: one for path in document["paths"].values() for one in path.values()}


def test_operations_have_stable_ids(document: dict[str, Any]) -> None:
    assert set(operations(document)) == {
        "adopt_basin",
        *("read_cells", "read_hydrograph", "read_training_curves"),  # of extensions
        *("compare_rivals", "read_rivals", "read_rival_flow"),
        *("read_shadow", "start_shadow_of_basin", "end_shadow_of_basin"),
        *("start_shadow_of_version", "end_shadow_of_version"),
        *("read_regions", "read_region", "put_region", "delete_region"),
        "cancel_job",
        "create_update",
        *("create_adjustment", "delete_adjustment", "publish_adjustment", "read_adjusted", "read_adjustment"),
        *("list_adjustments", "list_published_adjustments", "decide_held_alerts", "list_held_alerts"),
        *("list_ratings", "list_held_ratings", "decide_held_rating"),  # of an extension
        "combine_models",
        "confirm_threshold",
        "change_subscription",
        "create_subscription",
        "delete_subscription",
        "list_alert_changes",
        "list_alerts",
        "list_deliveries",
        "list_states",
        "list_subscriptions",
        "read_alert_feed",
        "read_cap_index",
        "read_cap_message",
        "resume_subscription",
        "read_alerts",
        "read_delivery",
        "read_changes_of_run",
        "read_latest_changes",
        "read_simulation",
        "read_rating_table",
        "read_stage",
        "read_worst_errors",
        "read_state",
        "read_subscription",
        "release_basin",
        "replay_delivery",
        "roll_back_model",
        "rotate_secret",
        "create_feed",
        "create_schedule",
        "delete_feed",
        "delete_schedule",
        "delete_threshold",
        "list_bridges",
        "list_feeds",
        "list_issues",
        "list_jobs",
        "list_schedules",
        "post_basin",
        "post_job",
        "post_observations",
        "post_weather",
        "promote_model",
        "put_basin",
        "put_flood_categories",
        "put_flood_frequency",
        "put_rating",
        "put_threshold",
        "read_bridge",
        "read_feed",
        "read_issue",
        "read_job",
        "read_job_events",
        "read_schedule",
        "replace_schedule",
        "list_basins",
        "list_changes",
        "list_edr_collections",
        "list_edr_locations",
        "read_edr",
        "read_edr_collection",
        "read_edr_conformance",
        "read_edr_location",
        "list_comparisons",
        "list_models",
        "list_runs",
        "list_weather",
        "read_age",
        "read_basin",
        "read_basin_promotions",
        "read_basin_skill",
        "read_basin_verification",
        "read_comparison",
        "read_decision_value",
        "read_events",
        "read_skilful_days",
        "read_drain_down",
        "read_exceedance",
        "read_persistence",
        "read_outlook",
        "list_outlooks",
        "read_latest_forecast",
        "read_latest_forecasts",
        "read_long_term_balance",
        "read_metrics",
        "read_model",
        "read_model_promotions",
        "read_model_skill",
        "read_model_verification",
        "read_normals",
        "read_observations",
        "read_origin",
        "read_rain_margin",
        "read_run",
        "read_run_of_basin",
        "read_spread",
        "read_weather_models",
        "read_what_if",
        "read_liveness",
        "read_readiness",
        "read_status",
        "read_storage",
        "read_thresholds",
        "read_volumes",
        "read_water_balance",
        "read_weather",
        "read_weather_of_basin",
        "list_edr_instance_locations",
        "list_edr_instances",
        "read_archive",
        "read_archive_file",
        "read_edr_area",
        "read_edr_cube",
        "read_edr_instance",
        "read_edr_instance_area",
        "read_edr_instance_cube",
        "read_edr_instance_location",
        "read_edr_instance_position",
        "read_edr_position",
    }


def test_every_operation_is_explained(document: dict[str, Any]) -> None:
    assert document["info"]["title"] == "Freshet"
    tags = {tag["name"] for tag in document["tags"]}
    for name, operation in operations(document).items():
        assert operation["summary"] != name.replace("_", " ").title()
        assert operation["description"]
        assert set(operation["tags"]) <= tags
        for parameter in operation.get("parameters", []):
            assert parameter["description"]


def test_every_error_has_the_shape_of_problem_details(document: dict[str, Any]) -> None:
    for operation in operations(document).values():
        errors = {status: result for status, result in operation["responses"].items() if status >= "400"}
        assert {"422", "500", "503"} <= set(errors)
        for result in errors.values():
            (media_type,) = result["content"]
            assert media_type == "application/problem+json"
            assert result["content"][media_type]["schema"] == {"$ref": "#/components/schemas/ProblemDetails"}
            assert result["content"][media_type]["examples"]
    assert "HTTPValidationError" not in document["components"]["schemas"]


def test_a_forecast_documents_its_problems(document: dict[str, Any]) -> None:
    not_found = operations(document)["read_latest_forecast"]["responses"]["404"]
    examples = not_found["content"]["application/problem+json"]["examples"]
    assert set(examples) == {"unknown-basin", "no-model", "no-forecast"}


def models(above: type[AnyModel]) -> Iterator[type[AnyModel]]:
    """Yield every model below another."""
    for model in above.__subclasses__():
        yield model
        yield from models(model)


def test_no_two_models_share_a_name(document: dict[str, Any]) -> None:
    """A second model of a name would take its place in the document, or both would get a name that nobody gave them."""
    roots = {"app", "extensions", "jobspec", "hydrology", "records"}  # answers show data classes of the last two
    ours = {model for model in models(BaseModel) if model.__module__.split(".")[0] in roots}
    public = [model.__name__ for model in ours if model.__name__ in document["components"]["schemas"]]
    assert [name for name, times in Counter(public).items() if times > 1] == []
    assert [name for name in document["components"]["schemas"] if not re.fullmatch("[A-Za-z0-9]+", name)] == []
    assert not re.search("-(Input|Output)", json.dumps(document))


def test_the_forecast_shows_its_nulls(document: dict[str, Any]) -> None:
    content = operations(document)["read_latest_forecast"]["responses"]["200"]["content"]["application/json"]
    assert content["schema"] == {"$ref": "#/components/schemas/BasinForecast"}
    (example,) = document["components"]["schemas"]["BasinForecast"]["examples"]
    assert (example["reason"], example["superseded_by"]) == (None, None)


def test_the_document_is_served_as_it_is(sqlite_client: TestClient, document: dict[str, Any]) -> None:
    assert sqlite_client.get("/openapi.json").json() == filled(document, {"collection": "forecasts"})
    assert sqlite_client.get("/openapi.json").json() == filled(document, {"collection": "forecasts"})


def test_forecasts_come_first(document: dict[str, Any]) -> None:
    assert document["tags"][0]["name"] == "forecasts"
    assert next(iter(document["paths"])) == "/v1/basins/{basin}/forecasts/latest"


def examples(document: dict[str, Any]) -> dict[str, str]:
    """Return the examples of parameters by their names."""
    parameters = [
        parameter for operation in operations(document).values() for parameter in operation.get("parameters", [])
    ]
    return {parameter["name"]: parameter["example"] for parameter in parameters if "example" in parameter}


def test_every_address_that_is_tried_out_exists(sqlite_database: Database, sqlite_client: TestClient) -> None:
    with sqlite_database.transaction() as session:
        a_basin(session, "SYNTH-07")
    only_basins = examples(sqlite_client.get("/openapi.json").json())
    with sqlite_database.transaction() as session:
        a_basin(session)
        version = a_promoted_version(session)
        run = a_run(session, version, forecast()).id
    document = sqlite_client.get("/openapi.json").json()

    assert only_basins == {"collection": "forecasts", "basin": "SYNTH-07", "product": "synth"}
    assert examples(document) == {
        "collection": "forecasts",
        "basin": BASIN,
        "product": "usgs",
        "run": run,
        "instance": run,
        "version": version,
    }
    filled_in = [
        one["name"] for one in operations(document)["list_basins"]["parameters"] if "examples" in one["schema"]
    ]
    assert filled_in == []
    (new_basin,) = operations(document)["put_basin"]["parameters"]
    assert new_basin["schema"]["examples"] == ["OWN-mill"]


def test_a_closed_service_names_no_basin_in_its_document(sqlite: str, sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        a_basin(session, "SYNTH-07")
    with serving(sqlite, read_needs_key=True) as client:
        assert examples(client.get("/openapi.json").json()) == {}


def test_every_kind_of_job_has_an_example_that_is_accepted(document: dict[str, Any]) -> None:
    body = operations(document)["post_job"]["requestBody"]["content"]["application/json"]
    assert set(body["examples"]) == set(REQUESTABLE)
    for kind, example in body["examples"].items():
        assert read(kind, example["value"]["params"]).kind == kind == example["value"]["kind"]


def test_the_front_door_is_a_page_that_leads_to_the_documentation(sqlite_client: TestClient) -> None:
    answer = sqlite_client.get("/")
    assert answer.status_code == 200
    assert 'href="/docs"' in answer.text
    assert "No basin is stored yet." in answer.text


def test_the_documentation_needs_no_internet(sqlite_client: TestClient) -> None:
    page = sqlite_client.get("/docs").text
    assets = re.findall(r'<(?:script src|link rel="stylesheet" href|div id="swagger-ui" data-bundle)="([^"]+)"', page)
    assert len(assets) >= 4
    for asset in assets:
        assert asset.startswith("/")
        assert sqlite_client.get(asset).status_code == 200
    for style in (asset for asset in assets if asset.endswith(".css")):
        assert not re.search(r"(?:@import|url\()\s*['\"]?(?:https?:)?//", sqlite_client.get(style).text)
    assert sqlite_client.get("/redoc").status_code == 404


HEAVY = {"torch", "xarray", "pandas", "scipy", "netCDF4", "pyarrow", "models", "ingestion"}


def test_the_service_loads_nothing_heavy() -> None:
    code = "import sys, app.main; print(*sys.modules, sep='\\n')"
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    loaded = {name.partition(".")[0] for name in result.split()}
    assert {"app", "records", "hydrology"} <= loaded
    assert not loaded & HEAVY
    assert {name for name in result.split() if name.startswith(("workers.", "operations."))} == {
        "workers.queue",
        "workers.queue.broker",
        "workers.queue.enqueue",
        "workers.queue.uploads",
    }


KEYED = (
    *("/metrics", "/v1/jobs", "/v1/feeds", "/v1/schedules", "/v1/audit", "/v1/subscriptions", "/v1/deliveries"),
    *("/v1/adjustments", "/v1/alerts/held", "/v1/ratings/held", "/v1/shadow"),
)


def test_writing_and_reading_of_jobs_and_schedules_need_a_key(document: dict[str, Any]) -> None:
    assert document["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    for address, path in document["paths"].items():
        for method, operation in path.items():
            keyed = method != "get" or address.startswith(KEYED)
            assert operation.get("security", []) == ([{"key": []}] if keyed else [])
            assert ("401" in operation["responses"]) == keyed
            assert ({"403", "413"} <= set(operation["responses"])) == (method != "get")
