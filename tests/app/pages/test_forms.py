"""A form offers what the contract takes, and only its script sends it."""

import re
from pathlib import Path
from typing import Any

import pytest

import app.pages
from app.pages.render import form_of
from jobspec.jobs.forecasting import ForecastParams
from jobspec.kinds import REQUESTABLE
from jobspec.subscriptions import NewSubscription

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
