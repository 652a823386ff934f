"""The names of the commands: a module is imported when its command is used, and only read where all are listed."""

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from jobspec.extensions import extensions

PARTS = ("worker", "scheduler", "api")
COMMANDS = {
    "ingest": "basins.ingest",
    "basins": "basins.basins",
    "observations": "basins.observations",
    "thresholds": "basins.thresholds",
    "ratings": "basins.ratings",
    "train": "versions.train",
    "retrain": "versions.scoring",
    "evaluate": "versions.scoring",
    "calibrate": "versions.scoring",
    "reforecast": "versions.scoring",
    "compare": "versions.scoring",
    "weather": "weather.weather",
    "forecast": "forecasts.forecasting",
    "changes": "forecasts.reading",
    "what-if": "forecasts.forecasting",
    "volumes": "forecasts.forecasting",
    "rain-margin": "forecasts.reading",
    "reproduce": "forecasts.reproduce",
    "daily": "forecasts.forecasting",
    "replay": "forecasts.forecasting",
    "verify": "versions.scoring",
    "errors": "versions.skill",
    "skilful-days": "versions.skill",
    "events": "versions.skill",
    "decision-value": "versions.skill",
    "alerts": "service.alerts",
    "subscriptions": "service.subscriptions",
    "runs": "forecasts.reading",
    "states": "forecasts.reading",
    "simulation": "versions.skill",
    "models": "versions.models",
    "serve": "service.serve",
    "jobs": "service.jobs",
    "keys": "service.keys",
    "feeds": "weather.feeds",
    "bridge": "weather.bridge",
    "schedules": "service.schedules",
    "audit": "service.audit",
    "migrate": "upkeep.migrate",
    "prune": "upkeep.prune",
    "backup": "upkeep.backup",
    "restore": "upkeep.restore",
    "doctor": "upkeep.doctor",
    "check": "upkeep.check",
    "demo": "service.demo",
} | dict.fromkeys(PARTS, "service.parts")
"""The module of each, in the order of the work. Each is a function of its name, with commands of its own where its
module has an `app`."""
Source = tuple[str, str]
"""The module and the function of a command."""


@cache
def commands() -> dict[str, Source]:
    """Return all commands by name: those of the core, then those of extensions."""
    own = {name: (f"freshet.cli.{module}", name.replace("-", "_")) for name, module in COMMANDS.items()}
    return own | {words: source for words, source in _of_extensions() if " " not in words}


class LoadedWhenUsed(TyperGroup):
    """Lists the commands by the first lines of their docstrings, and imports the one that is used."""

    def __init__(self, **attributes: Any) -> None:
        """List the commands by name, without importing them."""
        super().__init__(**attributes)
        self.commands = {name: TyperCommand(name=name) for name in commands()}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command with its help for the list; None if the name is unknown."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            command.help = _docstring(cmd_name)
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the name of the command that the arguments begin with, the whole command, and the other arguments."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else loaded(name), rest


def loaded(name: str) -> Any:
    """Import a command, and return it."""
    command = _command(name, *commands()[name])
    for words, source in _of_extensions():
        group, _, part = words.partition(" ")
        if part and group == name:
            command.commands[part] = _command(part, *source)
    _unwrap_help(command)
    return command


def _command(name: str, module_name: str, function: str) -> Any:
    module, holder = import_module(module_name), typer.Typer()
    if hasattr(module, "app"):
        holder.add_typer(module.app, name=name)
    else:
        holder.command(name)(getattr(module, function))
    return get_group(holder).commands[name]


def _unwrap_help(command: Any) -> None:
    """Put each paragraph of the help on one line, for the terminal to wrap: typer retains line breaks."""
    if command.help:
        paragraphs = inspect.cleandoc(command.help).split("\n\n")
        command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    for part in getattr(command, "commands", {}).values():
        _unwrap_help(part)


def _of_extensions() -> Iterator[tuple[str, Source]]:
    """Yield the words of the commands of extensions, with their sources."""
    for extension in extensions():
        for words, reference in extension.commands.items():
            yield words, extension.source(reference)


def _docstring(name: str) -> str | None:
    module, name = commands()[name]
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    functions = (
        node for node in ast.parse(Path(spec.origin).read_text("utf-8")).body if isinstance(node, ast.FunctionDef)
    )
    return next(ast.get_docstring(function) for function in functions if function.name == name)
