"""The examples of the API are the answers of a small service, and stay so."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from app.examples import all_examples
from app.http.base_schema import Model
from tests import openapi
from tests.app.http.test_main import models, operations
from tests.examples.compare import difference
from tests.examples.generate import documented, files, generate, written


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The OpenAPI document."""
    return openapi.document()


def test_the_examples_are_what_the_service_answers(migrated_sqlite: Path, tmp_path: Path) -> None:
    generated = generate(Path(shutil.copy(migrated_sqlite, tmp_path / "freshet.sqlite")))
    assert set(generated) == files()
    for name, examples in generated.items():
        assert difference(written(name), examples) is None, "run: make examples"


def test_every_documented_answer_has_an_example(document: dict[str, Any]) -> None:
    named = {
        name
        for operation in operations(document).values()
        for status in operation["responses"]
        if status < "300"
        for name in documented(operation, status)
    }
    assert named == set(all_examples())


def test_an_example_is_an_answer_of_its_schema(document: dict[str, Any]) -> None:
    by_name = {model.__name__: model for model in models(Model) if not model.__module__.startswith("tests.")}
    for name, example in all_examples().items():
        if isinstance(example, str):
            (content,) = operations(document)[name]["responses"]["200"]["content"].values()
            assert content["example"] == example
        else:
            model = by_name[name].model_validate_json(json.dumps(example))
            assert model.model_dump(mode="json", exclude_unset=True, by_alias=True) == example
            assert document["components"]["schemas"][name]["examples"] == [example]


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ({"a": [1.0, 2.0]}, {"a": [1.0, 2.001]}, None),
        ({"a": [1.0, 2.0]}, {"a": [1.0, 2.1]}, ".a[1]: 2.0 and 2.1"),
        ({"n": 3}, {"n": 4}, ".n: 3 and 4"),
        ({"n": 3}, {"m": 3}, ": {'n': 3} and {'m': 3}"),
        ("It is 2.31 mm.", "It is 2.32 mm.", None),
        ("It is 2.31 mm.", "It is 2.51 mm.", ": 'It is 2.31 mm.' and 'It is 2.51 mm.'"),
        ("In 3 of 10 members.", "In 4 of 10 members.", ": 'In 3 of 10 members.' and 'In 4 of 10 members.'"),
        ("It is 2.31 mm.", "It is 2.31 cm.", ": 'It is 2.31 mm.' and 'It is 2.31 cm.'"),
        ("0" * 22, "1" * 22, f": {'0' * 22!r} and {'1' * 22!r}"),
        (None, 1.0, ": None and 1.0"),
    ],
)
def test_examples_are_equal_but_for_the_last_digits(one: Any, other: Any, found: str | None) -> None:
    assert difference(one, other) == found
