"""`freshet train`: train an ensemble, or fine-tune another one."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import TypeAdapter
from sqlalchemy.orm import Session

from freshet.cli.context import Context, cores, opened
from freshet.cli.job_command import Device, take_device
from freshet.cli.options import Basins, BasinsFile
from freshet.cli.output import Json, answer, inform, inform_left_out, reporting, table
from freshet.cli.text_files import Fields, listed, of_file, valid
from hydrology.base.calendar import Period
from hydrology.base.errors import InvalidInput, counted
from jobspec.jobs.training import PromotionRule
from jobspec.network import ARCHITECTURES
from jobspec.training import AnyTraining, FineTuningConfig, TrainingConfig, sequence_to_one
from operations.basin_data.basins import chosen_to_learn_from, forcing_products
from records.database.base import to_json
from records.database.stored import as_values
from records.versions.versions import get as get_version

if TYPE_CHECKING:
    from models.training import Progress
    from operations.training.assemble import Trained
    from records.versions.version_properties import PromotionDecision


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
    return typer.Option(metavar=metavar, help=f"{field.description}{default}")


Architecture = Annotated[
    str | None,
    typer.Option(metavar="NAME", help=f"The network: {', '.join(ARCHITECTURES)}. Default: {ARCHITECTURES[0]}."),
]
ProtocolName = Annotated[
    Protocol, typer.Option(metavar="NAME", help=f"{' or '.join(Protocol)} (the MC-LSTM paper's: one day a sample).")
]
FieldValues = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="FIELD=VALUE", help="Any field of the training, e.g. windows.batch=64; repeat it for more."
    ),
]


def train(
    train_period: Annotated[str | None, _field("train_period", "FIRST..LAST")] = None,
    validation_period: Annotated[str | None, _field("validation_period", "FIRST..LAST")] = None,
    parent: Annotated[
        str | None,
        typer.Option("--from", metavar="VERSION", help="Fine-tune this version instead of training from scratch."),
    ] = None,
    basin: Basins = None,
    basins_file: BasinsFile = None,
    product: Annotated[
        str | None, typer.Option(metavar="PRODUCT", help="Forcing product. Default: the only one stored.")
    ] = None,
    architecture: Architecture = None,
    protocol: ProtocolName = Protocol.SEQUENCE_TO_SEQUENCE,
    members: Annotated[int | None, _field("members", "COUNT", ", with --from all of the parent's")] = None,
    seed: Annotated[int | None, _field("seed", "NUMBER")] = None,
    settings: FieldValues = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Fields of the training as JSON or TOML; options override them."),
    ] = None,
    judge_on: Annotated[
        str | None,
        typer.Option(
            metavar="FIRST..LAST",
            help="Days unused in training, four water years or more: a version that is better on them becomes current.",
        ),
    ] = None,
    label: Annotated[str | None, typer.Option(metavar="TEXT", help="A name for the version.")] = None,
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
    fields = merged(protocol.fields(), of_file(config), options, of_settings(settings or []))
    with opened() as context:
        with context.database.reading() as session:
            basins = chosen_to_learn_from(session, [*(basin or []), *listed(basins_file)], None)
            training = checked(_with_product(session, fields, product))
        on = take_device(context.settings, device)
        trained, decision = _train(context, training, basins, label, on, judge_on)
        _report(context, trained, decision, label)
    payload = as_values(trained) | ({} if decision is None else {"decision": to_json(decision)})
    answer(payload, as_json, _members(trained))


def _with_product(session: Session, fields: Fields, product: str | None) -> Fields:
    """Return the fields with the forcing product; by default the parent's, or from scratch the only stored one."""
    if "parent" in fields:
        return merged(fields, {"product": product})
    inputs = fields.get("inputs", {})
    if product is None and isinstance(inputs, dict) and "product" not in inputs:
        product = only_forcing(session)
    return fields if product is None else merged(fields, {"inputs": {"product": product}})


def _train(
    context: Context,
    config: TrainingConfig | FineTuningConfig,
    basins: list[str],
    label: str | None,
    device: str,
    judge_on: str | None,
) -> tuple["Trained", "PromotionDecision | None"]:
    from operations.training.promotion_rule import decide, require_decidable
    from operations.training.train import train as run

    rule = None if judge_on is None else PromotionRule(period=Period.parse(judge_on), promote=True)
    if rule is not None:
        with context.database.reading() as session:
            require_decidable(session, config, rule)
    with reporting() as reporter:

        def show(member: int, progress: "Progress") -> None:
            reporter.show(f"member {member}", progress.step, progress.steps, describe(progress))

        trained = run(
            replace(context, cores=cores(context.settings.threads)),
            config,
            basins,
            label=label,
            device=device,
            on_progress=show,
            on_split=inform,
        )
        if not trained.already:
            counts = {"basins": len(trained.basins), "promoted": len(trained.promoted)}
            context.record("model trained", trained.version_id, **counts)
        if rule is None:
            return trained, None
        judging = replace(context, progress=partial(reporter.show, "judged basins"))
        decision = decide(judging, trained.version_id, rule, refused=trained.refused)
    if decision.promoted:
        context.record("model promoted", trained.version_id, reason=decision.sentence)
    return trained, decision


def _report(context: Context, trained: "Trained", decision: "PromotionDecision | None", label: str | None) -> None:
    inform_left_out(trained.left_out.values())
    if trained.refused is not None:
        inform(trained.refused)
    with context.database.reading() as session:
        current_label = get_version(session, trained.version_id).label
    if label not in (None, current_label):
        old_label = "no label" if current_label is None else f"the label {current_label!r}"
        inform(f"Version {trained.version_id} existed before and retains {old_label}: --label names only new versions.")
    if decision is not None:
        inform(f"{decision.sentence} Basins that use it from now on: {', '.join(decision.promoted) or 'none'}.")


def _members(trained: "Trained") -> Any:
    title = f"Version {trained.version_id} of {counted(len(trained.basins), 'basin')}"
    if trained.already:
        title += ", trained before"
    over = "" if trained.validation_basins is None else f" over {counted(trained.validation_basins, 'basin')}"
    return table(["member", f"best validation NSE (median{over})"], list(trained.validation_nse.items()), title)


def only_forcing(session: Session) -> str:
    """Return the only stored forcing product.

    Raises:
        InvalidInput: there is none, or there are several.
    """
    products = forcing_products(session)
    if len(products) == 1:
        return products[0]
    if not products:
        raise InvalidInput("No forcing is stored here yet: ingest some first (freshet ingest camels --from FOLDER).")
    raise InvalidInput(f"Several forcing products are stored ({', '.join(products)}): choose one with --product.")


def describe(progress: "Progress") -> str:
    """Return the progress of a training in words."""
    loss, score = f"loss {progress.loss:.4f}", progress.validation
    return (
        loss
        if score is None
        else f"{loss}, median validation NSE {score.value:.3f} over {counted(score.basins, 'basin')}"
    )


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


def checked(fields: Fields) -> TrainingConfig | FineTuningConfig:
    """Return the training that the fields describe; with `parent` a fine-tuning.

    Raises:
        InvalidInput: a field is unknown, missing or invalid; the sentence names it.
    """
    if "parent" in fields:
        return valid(_TRAINING, fields, "fine-tuning", " (its network, inputs and loss are those of its parent)")
    return valid(_TRAINING, fields, "training")


def _json_or_text(value: str) -> Any:
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
