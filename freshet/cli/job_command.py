"""A command for a kind of job: its options are the job's parameters, and the workers' handler does the work here."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group, RenderableType
from sqlalchemy.orm import Session

from freshet.cli.context import Context, MayCreateDatabase, opened
from freshet.cli.job_options import JobOptions, Layout
from freshet.cli.options import as_command, keyword, option
from freshet.cli.output import (
    MAX_ROWS,
    PARTLY_DONE,
    Json,
    answer,
    inform,
    listing,
    reporting,
    table,
    value_at,
)
from hydrology.base.errors import InvalidInput
from jobspec.fields import RequestModel
from jobspec.jobs.base import JobRequest
from models.devices import CPU, NEEDS_EXTENSION, available, gpu_programs, use_device
from runtime.settings import Settings

if TYPE_CHECKING:
    from app.exports.table import Table


Device = Annotated[
    str | None, option("DEVICE", "cpu, or a CUDA device such as cuda:0. Default: FRESHET_DEVICE, otherwise cpu.")
]

TableFile = Annotated[
    Path | None, option("FILE", "Write the scores of each basin: .csv, .parquet or .tex, by the end of its name.")
]
PLAIN = Layout()
NOT_DONE = ("left_out", "failed", "refused", "reasons", "problems")
"""Fields of results that give the reasons of what was not done."""
PARTLY = ("partial", "failed")
"""Statuses of runs without a forecast for every basin."""


@dataclass(frozen=True, slots=True)
class Done:
    """A job that a command has run: its parameters, its result as over the API, and where more can be read."""

    context: Context
    session: Session
    params: Any
    result: Mapping[str, Any]


View = Callable[[Done], Iterable[RenderableType]]


def job_command(
    job: type[JobRequest],
    layout: Layout = PLAIN,
    *,
    device: bool = False,
    begins: MayCreateDatabase = MayCreateDatabase.NOWHERE,
    partly: Sequence[str] = (),
    table_of: "Callable[[Done], Table] | None" = None,
) -> Callable[[View], Callable[..., None]]:
    """Return a decorator that creates a job's command from the function that shows its result as text.

    The function's docstring is the command's help.

    Args:
        partly: fields of the result that have a value where a part of the work was not done, by their paths.
        table_of: what `--to` writes to a file.
    """

    def decorate(view: View) -> Callable[..., None]:
        options = JobOptions(job, layout)

        def command(**given: Any) -> None:
            params, on, to = options.params(given), given.get("device"), given.get("to")
            carry_out(
                *(options.kind, params, view, given["as_json"]),
                begins=begins,
                partly=partly,
                has_device=device,
                device=on,
                write=_writer(table_of, to) if table_of and to else None,
            )

        more = [keyword("device", Device)] if device else []
        more += [keyword("to", TableFile)] if table_of else []
        return as_command(command, view, [*options.keywords(), *more, keyword("as_json", Json, False)])

    return decorate


def _writer(table_of: "Callable[[Done], Table]", file: Path) -> Callable[[Done], None]:
    """Return what writes the table to a file, in the format that its name ends in."""
    from app.exports.formats import TABLES

    forms = {f".{form.suffix}": form.write for form in TABLES}
    write = forms.get(file.suffix)
    if write is None:
        raise InvalidInput(f"--to {file} is not a table: end its name with {', '.join(forms)}.")

    def write_table(done: Done) -> None:
        try:
            file.write_bytes(write(table_of(done)))
        except OSError as error:
            raise InvalidInput(f"{file} cannot be written ({error.strerror}): choose another file.") from None

    return write_table


def of_kind(job: type[JobRequest]) -> Callable[..., None]:
    """Return the command of a kind of job that shows the result as it is, with the docstring of the kind."""

    def view(done: Done) -> Iterator[RenderableType]:
        yield table(("", ""), [row for row in done.result.items() if not isinstance(row[1], list | dict)])
        for name, value in done.result.items():
            if isinstance(value, list) and value and isinstance(value[0], dict):
                yield listing(value, " | ".join(value[0]), name)
            elif isinstance(value, list | dict) and value:
                yield table(("", ""), list(value.items() if isinstance(value, dict) else enumerate(value)), name)

    view.__doc__ = job.__doc__
    return job_command(job)(view)


def carry_out(
    kind: str,
    params: RequestModel,
    view: View,
    as_json: bool,
    *,
    begins: MayCreateDatabase = MayCreateDatabase.NOWHERE,
    partly: Sequence[str] | None = (),
    has_device: bool = False,
    device: str | None = None,
    write: Callable[[Done], None] | None = None,
) -> dict[str, Any]:
    """Run a job, print its result as `job_command` does, and return it.

    Args:
        write: called when it is done, before its result is printed.
        partly: as of `job_command`; None where what is left out is only reported.
    """
    from freshet.cli.command_run import run

    with opened(begins=begins) as context, reporting() as reporter:
        on = take_device(context.settings, device) if has_device else None
        result = run(context, kind, params, reporter, on)
        with context.database.reading() as session:
            done = Done(context, session, params, result)
            if write is not None:
                write(done)
            shown = [] if as_json else [*view(done)]
    reasons = list(dict.fromkeys(_reasons(result)))
    for reason in reasons[:MAX_ROWS]:
        inform(reason)
    answer(result, as_json, Group(*shown))
    unfinished = [value for name, value in _fields(result) if name == "status" and value in PARTLY]
    unfinished += [path for path in partly or () if value_at(result, path)]
    if partly is not None and (reasons or unfinished):
        raise typer.Exit(PARTLY_DONE)
    return result


def _reasons(result: Any) -> Iterator[str]:
    """Yield why parts of the work were not done, wherever a result states it."""
    for name, value in _fields(result):
        if name in NOT_DONE and isinstance(value, Mapping):
            yield from (f"{subject}: {reason}" for subject, reason in value.items())


def _fields(result: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a result and of the objects in its lists."""
    for name, value in result.items():
        yield name, value
        for part in value if isinstance(value, list) else []:
            if isinstance(part, Mapping):
                yield from _fields(part)


def take_device(settings: Settings, chosen: str | None) -> str:
    """Let this process compute on the chosen device, by default on that of the settings, and return it."""
    device, origin = (settings.device, "FRESHET_DEVICE") if chosen is None else (chosen, "--device")
    if device != CPU and device not in (devices := available()):
        remedy = f"choose {' or '.join(devices)}." if gpu_programs() else NEEDS_EXTENSION
        raise InvalidInput(f"{origin} {device} is not a device of this machine: {remedy}")
    use_device(device)
    return device
