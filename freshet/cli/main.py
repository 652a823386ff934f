"""`freshet`: the commands, and how an error ends one."""

import json
import sys
from typing import Annotated, NoReturn

import typer

from freshet.cli.commands import LoadedWhenUsed
from freshet.cli.output import inform, problem_json
from hydrology.base.errors import DataProblem, InvalidInput, Problem, without_prefix
from runtime.process import collect_seldom, hold_freed_memory, log_to_stderr, use_one_thread

INTERRUPTED = 130
SERVICES = ("serve", "api", "worker", "scheduler")
"""The long-running commands, whose standard error is a log."""
EXIT_CODES = (
    "Exit codes: 0 done, 2 the request cannot be understood, 3 not found here, 4 the data do not allow it, "
    "5 the database cannot be used, 6 done for some basins only, 130 interrupted."
)


app = typer.Typer(
    name="freshet",
    cls=LoadedWhenUsed,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog=EXIT_CODES,
)


def _show_version(asked: bool) -> None:
    if asked:
        from runtime.release import code_version

        typer.echo(f"freshet {code_version()}")
        raise typer.Exit


@app.callback()
def freshet(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """River forecasts with mass-conserving LSTMs. Settings are read from FRESHET_* variables."""


def main() -> None:
    """Run a command; a problem becomes a sentence (with --json, an object too) and an exit code."""
    use_one_thread()  # before numpy and torch are loaded, which each command does for itself
    if not _serves():
        hold_freed_memory()
    collect_seldom()
    try:
        code = app(prog_name="freshet", standalone_mode=False)
    except Problem as problem:
        _end(problem)
    except typer.TyperException as error:
        if not error.format_message():  # no command was named: the help is shown already
            sys.exit(InvalidInput.exit_code)
        _end(_misused(error))
    except OSError as error:
        _end(DataProblem(f"{error.filename or 'A file'} cannot be used: {error.strerror or error}."))
    if code == INTERRUPTED:
        inform("Interrupted. Finished work is stored; run the same command again to continue.")
    sys.exit(code)


def _end(problem: Problem) -> NoReturn:
    if "--json" in sys.argv:
        print(json.dumps(problem_json(problem)))  # noqa: T201 - the command's answer
    if _serves() and not sys.stderr.isatty():
        import structlog  # here, for no other command needs it

        log_to_stderr("info")
        structlog.get_logger().error("process.failed", kind=problem.kind, problem=str(problem))
    else:
        inform(f"Error: {problem}")
    sys.exit(problem.exit_code)


def _serves() -> bool:
    return sys.argv[1:2] != [] and sys.argv[1] in SERVICES


def _misused(error: typer.TyperException) -> InvalidInput:
    """Return typer's message on wrong arguments, with a pointer to the command's help."""
    context: typer.Context | None = getattr(error, "ctx", None)
    command = context.command_path if context else "freshet"
    sentence = without_prefix(error.format_message())
    where = f"see {command} --help."
    return InvalidInput(f"{sentence} S{where[1:]}" if sentence.endswith("?") else f"{sentence.rstrip('.')}: {where}")
