"""A form offers what the contract takes, and only its script sends it."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient

import app.pages
from app.pages.forms import form_of
from app.versions.schemas import NewPromotion
from jobspec.feed_kinds import NewFeed
from jobspec.jobs.forecasting import ForecastParams
from jobspec.kinds import REQUESTABLE
from jobspec.levels import FixedLevel
from jobspec.subscriptions import NewSubscription
from records.database.engine import Database
from testing.records import BASIN
from tests.app import factories
from tests.app.conftest import bearer
from tests.app.forecasts.test_forecasts import fill_records

TEMPLATES = Path(app.pages.__file__).parent / "templates"


def _params(kind: str) -> Any:
    return REQUESTABLE[kind].model_fields["params"].annotation


@pytest.mark.parametrize("kind", [kind for kind in REQUESTABLE if isinstance(_params(kind), type)])
def test_every_field_of_a_kind_of_job_can_be_entered(kind: str) -> None:
    model = _params(kind)
    names = [field.alias or name for name, field in model.model_fields.items()]
    form = form_of(model)
    assert [field.name for field in form] == names
    assert [field.name for field in form if field.required] == [
        field.alias or name for name, field in model.model_fields.items() if field.is_required()
    ]


def test_fields_are_entered_by_their_type() -> None:
    by_name = {field.name: field for field in form_of(ForecastParams)}
    assert (by_name["horizon"].entry, by_name["horizon"].default) == ("number", "10")
    assert (by_name["basins"].entry, by_name["basins"].default) == ("list", "")
    assert by_name["weather"].entry == "choice"
    assert by_name["weather"].default in by_name["weather"].choices
    assert by_name["t0"].entry == "text"


def test_a_nullable_field_is_entered_like_its_other_type() -> None:
    by_name = {field.name: field for field in form_of(NewSubscription)}
    assert (by_name["basins"].entry, by_name["basins"].required) == ("list", False)
    assert by_name["least_severity"].choices == ["advisory", "watch", "warning"]


FORMS = [*map(_params, REQUESTABLE), FixedLevel, NewFeed, NewPromotion, NewSubscription]


def _inputs(fields: Iterable[SimpleNamespace], prefix: str = "") -> Iterator[tuple[str, SimpleNamespace]]:
    """Yield the inputs of a form with their dotted names, in each variant."""
    for field in fields:
        name = f"{prefix}{field.name}"
        match field.entry:
            case "group":
                yield from _inputs(field.fields, f"{name}.")
            case "variants":
                yield from (one for variant in field.variants for one in _inputs(variant.fields, f"{name}."))
            case _:
                yield name, field


def test_no_field_of_any_form_is_entered_as_json() -> None:
    """Each input is of one value or a flat list, and no template has an input of its own for more."""
    names = [name for model in FORMS for name, _ in _inputs(form_of(model))]
    assert {"digest.at", "template.body", "fit.from", "changes.storm.mm", "config.network.cells"} <= set(names)
    assert {"config.parent", "settings.series", "config.schedule.rates", "compare.period"} <= set(names)
    entries = {field.entry for model in FORMS for _, field in _inputs(form_of(model))}
    assert entries == {"text", "lines", "number", "boolean", "choice", "list", "rows", "pairs"}
    for file in TEMPLATES.rglob("*.html"):
        assert not re.search('data-entry="json"|As JSON', file.read_text()), file


def test_every_input_takes_the_type_that_the_contract_has() -> None:
    """A text is sent as a text: a number, or an object, entered as one would be refused."""
    for model in FORMS:
        schema = model.model_json_schema(by_alias=True)
        texts = {name for name, field in _inputs(form_of(model)) if field.entry in ("text", "lines")}
        assert {
            name: kind for name, kind in _leaves(schema, schema.get("$defs", {})) if name in texts
        } == dict.fromkeys(texts, "string")


def _leaves(schema: dict[str, Any], definitions: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the dotted names and types of a schema's innermost fields."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    options = [one for one in (*schema.get("anyOf", ()), *schema.get("oneOf", ())) if one.get("type") != "null"]
    for option in options:
        yield from _leaves(option, definitions, prefix)
    if "properties" in schema:
        for name, field in schema["properties"].items():
            yield from _leaves(field, definitions, f"{prefix}.{name}")
    elif not options:
        yield prefix.removeprefix("."), schema.get("type", "any")


def test_what_an_optional_group_needs_does_not_hold_up_the_form_without_it() -> None:
    """A browser sends no form with an empty field that is required, even where nobody wants the group."""
    fields = dict(_inputs(form_of(NewSubscription)))
    assert not fields["digest.at"].required
    assert "needed with the others" in fields["digest.at"].label
    assert dict(_inputs(form_of(_params("training"))))["config.inputs.product"].required


def test_the_form_of_a_level_begins_in_the_unit_that_the_reader_has_chosen(
    sqlite_database: Database, sqlite_client: TestClient
) -> None:
    fill_records(sqlite_database, factories.forecast())
    headers = bearer(sqlite_database)
    for units, unit in (("cfs", "cfs"), ("m3/s", "m3/s"), ("mm/day", "m3/s")):
        page = sqlite_client.get(f"/basins/{BASIN}/levels", params={"units": units}, headers=headers).text
        assert re.findall(r"<option selected>(.*?)</option>", page[page.index('name="unit"') :])[0] == unit


def test_what_the_script_sends_the_browser_cannot_send_before_it() -> None:
    """A form that the browser sends has its fields in the address, where keys and receivers do not belong."""
    templates = "".join(file.read_text() for file in TEMPLATES.rglob("*.html"))
    forms = re.findall(r"<form [^>]*data-(?:call|key)\b.*?</form>", templates, re.DOTALL)
    assert len(forms) > 10
    for form in forms:
        buttons = re.findall(r"<button[^>]*>", form)
        assert buttons
        assert all(" disabled" in button for button in buttons)
    assert all("name=" not in field for field in re.findall(r'<input type="password"[^>]*>', templates))
