"""The names of the commands: a module is imported when its command is used, and only read where commands are listed."""

import ast
import inspect
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from freshet.cli.lazily import executed_when_used
from freshet.cli.options import with_basins_file
from jobspec.extensions import extensions

COMMANDS = {
    "Start and data": {
        "demo": "demo:demo",
        "ingest camels": "ingest:camels",
        "ingest tables": "ingest:tables",
        "ingest benchmarks": "ingest:benchmarks",
        "basins show": "basins:show_basins",
        "basins add": "ingest:add_basin",
        "basins climate": "ingest:climate",
        "basins adopt": "basins:adopt",
        "basins release": "basins:release",
        "observations": "basins:observations",
        "ratings import": "levels:import_rating",
        "ratings show": "levels:show_rating",
        "thresholds show": "levels:show_thresholds",
        "thresholds simulate": "jobspec.jobs.judging:LevelsJob",
        "thresholds set": "levels:set_threshold",
        "thresholds frequency": "levels:set_frequency",
        "thresholds categories": "levels:set_categories",
        "thresholds confirm": "levels:confirm_threshold",
        "thresholds remove": "levels:remove_threshold",
        "weather add": "forecasting:add_weather",
        "weather list": "forecasting:list_weather",
        "weather fuse": "forecasting:fuse_weather",
        "feeds add": "feeds:add_feed",
        "feeds start": "feeds:start_feeds",
        "feeds list": "feeds:list_feeds",
        "feeds show": "feeds:show_feed",
        "feeds fetch": "feeds:fetch_feed",
        "feeds backfill": "feeds:backfill_feed",
        "feeds remove": "feeds:remove_feed",
        "bridge fit": "forecasting:fit_bridge",
        "bridge list": "forecasting:list_bridges",
        "bridge show": "forecasting:show_bridge",
        "bridge apply": "forecasting:apply_bridge",
    },
    "Models": {
        "models list": "versions:list_versions",
        "models show": "versions:show_version",
        "models promote": "versions:promote",
        "models roll-back": "versions:roll_back",
        "models install-pretrained": "versions:install_pretrained",
        "train": "train:train",
        "retrain": "scoring:retrain",
        "calibrate": "scoring:calibrate",
        "evaluate": "scoring:evaluate",
        "reforecast": "scoring:reforecast",
        "simulation": "skill:simulation",
        "compare": "scoring:compare",
    },
    "Forecasts": {
        "forecast": "forecasting:forecast",
        "daily": "forecasting:daily",
        "issues": "forecasts:issues",
        "runs": "forecasts:runs",
        "changes": "forecasts:changes",
        "volumes": "forecasting:volumes",
        "what-if": "forecasting:what_if",
        "rain-margin": "forecasts:rain_margin",
        "states": "forecasts:states",
        "replay": "forecasting:replay",
    },
    "Alerts and skill": {
        "alerts list": "alerts:list_alerts",
        "alerts show": "alerts:show_alerts",
        "alerts changes": "alerts:list_alert_changes",
        "alerts deliver": "alerts:deliver",
        "subscriptions add": "alerts:add_subscription",
        "subscriptions list": "alerts:list_subscriptions",
        "subscriptions resume": "alerts:resume_subscription",
        "subscriptions remove": "alerts:remove_subscription",
        "subscriptions deliveries": "alerts:list_deliveries",
        "subscriptions replay": "alerts:replay_delivery",
        "verify": "scoring:verify",
        "errors": "skill:errors",
        "skilful-days": "skill:skilful_days",
    },
    "Service": {
        "serve": "serve:serve",
        "jobs list": "service:list_jobs",
        "jobs show": "service:show_job",
        "jobs watch": "service:watch_job",
        "jobs cancel": "service:cancel_job",
        "schedules list": "service:list_schedules",
        "schedules add": "service:add_schedule",
        "schedules enable": "service:enable_schedule",
        "schedules disable": "service:disable_schedule",
        "schedules remove": "service:remove_schedule",
        "keys make": "service:make_key",
        "keys list": "service:list_keys",
        "keys revoke": "service:revoke_key",
        "audit": "service:audit",
        "doctor": "doctor:doctor",
        "check": "upkeep:check",
        "backup": "upkeep:backup",
        "restore": "upkeep:restore",
        "prune": "upkeep:prune",
        "migrate": "upkeep:migrate",
        "api": "serve:api",
        "worker": "serve:worker",
        "scheduler": "serve:scheduler",
    },
}
"""By the panels of `freshet --help`, in the order of the work: the function of each by its words, `module:function` of
`freshet.commands`; or its kind of job, whose result is shown as it is: `jobspec.jobs.ROOM:KindJob`."""
GROUPS = {
    "ingest": "Read data into the database.",
    "basins": "List the basins, show one (show is the default), add one.",
    "thresholds": "Show, set and remove levels of a basin's discharge.",
    "ratings": "Import and show rating tables: stage and discharge of gauges.",
    "weather": "Add and list weather forecasts, which drive forecasts after T0; fuse products of weather.",
    "alerts": "Show alerts and their changes, and send the changes to subscribers.",
    "subscriptions": "Add, list and remove receivers of alert changes: webhooks, gateways and e-mail.",
    "models": "List, show, promote, roll back, export and install model versions.",
    "jobs": "List, show, watch and cancel the jobs of the workers.",
    "keys": "Create, list and revoke the keys for writing over the API.",
    "feeds": "Add, list, fetch, backfill and remove feeds of discharge, weather and forecasts.",
    "bridge": "Fit, list, show and apply bridges between products of weather.",
    "schedules": "List, add, enable, disable and remove the schedules that start jobs.",
}
"""What the commands that begin with a word do."""
SHOWN_BY_DEFAULT = ("basins",)
"""Groups that take anything but the name of one of their commands as the arguments of `show`."""
Source = tuple[str, str]
"""The module and the function of a command."""


@cache
def panels() -> dict[str, dict[str, Source]]:
    """Return all commands by their words in each panel: those of the core, then those of extensions."""
    found: dict[str, dict[str, Source]] = {}
    for panel, references in COMMANDS.items():
        for words, reference in references.items():
            module, _, function = reference.partition(":")
            whole = module if module.startswith("jobspec.") else f"freshet.commands.{module}"
            found.setdefault(panel, {})[words] = whole, function
    for extension in extensions():
        added = {words: extension.source(reference) for words, reference in extension.commands.items()}
        found.setdefault(extension.panel, {}).update(added)
    return found


@cache
def commands() -> dict[str, Source]:
    """Return all commands by their words."""
    return {words: source for entries in panels().values() for words, source in entries.items()}


def groups() -> dict[str, str]:
    """Return what the commands that begin with a word do: those of the core, then those of extensions."""
    return GROUPS | {word: text for extension in extensions() for word, text in extension.groups.items()}


def names(group: str = "") -> list[str]:
    """Return the names of the commands and groups of a group, by default of `freshet`."""
    start = group and f"{group} "
    return list(dict.fromkeys(words[len(start) :].split()[0] for words in commands() if words.startswith(start)))


class LoadedWhenUsed(TyperGroup):
    """Lists its commands by the first lines of their docstrings, and imports the one that is used."""

    def __init__(self, **attributes: Any) -> None:
        """List the commands by name, without importing them."""
        super().__init__(**attributes)
        self._group = "" if self.name == "freshet" else str(self.name)
        panel_of = {words.split()[0]: panel for panel, entries in reversed(panels().items()) for words in entries}
        self.commands = {
            name: TyperCommand(name=name, rich_help_panel=panel_of.get(self._words(name)))
            for name in names(self._group)
        }

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `show` before the arguments where no command is named and it is the default."""
        named = args[:1] and (args[0] in self.commands or args[0] == "--help")
        return super().parse_args(ctx, args if named or self._group not in SHOWN_BY_DEFAULT else ["show", *args])

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command with its help for the list; None if the name is unknown."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            command.help = _help(self._words(cmd_name))
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the name of the command that the arguments begin with, the whole command, and the other arguments."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else loaded(self._words(name)), rest

    def _words(self, name: str) -> str:
        return f"{self._group} {name}".strip()


def loaded(words: str) -> Any:
    """Import a command, and return it; of a group, without its commands."""
    if (text := groups().get(words)) is not None:
        return get_group(typer.Typer(name=words, cls=LoadedWhenUsed, help=text, no_args_is_help=True))
    module, name = commands()[words]
    with executed_when_used():
        command = getattr(import_module(module), name)
    if isinstance(command, type):
        from freshet.cli.job_command import of_kind

        command = of_kind(command)
    holder = typer.Typer(add_completion=False)
    holder.command(words.rsplit(maxsplit=1)[-1])(with_basins_file(command))
    loaded_command = get_command(holder)
    _unwrap_help(loaded_command)
    return loaded_command


def _unwrap_help(command: Any) -> None:
    """Put each paragraph of the help on one line, for the terminal to wrap: typer retains line breaks."""
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _help(words: str) -> str | None:
    if (text := groups().get(words)) is not None:
        return text
    module, name = commands()[words]
    return _docstrings(module)[name]


@cache
def _docstrings(module: str) -> dict[str, str | None]:
    """Return the docstrings of a module's functions and classes, which is not imported."""
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    body = ast.parse(Path(spec.origin).read_text("utf-8")).body
    return {one.name: ast.get_docstring(one) for one in body if isinstance(one, ast.FunctionDef | ast.ClassDef)}
