"""From the options of `freshet train` to the configuration of a training."""

from enum import StrEnum
from typing import Any, TypeVar

from pydantic import ValidationError

from hydrology.errors import InvalidInput
from jobspec.training import Cosine, FineTuningConfig, Staircase, TrainingConfig, sequence_to_one

Config = TypeVar("Config", TrainingConfig, FineTuningConfig)
Options = dict[str, Any]
"""What was chosen, by field; None where nothing was."""


class Protocol(StrEnum):
    """How a training samples the record."""

    WINDOWS = "windows"
    SEQUENCE_TO_ONE = "sequence-to-one"


def from_scratch(protocol: Protocol, settings: Options, windows: Options, schedule: Options) -> TrainingConfig:
    """Return the configuration of a protocol under what was chosen.

    Raises:
        InvalidInput: a choice is not possible, or does not belong to the protocol.
    """
    base = {"windows": {}, "schedule": {}} if protocol is Protocol.WINDOWS else sequence_to_one()
    fields = (Cosine if protocol is Protocol.WINDOWS else Staircase).model_fields
    if foreign := sorted(set(given(schedule)) - set(fields)):
        raise InvalidInput(f"{option(foreign[0])} does not belong to the protocol {protocol}: leave it out.")
    asked = given(settings) | {
        "windows": base["windows"] | given(windows),
        "schedule": {"kind": "cosine"} | base["schedule"] | given(schedule),
    }
    return _checked(TrainingConfig, asked)


def fine_tuning(settings: Options, windows: Options, schedule: Options, foreign: Options) -> FineTuningConfig:
    """Return the configuration of a fine-tuning under what was chosen.

    Args:
        foreign: what only a training from scratch can choose.

    Raises:
        InvalidInput: a choice is not possible, or is the parent's.
    """
    if chosen := sorted(given(foreign)):
        raise InvalidInput(f"{option(chosen[0])} does not belong to a fine-tuning, its parent has it: leave it out.")
    if settings["validation_period"] is None:
        raise InvalidInput(
            "A fine-tuning needs --validation-period: those days tell whether, and when, it is better than its parent."
        )
    return _checked(FineTuningConfig, given(settings) | {"windows": given(windows), "schedule": given(schedule)})


def given(options: Options) -> Options:
    """Return the options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def option(field: str) -> str:
    """Return the option that sets a field of a configuration."""
    named = {"peak": "learning-rate", "auxiliary": "input", "static": "attribute", "parent": "from"}
    return "--" + named.get(field, field.replace("_", "-"))


def _checked(model: type[Config], asked: Options) -> Config:
    try:
        return model.model_validate(asked)
    except ValidationError as error:
        network = asked.get("network", {}).get("architecture", "a fine-tuning")
        faults = "; ".join(
            f"{option(str(fault['loc'][-1]))}: "
            + (f"it does not belong to {network}, leave it out" if fault["type"] == "extra_forbidden" else fault["msg"])
            for fault in error.errors()
        )
        raise InvalidInput(f"The training cannot be configured so: {faults}.") from None
