"""`freshet demo`: the main job on synthetic basins, from nothing to forecasts."""

from typing import Annotated, Any

import typer
from rich.console import Group

from freshet.cli import serve
from freshet.cli.context import opened, use_threads
from freshet.cli.output import Json, answer, say
from freshet.cli.progress import reporting
from freshet.cli.runs import run_json, run_table
from records.settings import Settings


def demo(
    once: Annotated[bool, typer.Option("--once", metavar="", help="Stop after the table of forecasts.")] = False,
    host: serve.Host = "127.0.0.1",
    port: serve.Port = 8000,
    as_json: Json = False,
) -> None:
    """Write synthetic basins, ingest them, train an ensemble, evaluate it, forecast, and serve.

    Everything is kept in the folder `demo` of FRESHET_DATA, in SQLite. Running it again goes on from there.
    """
    folder = Settings.load().data / "demo"
    settings = Settings.load(data=folder, database_url=f"sqlite:///{folder / 'freshet.sqlite'}")
    if not once:
        serve.check_free(host, port)
    payload, shown = _demonstrate(settings)
    answer(payload, as_json, shown)
    nse = payload["nse"]
    say(
        f"Synthetic basins. Held-out NSE over {payload['held_out']}: median {nse['median']:.2f}, "
        f"quartiles {nse['p25']:.2f} and {nse['p75']:.2f}."
    )
    say(f"Look further: FRESHET_DATA={folder} freshet basins (or runs, versions, evaluate, forecast).")
    if not once:
        serve.run(settings, host, port)


def _demonstrate(settings: Settings) -> tuple[dict[str, Any], Group]:
    use_threads(settings.threads)
    from operations.demo import demonstrate

    with opened(settings) as context:
        with reporting() as reporter:
            folder = settings.data / "synthetic-camels"
            done = demonstrate(context.database, context.clock, folder, reporter.show)
        with context.database.reading() as session:
            runs = [run_json(session, run.id) for run in done.runs]
    _, low, median, high = done.skill.quartiles("nse")
    payload = {
        "held_out": str(done.skill.period),
        "nse": {"p25": low, "median": median, "p75": high},
        "worst_residual": done.skill.worst_residual,
        "runs": runs,
    }
    return payload, Group(*(run_table(run) for run in runs))
