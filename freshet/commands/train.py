"""`freshet train`: train an ensemble, or fine-tune another one."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import TypeAdapter
from rich.console import RenderableType
from sqlalchemy.orm import Session

from freshet.cli.context import opened
from freshet.cli.job_command import Device, Done, carry_out
from freshet.cli.options import Basins, option
from freshet.cli.output import Json, table
from freshet.cli.text_files import Fields, of_file, valid
from hydrology.base.errors import InvalidInput, counted
from jobspec.extensions import extensions
from jobspec.jobs.training import TrainingParams
from jobspec.network import ARCHITECTURES
from jobspec.training import AnyTraining, FineTuningConfig, TrainingConfig, sequence_to_one
from operations.basin_data import basins


class Protocol(StrEnum):
    """How a training samples the record: windows whose days are all scored, or one day a sample."""

    SEQUENCE_TO_SEQUENCE = "sequence-to-sequence"
    SEQUENCE_TO_ONE = "sequence-to-one"

    def fields(self) -> Fields:
        """Return the fields of a training that it sets; the defaults are those of sequence-to-sequence."""
        return sequence_to_one() if self is Protocol.SEQUENCE_TO_ONE else {}


def _field(name: str, metavar: str, more: str = "") -> Any:
    """Return the option that sets a field of a training, with the description and the default of the contract."""
    field = TrainingConfig.model_fields[name]
    default = "" if field.is_required() or field.default is None else f" Default: {field.default}{more}."
    return option(metavar, f"{field.description}{default}")


Architecture = Annotated[
    str | None, option("NAME", f"The network: {', '.join(ARCHITECTURES)}. Default: {ARCHITECTURES[0]}.")
]
ProtocolName = Annotated[Protocol, option("NAME", f"{' or '.join(Protocol)} (the MC-LSTM paper's: one day a sample).")]
FieldValues = Annotated[
    list[str] | None,
    option("FIELD=VALUE", "Any field of the training, e.g. windows.batch=64; repeat it for more.", "--set"),
]


def train(
    train_period: Annotated[str | None, _field("train_period", "FIRST..LAST")] = None,
    validation_period: Annotated[str | None, _field("validation_period", "FIRST..LAST")] = None,
    parent: Annotated[
        str | None, option("VERSION", "Fine-tune this version instead of training from scratch.", "--from")
    ] = None,
    basin: Basins = None,
    product: Annotated[str | None, option("PRODUCT", "Forcing product. Default: the only one stored.")] = None,
    architecture: Architecture = None,
    protocol: ProtocolName = Protocol.SEQUENCE_TO_SEQUENCE,
    members: Annotated[int | None, _field("members", "COUNT", ", with --from all of the parent's")] = None,
    seed: Annotated[int | None, _field("seed", "NUMBER")] = None,
    settings: FieldValues = None,
    config: Annotated[
        Path | None, option("FILE", "Fields of the training as JSON or TOML; options override them.")
    ] = None,
    judge_on: Annotated[
        str | None,
        option(
            "FIRST..LAST",
            "Days unused in training, four water years or more: a version that is better on them becomes current.",
        ),
    ] = None,
    label: Annotated[str | None, option("TEXT", "A name for the version.")] = None,
    tensorboard: Annotated[
        Path | None, option("FOLDER", "Write the training curves there as event files of TensorBoard.")
    ] = None,
    device: Device = None,
    as_json: Json = False,
) -> None:
    """Train an ensemble, or with --from fine-tune one. Run again, the command continues from the last checkpoint.

    Without --basin it learns from every stored basin. A fine-tuned version forecasts no basin until --judge-on or
    `freshet models promote` makes it current. The fields of --set and --config are documented with the API (/docs),
    as the `config` of a training job.
    """
    options = {
        "train_period": train_period,
        "validation_period": validation_period,
        "parent": parent,
        "network": {"architecture": architecture},
        "members": members,
        "seed": seed,
    }
    write = None if tensorboard is None else _event_writer(tensorboard)
    fields = merged(protocol.fields(), of_file(config), options, of_settings(settings or []))
    with opened() as context, context.database.reading() as session:
        training = checked(_with_product(session, fields, product))
    rule = None if judge_on is None else {"period": judge_on, "promote": True}
    given = {"config": training, "basins": basin or [], "label": label, "compare": rule}
    params = valid(TrainingParams, given, "training")
    result = carry_out("training", params, _members, as_json, partly=None, has_device=True, device=device)
    if write is not None:
        with opened(reads=True) as context, context.database.reading() as session:
            write(session, result["version"])


def _event_writer(folder: Path) -> Callable[[Session, str], object]:
    for extension in extensions():
        if extension.training_events:
            writer: Callable[[Session, str], object] = extension.load(extension.training_events)(folder)
            return writer
    raise InvalidInput("--tensorboard needs the extension curves: name it in FRESHET_EXTENSIONS, or leave it out.")


def _with_product(session: Session, fields: Fields, product: str | None) -> Fields:
    """Return the fields with the forcing product; by default the parent's, or from scratch the only stored one."""
    if "parent" in fields:
        return merged(fields, {"product": product})
    inputs = fields.get("inputs", {})
    if product is None and isinstance(inputs, dict) and "product" not in inputs:
        product = only_forcing(session)
    return fields if product is None else merged(fields, {"inputs": {"product": product}})


def _members(done: Done) -> Iterator[RenderableType]:
    result = done.result
    title = f"Version {result['version']} of {counted(result['basins'], 'basin')}"
    if result["already"]:
        title += ", trained before"
    validated = result["validation_basins"]
    over = "" if validated is None else f" over {counted(validated, 'basin')}"
    yield table(["member", f"best validation NSE (median{over})"], list(result["validation_nse"].items()), title)


def only_forcing(session: Session) -> str:
    """Return the only stored forcing product."""
    products = basins.forcing_products(session)
    if len(products) == 1:
        return products[0]
    if not products:
        raise InvalidInput("No forcing is stored here yet: ingest some first (freshet ingest camels --from FOLDER).")
    raise InvalidInput(f"Several forcing products are stored ({', '.join(products)}): choose one with --product.")


_TRAINING: TypeAdapter[TrainingConfig | FineTuningConfig] = TypeAdapter(AnyTraining)


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
    """Return the fields that texts `FIELD=VALUE` set: the field a dotted path, the value JSON or else plain text."""
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


def checked(fields: Fields) -> TrainingConfig | FineTuningConfig:
    """Return the training that the fields describe; with `parent` a fine-tuning."""
    if "parent" in fields:
        return valid(_TRAINING, fields, "fine-tuning", " (its network, inputs and loss are those of its parent)")
    return valid(_TRAINING, fields, "training")


def _json_or_text(value: str) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
