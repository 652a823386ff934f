"""Reads fields from the command line and checks them against their contract.

For a training, `--set` overrides options, options override a file, and a file overrides the protocol.
"""

import json
import tomllib
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from freshet.cli.text_files import read_text
from hydrology.base.errors import InvalidInput
from jobspec.faults import faults
from jobspec.training import AnyTraining, FineTuningConfig, TrainingConfig, sequence_to_one

Fields = dict[str, Any]
T = TypeVar("T")
_TRAINING: TypeAdapter[TrainingConfig | FineTuningConfig] = TypeAdapter(AnyTraining)


class Protocol(StrEnum):
    """How a training samples the record: windows whose days are all scored, or one day a sample."""

    SEQUENCE_TO_SEQUENCE = "sequence-to-sequence"
    SEQUENCE_TO_ONE = "sequence-to-one"

    def fields(self) -> Fields:
        """Return the fields of a training that it sets; the defaults are those of sequence-to-sequence."""
        return sequence_to_one() if self is Protocol.SEQUENCE_TO_ONE else {}


def merged(*layers: Mapping[str, Any]) -> Fields:
    """Return the fields of all layers; a later layer overrides an earlier one, and None sets nothing."""
    fields: Fields = {}
    for layer in layers:
        for name, value in layer.items():
            earlier = fields.get(name)
            if isinstance(value, dict):
                fields[name] = merged(earlier if isinstance(earlier, dict) else {}, value)
            elif value is not None:
                fields[name] = value
    return {name: value for name, value in fields.items() if value != {}}


def of_settings(settings: Iterable[str]) -> Fields:
    """Return the fields that texts `FIELD=VALUE` set: the field a dotted path, the value JSON or else plain text.

    Raises:
        InvalidInput: a text is not of that form.
    """
    fields: Fields = {}
    for text in settings:
        path, separator, value = text.partition("=")
        names = path.split(".")
        if not separator or not all(names):
            raise InvalidInput(f"--set {text!r} does not set a field: write FIELD=VALUE, e.g. windows.batch=64.")
        layer: Any = _json_or_text(value)
        for name in reversed(names):
            layer = {name: layer}
        fields = merged(fields, layer)
    return fields


def of_file(file: Path | None) -> Fields:
    """Return the fields that a JSON or TOML file sets.

    Raises:
        InvalidInput: it cannot be read; the sentence does not quote it.
    """
    if file is None:
        return {}
    try:
        content = read_text(file)
        fields = tomllib.loads(content) if file.suffix == ".toml" else json.loads(content)
    except (ValueError, RecursionError):
        raise _unreadable(file, f"it is not {'TOML' if file.suffix == '.toml' else 'JSON'}") from None
    if not isinstance(fields, dict):
        raise _unreadable(file, "it is not an object")
    return fields


def checked(fields: Fields) -> TrainingConfig | FineTuningConfig:
    """Return the training that the fields describe; with `parent` a fine-tuning.

    Raises:
        InvalidInput: a field is unknown, missing or invalid; the sentence names it.
    """
    if "parent" in fields:
        return valid(_TRAINING, fields, "fine-tuning", " (its network, inputs and loss are those of its parent)")
    return valid(_TRAINING, fields, "training")


def valid(contract: TypeAdapter[T], fields: Fields, work: str, note: str = "") -> T:
    """Return the validated object that the fields describe.

    Args:
        work: the name of the work in the error message.
        note: an addition to the message.

    Raises:
        InvalidInput: a field is unknown, missing or invalid; the sentence names it.
    """
    try:
        return contract.validate_python(fields)
    except ValidationError as error:
        raise InvalidInput(f"The {work} is not possible{note}: {faults(error, fields)}.") from None


def _json_or_text(value: str) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _unreadable(file: Path, why: str | None) -> InvalidInput:
    return InvalidInput(f"The configuration {file} cannot be read ({why}): give a JSON or TOML file.")
