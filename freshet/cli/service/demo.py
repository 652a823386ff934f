"""`freshet demo`: the main job on synthetic basins, from nothing to forecasts."""

import socket
from typing import TYPE_CHECKING, Annotated, Any

from freshet.cli.context import Begins, opened
from freshet.cli.models.train import Architecture
from freshet.cli.options import flag, option
from freshet.cli.output import Json, answer, inform, table
from freshet.cli.progress import reporting
from freshet.cli.service import serve
from hydrology.base.errors import InvalidInput
from jobspec.network import ARCHITECTURES
from runtime.settings import Settings, sqlite_url

if TYPE_CHECKING:
    from freshet.demo import Demonstrated


def demo(
    once: Annotated[bool, flag("--once", "Stop after the table of forecasts.")] = False,
    architecture: Architecture = None,
    pretrained: Annotated[str | None, option("NAME", "Use an ensemble that came with Freshet, train nothing.")] = None,
    host: serve.Host = "127.0.0.1",
    port: Annotated[int | None, option("PORT", "Default: 8000; any free one with --once.", min=1, max=65535)] = None,
    as_json: Json = False,
) -> None:
    """Start the whole service on synthetic basins, and run all main steps over its API.

    It ingests data, trains, calibrates and evaluates an ensemble, replays a week of daily forecasts up to today by the
    service's clock, forecasts seasonal volumes, and simulates the normal snow and stored water; then it serves until
    interrupted. Everything is stored in SQLite in the folder `demo` of FRESHET_DATA (`demo-NAME` for another network
    or a shipped ensemble). Run again, it continues from there.
    """
    from freshet.demo import demonstrate, service

    trained = _checked(architecture, pretrained)
    settings = _settings(trained)
    chosen = port or (_free_port() if once else 8000)
    address = serve.base(host, chosen)
    serve.check_free(host, chosen)
    with opened(settings, begins=Begins.ANYWHERE):
        pass  # the database is there before the service starts
    inform(
        f"The service starts at {address}, and issues its first forecasts within some minutes.  "
        f"Its log: {settings.data / 'service.log'}"
    )
    with service(settings, host, chosen) as process:
        with reporting() as reporter:
            done = demonstrate(settings, process, address, reporter.show, architecture=trained, pretrained=pretrained)
        _answer(done, settings, as_json, with_note=pretrained is not None)
        if not once:
            inform("\n".join(serve.addresses(host, chosen)))
            process.wait()


def _checked(architecture: str | None, pretrained: str | None) -> str:
    """Return the name of the network to train, or of the shipped ensemble, which must be readable.

    Raises:
        InvalidInput: there is no such network, or one is named besides an ensemble.
        UnknownEnsemble, DamagedEnsemble: the ensemble is not there, or it is damaged.
    """
    if pretrained is not None:
        from operations.training.pretrained import read_shipped

        if architecture is not None:
            raise InvalidInput("--pretrained trains nothing: leave --architecture out.")
        read_shipped(pretrained, Settings.load().pretrained)
        return pretrained
    if architecture not in (None, *ARCHITECTURES):
        raise InvalidInput(f"There is no network {architecture!r}: choose one of {', '.join(ARCHITECTURES)}.")
    return architecture or ARCHITECTURES[0]


def _settings(trained: str) -> Settings:
    """Return the settings of the demonstration: a folder, database and clock of its own."""
    from freshet.demo import AS_OF

    usual = Settings.load()
    folder = usual.data / _folder(trained)
    database_url, roots = sqlite_url(folder / "freshet.sqlite"), (folder / "incoming",)
    return Settings.load(data=folder, database_url=database_url, ingest_roots=roots, as_of=usual.as_of or AS_OF)


def _answer(done: "Demonstrated", settings: Settings, as_json: bool, *, with_note: bool) -> None:
    """Print the forecasts, and what they are."""
    from freshet.demo import HELD_OUT

    nse, forecasts, as_of = done.skill["nse"], done.forecasts["forecasts"], settings.as_of
    payload = {"held_out": HELD_OUT, **done.skill, "forecasts": forecasts, "status": done.status}
    answer(payload, as_json, _table(forecasts))
    inform(
        f"Synthetic basins. Held-out NSE over {HELD_OUT} in {nse['basins']} basins: median {nse['median']:.2f}, "
        f"quartiles {nse['p25']:.2f} and {nse['p75']:.2f}."
    )
    for one in forecasts[:1] if with_note else ():
        inform(one["training_note"])
    inform(
        f"This is a replay: its clock stands at {as_of:%Y-%m-%d %H:%M} UTC, when these forecasts were issued. The "
        "weather after T0 is perturbed observations, not an issued weather forecast. Status: "
        f"{done.status['status']}."
    )
    inform(
        f"Look further: FRESHET_DATA={settings.data} FRESHET_AS_OF={as_of:%Y-%m-%dT%H:%MZ} freshet basins (or runs, "
        "models, jobs, evaluate, forecast)."
    )


def _folder(trained: str) -> str:
    return "demo" if trained == ARCHITECTURES[0] else f"demo-{trained}"


def _table(forecasts: list[dict[str, Any]]) -> Any:
    rows = []
    for one in forecasts:
        median, storage, balance = one["discharge"]["median"], one["storage"], one["water_balance"]
        held = storage["total"][-1] if storage else "-"
        ledger = "closed" if balance and balance["closes"] else "-"
        rows.append((one["basin"], one["t0"], median[0], max(median), median[-1], held, ledger))
    columns = ("basin", "T0", "first day", "highest", "last day", "storage mm", "ledger")
    return table(columns, rows, "Median discharge in mm/day over the 10 days after T0")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
