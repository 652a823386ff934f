"""`freshet demo`: the main job on eight real rivers, from nothing to forecasts."""

import shutil
import sys
from pathlib import Path
from typing import Annotated, Any

from freshet.cli.context import Context, MayCreateDatabase, opened
from freshet.cli.options import flag, option
from freshet.cli.output import Json, answer, inform, reporting, table
from freshet.commands import serve
from freshet.demo import demonstration
from freshet.demo.demonstration import ENSEMBLE, FLOODED, HELD_OUT, TRACES, Demonstrated
from hydrology.base.errors import InvalidInput
from hydrology.extremes.level_checks import level_title, percent
from records.basins.basins import list_basins
from records.basins.ownership import shown_name
from runtime.settings import Settings, sqlite_url

NEXT = """
Next, in another terminal:
  export FRESHET_DATA={data} FRESHET_AS_OF={as_of:%Y-%m-%dT%H:%MZ}
  # train a network on these rivers: half a minute on one core
  {freshet} train --product daymet --train-period 1986-10-01..1993-09-30 \\
      --validation-period 1993-10-01..1994-09-30 --set schedule.steps=200
  # evaluate it on years that it has not seen
  {freshet} evaluate --period 1994-10-01..1996-09-30
  # your own basins: {guide}
  {freshet} ingest tables --help"""


def demo(
    once: Annotated[bool, flag("--once", "Stop after the table of forecasts.")] = False,
    host: serve.Host = "127.0.0.1",
    port: Annotated[
        int | None,
        option("PORT", f"Default: {serve.PORT}, or a free one where it is in use or with --once.", min=1, max=65535),
    ] = None,
    as_json: Json = False,
) -> None:
    """Start the whole service on eight real rivers in March 1997, and run all main steps over its API.

    It ingests weather and flow that come with Freshet, installs the shipped ensemble freshet-us, evaluates its twin on
    years that it has not learnt from, replays twelve days of forecasts before a flood, and forecasts seasonal volumes;
    then it serves until interrupted. Everything is stored in SQLite in the folder `demo` of FRESHET_DATA, with a clock
    of its own. Run again, it continues from there.
    """
    settings = _settings()
    chosen = choose_port(host, port, once=once)
    address = serve.base(host, chosen)
    with opened(settings, begins=MayCreateDatabase.ANYWHERE) as context:
        _require_own(context)
    inform(
        f"The service starts at {address}: its pages show each step as it is done, the forecasts within a minute or "
        f"two.  Its log: {settings.data / 'service.log'}"
    )
    with demonstration.service(settings, host, chosen) as process:
        with reporting() as reporter:
            done = demonstration.demonstrate(settings, process, address, reporter.show)
        _answer(done, settings, address, as_json)
        if not once:
            inform("\n".join(serve.addresses(host, chosen)))
            process.wait()


def _settings() -> Settings:
    """Return the settings of the demonstration: a folder, database and clock of its own."""
    folder = Settings.load().data / "demo"
    database_url, roots = sqlite_url(folder / "freshet.sqlite"), (folder / "incoming",)
    return Settings.load(data=folder, database_url=database_url, ingest_roots=roots, as_of=demonstration.AS_OF)


def choose_port(host: str, chosen: int | None, *, once: bool) -> int:
    """Return the chosen port; without one the usual or, where that is in use or with --once, any free one."""
    try:
        return serve.check_free(host, chosen or (0 if once else serve.PORT))
    except serve.PortInUse:
        if chosen:
            raise
    inform(f"Another program listens on port {serve.PORT}: the demonstration takes another.")
    return serve.check_free(host, 0)


def _require_own(context: Context) -> None:
    """Raise where the folder holds other basins than the demonstration's, as that of an older Freshet does."""
    with context.database.reading() as session:
        stored = {basin.id for basin in list_basins(session)}
    if stored and stored.isdisjoint(demonstration.BASINS):
        raise InvalidInput(
            f"{context.settings.data} holds {len(stored)} basins and none of the demonstration's, such as "
            f"{min(stored)}: remove the folder, or name another FRESHET_DATA."
        )


def _answer(done: Demonstrated, settings: Settings, address: str, as_json: bool) -> None:
    flooded, nse = done.rivers[FLOODED], done.skill["nse"]
    payload = {
        "held_out": HELD_OUT,
        **done.skill,
        "forecasts": [river["forecast"] for river in done.rivers.values()],
        "alerts": done.alerts,
        "changes": done.changes,
        "status": done.status,
    }
    answer(payload, as_json, _table(done))
    inform(
        f"{ENSEMBLE} has learnt from every year. Its twin, which has not learnt from {HELD_OUT}, has a median NSE of "
        f"{nse['median']:.3f} there in these {nse['basins']} rivers, quartiles {nse['p25']:.3f} and {nse['p75']:.3f}."
    )
    alerts = [alert for alert in done.alerts if alert["basin"] == FLOODED]
    for alert in sorted(alerts, key=lambda one: one["chance"])[-1:]:
        inform(
            f"Alert: {shown_name(FLOODED, flooded['name'])}, {alert['severity']} since {alert['since'][:10]}: "
            f"{percent(alert['chance'])} above {alert['discharge']:.0f} m³/s ({level_title(alert['level'])})."
        )
    inform(f"Changed since yesterday: {done.changes['in_words']}")
    inform(
        f"This is a replay: its clock stands at {settings.as_of:%Y-%m-%d %H:%M} UTC. The weather after T0 is {TRACES} "
        f"perturbed traces of what was observed, not an issued weather forecast. Status: {done.status['status']}."
    )
    inform(f"The flood: {address}/basins/{FLOODED}")
    freshet = "freshet" if shutil.which("freshet") else str(Path(sys.executable).with_name("freshet"))
    inform(NEXT.format(data=settings.data, as_of=settings.as_of, freshet=freshet, guide=f"{address}/guide/own-basin"))


def _table(done: Demonstrated) -> Any:
    rows = [_row(basin, river) for basin, river in done.rivers.items()]
    columns = ("basin", "river", "peak", "90 % range", "day", "alert", "snow", "season", "NSE")
    title = f"10 days after T0, m³/s; snow and the season's volume in % of normal; NSE of its twin over {HELD_OUT}"
    return table(columns, rows, title)


def _row(basin: str, river: dict[str, Any]) -> tuple[object, ...]:
    outlook = river["outlook"]
    peak, alert, season = outlook["peak"], outlook["threat"]["alert"], outlook["season"]
    snow, percent = river["forecast"]["storage"]["snow_read"]["at_t0"], season and season["percent_of_normal"]
    return (
        basin,
        shown_name(basin, river["name"]),
        peak and f"{peak['discharge']:.3g}",
        peak and f"{peak['p05']:.3g} to {peak['p95']:.3g}",
        peak and peak["day"],
        alert and alert["severity"],
        snow["in_words"].removesuffix(" % of normal"),
        percent and f"{percent[season['exceeded_percent'].index(50)]:.0f}",
        river["nse"],
    )
