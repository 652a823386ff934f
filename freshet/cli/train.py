"""`freshet train`: an ensemble from observations."""

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import ValidationError
from sqlalchemy.orm import Session

from freshet.cli.context import Context, opened, use_threads
from freshet.cli.output import Json, answer, say, table
from freshet.cli.progress import reporting
from hydrology.calendar import Period
from hydrology.errors import InvalidInput
from models.config import (
    Cosine,
    Staircase,
    TrainingConfig,
    sequence_to_one_protocol,
    windows_protocol,
)
from operations.basins import chosen, forcing_products

if TYPE_CHECKING:
    from models.training import Progress
    from operations.train import Trained

MOST_SEED = 2**31 - 1
MOST_DAYS = 36_525  # a century


class Architecture(StrEnum):
    """Which network."""

    MCLSTM = "mclstm"
    LSTM = "lstm"
    EINS = "eins"
    MMRNN = "mmrnn"


class Protocol(StrEnum):
    """How a training samples the record."""

    WINDOWS = "windows"
    SEQUENCE_TO_ONE = "sequence-to-one"


Basins = Annotated[list[str] | None, typer.Option("--basin", metavar="BASIN", help="A basin; repeat it for more.")]
BasinsFile = Annotated[Path | None, typer.Option(metavar="FILE", help="A file with a basin a line.")]


def train(
    train_period: Annotated[str, typer.Option(metavar="FIRST..LAST", help="Days to fit.")],
    validation_period: Annotated[
        str | None, typer.Option(metavar="FIRST..LAST", help="Days that choose the best weights.")
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
        Protocol,
        typer.Option(metavar="NAME", help="windows: long ones. sequence-to-one: the paper's, one day a sample."),
    ] = Protocol.WINDOWS,
    members: Annotated[int, typer.Option(metavar="COUNT", help="Members of the ensemble.")] = 1,
    seed: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", min=0, max=MOST_SEED, help="Seed of the first member; the others count on from it."
        ),
    ] = 0,
    architecture: Annotated[
        Architecture, typer.Option(metavar="NAME", help="mclstm; for comparison lstm, eins or mmrnn.")
    ] = Architecture.MCLSTM,
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
    validate_every: Annotated[int, typer.Option(metavar="STEPS", help="Steps between validations.")] = 100,
    checkpoint_every: Annotated[int, typer.Option(metavar="STEPS", help="Steps between checkpoints.")] = 50,
    label: Annotated[str | None, typer.Option(metavar="TEXT", help="A name for the version.")] = None,
    device: Annotated[str, typer.Option(metavar="DEVICE", help="cpu, or a CUDA device such as cuda:0.")] = "cpu",
    as_json: Json = False,
) -> None:
    """Train an ensemble. The same command again goes on from the last checkpoint.

    Without --basin: every basin that is kept.
    """
    network = {"cells": cells, "output_gate_bias": output_gate_bias, "forget_bias": forget_bias, "dropout": dropout}
    windows = {"warmup_days": warmup_days, "loss_days": loss_days, "batch": batch}
    schedule = {"steps": steps, "epochs": epochs, "peak": learning_rate}
    with opened() as context:
        with context.database.reading() as session:
            ids = chosen(session, [*(basin or []), *listed(basins_file)])
            inputs = {"product": product or only_forcing(session), "auxiliary": auxiliary, "static": attribute}
        settings = {
            "network": {"architecture": architecture.value, **_given(network)},
            "inputs": {name: value for name, value in inputs.items() if value},
            "train_period": train_period,
            "validation_period": validation_period,
            "members": members,
            "seed": seed,
            "validate_every": validate_every,
            "checkpoint_every": checkpoint_every,
        }
        config = configuration(protocol, settings, windows, schedule)
        done = _run(context, config, ids, label, device)
    for reason in done.left_out.values():
        say(f"Left out: {reason}")
    rows = [(member, score) for member, score in done.validation_nse.items()]
    title = f"Version {done.version_id} of {len(done.basins)} basins" + (", trained before" if done.already else "")
    answer(asdict(done), as_json, table(["member", "best validation NSE (median)"], rows, title))


def _run(context: Context, config: TrainingConfig, ids: list[str], label: str | None, device: str) -> "Trained":
    """Train with progress shown."""
    use_threads(context.settings.threads)
    require_device(device)
    from operations.train import train as run

    with reporting() as reporter:

        def show(member: int, progress: "Progress") -> None:
            reporter.show(f"member {member}", progress.step, progress.steps, describe(progress))

        return run(context.database, context.clock, config, ids, label=label, device=device, on_progress=show)


def configuration(
    protocol: Protocol, settings: dict[str, Any], windows: dict[str, Any], schedule: dict[str, Any]
) -> TrainingConfig:
    """Return the configuration of a protocol under what was chosen; None leaves the protocol's own.

    Raises:
        InvalidInput: a choice is not possible, or does not belong to the protocol.
    """
    shape, rates = windows_protocol() if protocol is Protocol.WINDOWS else sequence_to_one_protocol()
    fields = (Cosine if protocol is Protocol.WINDOWS else Staircase).model_fields
    if foreign := sorted(set(_given(schedule)) - set(fields)):
        raise InvalidInput(f"{option(foreign[0])} does not belong to the protocol {protocol}: leave it out.")
    for period in (settings["train_period"], settings["validation_period"]):
        if period is not None:
            Period.parse(period)
    try:
        return TrainingConfig.model_validate(
            {
                **settings,
                "windows": shape.model_dump() | _given(windows),
                "schedule": rates | _given(schedule),
            }
        )
    except ValidationError as error:
        network = settings["network"]["architecture"]
        faults = "; ".join(
            f"{option(str(fault['loc'][-1]))}: "
            + (f"it does not belong to {network}, leave it out" if fault["type"] == "extra_forbidden" else fault["msg"])
            for fault in error.errors()
        )
        raise InvalidInput(f"The training cannot be configured so: {faults}.") from None


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def option(field: str) -> str:
    """Return the option that sets a field of a configuration."""
    return "--" + {"peak": "learning-rate"}.get(field, field.replace("_", "-"))


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
