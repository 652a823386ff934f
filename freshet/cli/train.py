"""`freshet train`: an ensemble from observations, or from another ensemble and observations."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from sqlalchemy.orm import Session

from freshet.cli.configuring import Fields, Protocol, checked, merged, of_file, of_settings
from freshet.cli.context import Context, opened, use_threads
from freshet.cli.output import Json, answer, say, table
from freshet.cli.progress import reporting
from hydrology.errors import InvalidInput
from jobspec.network import ARCHITECTURES
from jobspec.training import FineTuningConfig, TrainingConfig
from operations.basins import chosen, forcing_products
from records.promotion_decision import Rule
from records.versions import get as get_version

if TYPE_CHECKING:
    from models.training import Progress
    from operations.train import Trained
    from records.promotion_decision import PromotionDecision


def _field(name: str, metavar: str, more: str = "") -> Any:
    """Return the option that sets a field of a training; what it says of it is the contract's."""
    field = TrainingConfig.model_fields[name]
    default = "" if field.is_required() or field.default is None else f" Default: {field.default}{more}."
    return typer.Option(metavar=metavar, help=f"{field.description}{default}")


Basins = Annotated[list[str] | None, typer.Option("--basin", metavar="BASIN", help="A basin; repeat it for more.")]
BasinsFile = Annotated[Path | None, typer.Option(metavar="FILE", help="A file with a basin a line.")]


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
        str | None, typer.Option(metavar="PRODUCT", help="Forcing product. Default: the only one kept.")
    ] = None,
    architecture: Annotated[
        str | None,
        typer.Option(metavar="NAME", help=f"The network: {', '.join(ARCHITECTURES)}. Default: {ARCHITECTURES[0]}."),
    ] = None,
    protocol: Annotated[
        Protocol, typer.Option(metavar="NAME", help=f"{' or '.join(Protocol)} (the MC-LSTM paper's: one day a sample).")
    ] = Protocol.SEQUENCE_TO_SEQUENCE,
    members: Annotated[int | None, _field("members", "COUNT", ", with --from all of the parent's")] = None,
    seed: Annotated[int | None, _field("seed", "NUMBER")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="FIELD=VALUE", help="Any field of the training, e.g. windows.batch=64; repeat it for more."
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Fields of the training as JSON or TOML; options override them."),
    ] = None,
    judge_on: Annotated[
        str | None,
        typer.Option(
            metavar="FIRST..LAST",
            help="Unused days, four water years or more: where the version is shown to be better, it takes over.",
        ),
    ] = None,
    label: Annotated[str | None, typer.Option(metavar="TEXT", help="A name for the version.")] = None,
    device: Annotated[str, typer.Option(metavar="DEVICE", help="cpu, or a CUDA device such as cuda:0.")] = "cpu",
    as_json: Json = False,
) -> None:
    """Train an ensemble, or with --from fine-tune one. The same command again goes on from the last checkpoint.

    Without --basin: every basin that is kept. A fine-tuned version serves no basin until --judge-on or
    `freshet models promote` says so. The fields that --set and --config choose are those of a training job's `config`,
    which the API documents (/docs).
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
            basins = chosen(session, [*(basin or []), *listed(basins_file)])
            training = checked(_with_product(session, fields, product))
        require_device(device)
        use_threads(context.settings.threads)
        trained, decision = _train(context, training, basins, label, device, judge_on)
        _say_what_happened(context, trained, decision, label)
    payload = asdict(trained) | ({} if decision is None else {"decision": asdict(decision)})
    answer(payload, as_json, _members(trained))


def _with_product(session: Session, fields: Fields, product: str | None) -> Fields:
    """Return the fields with the forcing product; from scratch it is the only one kept unless one is named."""
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
    """Train with progress shown, and decide on its promotion where --judge-on asks for it."""
    from operations.promotion_rule import decide, require_decidable
    from operations.train import train as run

    rule = None if judge_on is None else Rule(judge_on, promote=True)
    if rule is not None:
        with context.database.reading() as session:
            require_decidable(session, config, rule)
    with reporting() as reporter:

        def show(member: int, progress: "Progress") -> None:
            reporter.show(f"member {member}", progress.step, progress.steps, describe(progress))

        def show_judged(done: int, total: int) -> None:
            reporter.show("judged basins", done, total)

        trained = run(context.database, context.clock, config, basins, label=label, device=device, on_progress=show)
        if rule is None:
            return trained, None
        return trained, decide(context.database, context.clock, trained.version_id, rule, show_judged)


def _say_what_happened(
    context: Context, trained: "Trained", decision: "PromotionDecision | None", label: str | None
) -> None:
    for reason in trained.left_out.values():
        say(f"Left out: {reason}")
    with context.database.reading() as session:
        kept_label = get_version(session, trained.version_id).label
    if label not in (None, kept_label):
        has = "no label" if kept_label is None else f"the label {kept_label!r}"
        say(f"Version {trained.version_id} was there before and keeps {has}: --label names new ones alone.")
    if decision is not None:
        say(f"{decision.sentence} Basins that use it from now on: {', '.join(decision.promoted) or 'none'}.")


def _members(trained: "Trained") -> Any:
    title = f"Version {trained.version_id} of {len(trained.basins)} basins"
    if trained.already:
        title += ", trained before"
    return table(["member", "best validation NSE (median)"], list(trained.validation_nse.items()), title)


def require_device(text: str) -> None:
    """Return when this machine has a device of that name.

    Raises:
        InvalidInput: it has not.
    """
    import torch

    cuda = torch.cuda.device_count()
    here = ["cpu", *(["cuda"] if cuda else []), *(f"cuda:{number}" for number in range(cuda))]
    if text not in here:
        raise InvalidInput(f"--device {text} is no device of this machine: choose {' or '.join(here)}.")


def only_forcing(session: Session) -> str:
    """Return the forcing product that is kept, if it is the only one.

    Raises:
        InvalidInput: none or several are.
    """
    kept = forcing_products(session)
    if len(kept) == 1:
        return kept[0]
    if not kept:
        raise InvalidInput("No forcing is kept here yet: ingest some first (freshet ingest camels --from FOLDER).")
    raise InvalidInput(f"Several forcing products are kept ({', '.join(kept)}): choose one with --product.")


def describe(progress: "Progress") -> str:
    """Return a training's standing in words."""
    validated = "" if progress.validation_nse is None else f", validation NSE {progress.validation_nse:.3f}"
    return f"loss {progress.loss:.4f}{validated}"


def listed(file: Path | None) -> list[str]:
    """Return the lines of a file of basins.

    Raises:
        InvalidInput: it cannot be read, or names none.
    """
    if file is None:
        return []
    try:
        names = [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InvalidInput(f"The list of basins {file} cannot be read ({why}): give a text file.") from error
    if not names:
        raise InvalidInput(f"The list of basins {file} names none: write a basin a line, or leave it out.")
    return names
