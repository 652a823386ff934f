"""Examples of answers in the OpenAPI document: real ones, written by `make examples`.

A file has the answers of one tag: by schema, or by operation where the answer is text.
"""

import json
from functools import cache
from importlib import resources
from typing import Any

from jobspec.extensions import extensions


@cache
def all_examples() -> dict[str, Any]:
    """Return the examples of all tags and extensions by schema or operation."""
    files = [file for file in resources.files(__name__).iterdir() if file.name.endswith(".json")]
    files += [extension.folder / "examples.json" for extension in extensions()]
    files = [file for file in files if file.is_file()]
    return {name: example for file in files for name, example in json.loads(file.read_text("utf-8")).items()}
