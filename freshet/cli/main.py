"""`freshet`: the commands, and how an error ends one."""

import json
import sys
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from freshet.cli import (
    alerts,
    audit,
    basins,
    bridge,
    calibrate,
    compare,
    daily,
    demo,
    doctor,
    evaluate,
    feeds,
    forecast,
    ingest,
    jobs,
    keys,
    models,
    observations,
    parts,
    reforecast,
    replay,
    runs,
    schedules,
    serve,
    thresholds,
    train,
    verify,
    volumes,
    weather,
)
from freshet.cli.output import problem_json, say
from hydrology.errors import DataProblem, InvalidInput, Problem

INTERRUPTED = 130


class InTheOrderOfTheWork(TyperGroup):
    """Lists the commands as they are used, one after the other."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - typer's signature
        """Return the names of the commands."""
        first = [
            "ingest",
            "basins",
            "observations",
            "thresholds",
            "train",
            "evaluate",
            "calibrate",
            "reforecast",
            "compare",
            "weather",
            "forecast",
            "volumes",
            "daily",
            "replay",
            "verify",
            "alerts",
            "runs",
            "models",
            "serve",
            "jobs",
            "keys",
            "feeds",
            "bridge",
            "schedules",
            "audit",
        ]
        first += ["doctor", "demo"]
        return [*first, *(name for name in self.commands if name not in first)]


app = typer.Typer(
    name="freshet",
    cls=InTheOrderOfTheWork,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog="Exit codes: 0 done, 2 the request cannot be understood, 3 not kept here, 4 the data do not allow it, "
    "5 the database cannot be used, 6 done for some basins only, 130 interrupted.",
)


@app.callback()
def freshet() -> None:
    """River forecasts with mass-conserving LSTMs. Settings are read from FRESHET_* variables."""


app.add_typer(ingest.app, name="ingest")
app.add_typer(basins.app, name="basins")
app.command("observations")(observations.observations)
app.add_typer(thresholds.app, name="thresholds")
app.command("train")(train.train)
app.command("evaluate")(evaluate.evaluate)
app.command("calibrate")(calibrate.calibrate)
app.command("reforecast")(reforecast.reforecast)
app.command("compare")(compare.compare)
app.command("forecast")(forecast.forecast)
app.command("volumes")(volumes.volumes)
app.command("daily")(daily.daily)
app.command("replay")(replay.replay)
app.command("verify")(verify.verify)
app.add_typer(alerts.app, name="alerts")
app.command("runs")(runs.runs)
app.add_typer(weather.app, name="weather")
app.add_typer(models.app, name="models")
app.command("serve")(serve.serve)
app.add_typer(jobs.app, name="jobs")
app.add_typer(keys.app, name="keys")
app.add_typer(feeds.app, name="feeds")
app.add_typer(bridge.app, name="bridge")
app.add_typer(schedules.app, name="schedules")
app.command("worker")(parts.worker)
app.command("scheduler")(parts.scheduler)
app.command("api")(parts.api)
app.command("audit")(audit.audit)
app.command("doctor")(doctor.doctor)
app.command("demo")(demo.demo)


def main() -> None:
    """Run a command; a problem becomes a sentence (with --json, an object too) and an exit code."""
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
        say("Interrupted. What was finished is kept; the same command goes on from there.")
    sys.exit(code)


def _end(problem: Problem) -> NoReturn:
    if "--json" in sys.argv:
        print(json.dumps(problem_json(problem)))  # noqa: T201 - the command's answer
    say(f"Error: {problem}")
    sys.exit(problem.exit_code)


def _misused(error: typer.TyperException) -> InvalidInput:
    """Return what typer says of arguments that do not fit a command, and where its help is."""
    context: typer.Context | None = getattr(error, "ctx", None)
    command = context.command_path if context else "freshet"
    return InvalidInput(f"{error.format_message().rstrip('.')}: see {command} --help.")
