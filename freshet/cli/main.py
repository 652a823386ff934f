"""`freshet`: the commands, and how an error ends one."""

import json
import sys

import typer

from freshet.cli import basins, demo, doctor, evaluate, forecast, ingest, runs, serve, train, versions
from freshet.cli.output import problem_json, say
from hydrology.errors import Problem

app = typer.Typer(
    name="freshet",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    epilog="Exit codes: 0 done, 2 the request cannot be understood, 3 not kept here, 4 the data do not allow it, "
    "5 the database cannot be used, 6 done for some basins only, 130 interrupted.",
)


@app.callback()
def freshet() -> None:
    """River forecasts with mass-conserving LSTMs. Settings are read from FRESHET_* variables."""


app.add_typer(ingest.app, name="ingest")
app.command("basins")(basins.basins)
app.command("train")(train.train)
app.command("evaluate")(evaluate.evaluate)
app.command("forecast")(forecast.forecast)
app.command("runs")(runs.runs)
app.add_typer(versions.app, name="versions")
app.command("serve")(serve.serve)
app.command("doctor")(doctor.doctor)
app.command("demo")(demo.demo)


def main() -> None:
    """Run a command; a problem becomes a sentence (with --json, an object too) and an exit code."""
    try:
        app()
    except Problem as problem:
        if "--json" in sys.argv:
            print(json.dumps(problem_json(problem)))  # noqa: T201 - the command's answer
        say(f"Error: {problem}")
        sys.exit(problem.exit_code)
    except KeyboardInterrupt:
        say("Interrupted. What was finished is kept; the same command goes on from there.")
        sys.exit(130)
