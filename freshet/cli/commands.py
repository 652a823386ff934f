"""The names of the commands: a module is imported when its command is used, and only read where all are listed."""

import ast
import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

PARTS = ("worker", "scheduler", "api")
COMMANDS = {
    "ingest": "basins",
    "basins": "basins",
    "observations": "basins",
    "thresholds": "basins",
    "ratings": "basins",
    "train": "versions",
    "retrain": "versions",
    "evaluate": "versions",
    "calibrate": "versions",
    "reforecast": "versions",
    "compare": "versions",
    "weather": "weather",
    "forecast": "forecasts",
    "changes": "forecasts",
    "what-if": "forecasts",
    "plot": "forecasts",
    "volumes": "forecasts",
    "rain-margin": "forecasts",
    "archive": "forecasts",
    "reproduce": "forecasts",
    "fews": "forecasts",
    "daily": "forecasts",
    "replay": "forecasts",
    "verify": "versions",
    "errors": "versions",
    "skilful-days": "versions",
    "events": "versions",
    "decision-value": "versions",
    "alerts": "service",
    "subscriptions": "service",
    "runs": "forecasts",
    "states": "forecasts",
    "simulation": "versions",
    "models": "versions",
    "serve": "service",
    "jobs": "service",
    "keys": "service",
    "feeds": "weather",
    "bridge": "weather",
    "schedules": "service",
    "audit": "service",
    "migrate": "upkeep",
    "prune": "upkeep",
    "backup": "upkeep",
    "restore": "upkeep",
    "doctor": "upkeep",
    "check": "upkeep",
    "demo": "service",
    "mcp": "service",
} | dict.fromkeys(PARTS, "service")
"""The folder of each, in the order of the work. Each is a function of its name, with commands of its own where its
module has an `app`."""


class LoadedWhenUsed(TyperGroup):
    """Lists the commands by the first lines of their docstrings, and imports the one that is used."""

    def __init__(self, **attributes: Any) -> None:
        """List the commands by name, without importing them."""
        super().__init__(**attributes)
        self.commands = {name: TyperCommand(name=name) for name in COMMANDS}

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
    module = import_module(f"freshet.cli.{_module(name)}")
    holder = typer.Typer()
    if hasattr(module, "app"):
        holder.add_typer(module.app, name=name)
    else:
        holder.command(name)(getattr(module, _function(name)))
    command = get_group(holder).commands[name]
    _unwrap_help(command)
    return command


def _unwrap_help(command: Any) -> None:
    """Put each paragraph of the help on one line, for the terminal to wrap: typer retains line breaks."""
    if command.help:
        paragraphs = inspect.cleandoc(command.help).split("\n\n")
        command.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    for part in getattr(command, "commands", {}).values():
        _unwrap_help(part)


def _module(name: str) -> str:
    return f"{COMMANDS[name]}.{'parts' if name in PARTS else _function(name)}"


def _function(name: str) -> str:
    return name.replace("-", "_")


def _docstring(name: str) -> str | None:
    source = Path(__file__).parent.joinpath(*_module(name).split(".")).with_suffix(".py").read_text(encoding="utf-8")
    functions = (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    return next(ast.get_docstring(function) for function in functions if function.name == _function(name))
