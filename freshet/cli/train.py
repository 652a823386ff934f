"""`freshet train`: an ensemble from observations, or from another ensemble and observations."""

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from sqlalchemy.orm import Session

from freshet.cli.configuring import Options, Protocol, fine_tuning, from_scratch, given
from freshet.cli.context import Context, opened, use_threads
from freshet.cli.output import Json, answer, say, table
from freshet.cli.progress import reporting
from hydrology.errors import InvalidInput
from jobspec.training import FineTuningConfig, TrainingConfig
from operations.basins import chosen, forcing_products
from records.versions import get as get_version

if TYPE_CHECKING:
    from models.training import Progress
    from operations.promotion_rule import PromotionDecision
    from operations.train import Trained

MOST_SEED = 2**31 - 1
MOST_DAYS = 36_525  # a century


class Precision(StrEnum):
    """Of the gates' products in training."""

    BFLOAT16 = "bfloat16"
    FLOAT32 = "float32"


class Architecture(StrEnum):
    """Which network."""

    MCLSTM = "mclstm"
    LSTM = "lstm"
    EINS = "eins"
    MMRNN = "mmrnn"


Basins = Annotated[list[str] | None, typer.Option("--basin", metavar="BASIN", help="A basin; repeat it for more.")]
BasinsFile = Annotated[Path | None, typer.Option(metavar="FILE", help="A file with a basin a line.")]


def train(
    train_period: Annotated[str, typer.Option(metavar="FIRST..LAST", help="Days to fit.")],
    validation_period: Annotated[
        str | None, typer.Option(metavar="FIRST..LAST", help="Days that choose the best weights.")
    ] = None,
    from_version: Annotated[
        str | None,
        typer.Option("--from", metavar="VERSION", help="Fine-tune this version instead of training from scratch."),
    ] = None,
    basin: Basins = None,
    basins_file: BasinsFile = None,
    product: Annotated[
        str | None, typer.Option(metavar="PRODUCT", help="Forcing product. Default: the only one kept.")
    ] = None,
    auxiliary: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="VARIABLE", help="A series besides precipitation. Default: srad tmax tmin vp."),
    ] = None,
    attribute: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A basin attribute. Default: 27 of CAMELS.")
    ] = None,
    protocol: Annotated[
        Protocol | None,
        typer.Option(
            metavar="NAME", help="windows (default): long ones. sequence-to-one: the paper's, one day a sample."
        ),
    ] = None,
    members: Annotated[
        int | None, typer.Option(metavar="COUNT", help="Members of the ensemble. Default: 1, with --from the parent's.")
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", min=0, max=MOST_SEED, help="Seed of the first member; the others count on from it."
        ),
    ] = 0,
    architecture: Annotated[
        Architecture | None,
        typer.Option(metavar="NAME", help="mclstm (default); for comparison lstm, eins or mmrnn."),
    ] = None,
    cells: Annotated[
        int | None, typer.Option(metavar="COUNT", help="Memory cells. Default: 64 (mclstm, mmrnn) or 128.")
    ] = None,
    steps: Annotated[int | None, typer.Option(metavar="COUNT", help="Training steps (windows).")] = None,
    epochs: Annotated[int | None, typer.Option(metavar="COUNT", help="Epochs (sequence-to-one).")] = None,
    batch: Annotated[int | None, typer.Option(metavar="COUNT", help="Samples a step.")] = None,
    warmup_days: Annotated[
        int | None, typer.Option(metavar="DAYS", min=0, max=MOST_DAYS, help="Days of a window before its loss days.")
    ] = None,
    loss_days: Annotated[
        int | None, typer.Option(metavar="DAYS", min=1, max=MOST_DAYS, help="Days of a window that are scored.")
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(metavar="RATE", help="Highest learning rate (windows).")
    ] = None,
    expectile: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Weight of too little in the loss. Default: 0.58; 0.5: NSE* as published."),
    ] = None,
    averaging: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Of the weights' running mean that stays at a step. Default: 0.995; 0: no mean."
        ),
    ] = None,
    precision: Annotated[
        Precision | None,
        typer.Option(metavar="NAME", help="Of the gates' products: bfloat16 (default, where possible) or float32."),
    ] = None,
    embedding: Annotated[
        int | None,
        typer.Option(
            metavar="COUNT",
            help="Values made of weather and attributes for the gates (mclstm). Default: 16; 0: none, as published.",
        ),
    ] = None,
    output_gate_bias: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", min=-20, max=20, help="First bias of the output gate (mclstm). Default: -3."),
    ] = None,
    forget_bias: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            min=-20,
            max=20,
            help="Bias of the forget gate (the others; of eins it is not trained). Default: 3, eins 0.",
        ),
    ] = None,
    dropout: Annotated[
        float | None,
        typer.Option(metavar="SHARE", min=0, max=0.99, help="Dropout before the head (the others). Default: 0.4."),
    ] = None,
    validate_every: Annotated[
        int | None, typer.Option(metavar="STEPS", help="Steps between validations. Default: 100, with --from 10.")
    ] = None,
    checkpoint_every: Annotated[
        int | None, typer.Option(metavar="STEPS", help="Steps between checkpoints. Default: 50.")
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
    `freshet models promote` says so.
    """
    network = {
        "cells": cells,
        "embedding": embedding,
        "output_gate_bias": output_gate_bias,
        "forget_bias": forget_bias,
        "dropout": dropout,
    }
    windows = {"warmup_days": warmup_days, "loss_days": loss_days, "batch": batch}
    schedule = {"steps": steps, "peak": learning_rate}
    settings: Options = {
        "train_period": train_period,
        "validation_period": validation_period,
        "members": members,
        "seed": seed,
        "validate_every": validate_every,
        "checkpoint_every": checkpoint_every,
    }
    inputs = {"auxiliary": auxiliary or None, "static": attribute or None}
    fitting = {"expectile": expectile, "averaging": averaging, "precision": precision and precision.value}
    with opened() as context:
        with context.database.reading() as session:
            ids = chosen(session, [*(basin or []), *listed(basins_file)])
            product = product or (None if from_version else only_forcing(session))
        if from_version is not None:
            foreign = {
                "architecture": architecture,
                "protocol": protocol,
                "epochs": epochs,
                **network,
                **inputs,
                **fitting,
            }
            settings |= {"parent": from_version, "product": product}
            config: TrainingConfig | FineTuningConfig = fine_tuning(settings, windows, schedule, foreign)
        else:
            settings["network"] = {"architecture": (architecture or Architecture.MCLSTM).value, **given(network)}
            settings["inputs"] = {"product": product, **given(inputs)}
            settings |= fitting
            config = from_scratch(protocol or Protocol.WINDOWS, settings, windows, schedule | {"epochs": epochs})
        done, decision = _run(context, config, ids, label, device, judge_on)
        with context.database.reading() as session:
            kept_label = get_version(session, done.version_id).label
    for reason in done.left_out.values():
        say(f"Left out: {reason}")
    if label not in (None, kept_label):
        has = "no label" if kept_label is None else f"the label {kept_label!r}"
        say(f"Version {done.version_id} was there before and keeps {has}: --label names new ones alone.")
    if decision is not None:
        say(f"{decision.sentence} Basins that use it from now on: {', '.join(decision.promoted) or 'none'}.")
    rows = [(member, score) for member, score in done.validation_nse.items()]
    title = f"Version {done.version_id} of {len(done.basins)} basins" + (", trained before" if done.already else "")
    payload = asdict(done) | ({} if decision is None else {"decision": asdict(decision)})
    answer(payload, as_json, table(["member", "best validation NSE (median)"], rows, title))


def _run(
    context: Context,
    config: TrainingConfig | FineTuningConfig,
    ids: list[str],
    label: str | None,
    device: str,
    judge_on: str | None,
) -> tuple["Trained", "PromotionDecision | None"]:
    """Train with progress shown, and decide on its promotion where --judge-on asks for it."""
    use_threads(context.settings.threads)
    require_device(device)
    from operations.promotion_rule import Rule, decide, require_decidable
    from operations.train import train as run

    rule = None if judge_on is None else Rule(judge_on, promote=True)
    if rule is not None:
        with context.database.reading() as session:
            require_decidable(session, config, rule)
    with reporting() as reporter:

        def show(member: int, progress: "Progress") -> None:
            reporter.show(f"member {member}", progress.step, progress.steps, describe(progress))

        done = run(context.database, context.clock, config, ids, label=label, device=device, on_progress=show)
        if rule is None:
            return done, None
        return done, decide(
            context.database,
            context.clock,
            done.version_id,
            rule,
            lambda at, total: reporter.show("judged basins", at, total),
        )


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
