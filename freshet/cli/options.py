"""Options and arguments that several commands take."""

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import typer

from hydrology.base.basins import basin_id


def option(metavar: str, text: str, *names: str, **limits: Any) -> Any:
    """Return the declaration of an option; `limits` are arguments of `typer.Option`."""
    return typer.Option(*names, metavar=metavar, help=text, **limits)


def flag(name: str, text: str) -> Any:
    """Return the declaration of an option without a value."""
    return typer.Option(name, metavar="", help=text)


def argument(metavar: str, text: str, **limits: Any) -> Any:
    """Return the declaration of an argument; `limits` are further arguments of `typer.Argument`."""
    return typer.Argument(metavar=metavar, help=text, **limits)


Basin = Annotated[str, argument("BASIN", "USGS number or full identifier.", parser=basin_id)]
Version = Annotated[str | None, option("VERSION", "A model version. Default: the basin's current one.")]
Run = Annotated[str | None, option("RUN", "A run. Default: the latest forecast of the basin.")]
Csv = Annotated[bool, flag("--csv", "Print the table as CSV, as the API writes it.")]
OnlyBasins = Annotated[
    list[str] | None, option("BASIN", "Only this basin; repeat it for more.", "--basin", parser=basin_id)
]
Basins = Annotated[list[str] | None, option("BASIN", "A basin; repeat it for more.", "--basin")]
BasinsFile = Annotated[Path | None, option("FILE", "A file with one basin on each line.")]


def keyword(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    """Return a parameter of a command's function."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def as_command(
    function: Callable[..., None], like: Callable[..., Any], parameters: Sequence[inspect.Parameter]
) -> Callable[..., None]:
    """Return a function with the name and help of another, and with parameters that typer reads."""
    function.__name__, function.__doc__ = like.__name__, like.__doc__
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return function


def with_basins_file(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes `--basins-file`, too, if it takes several `--basin`."""
    options = [*inspect.signature(command, eval_str=True).parameters.values()]
    place = next((at for at, one in enumerate(options) if _takes_basins(one.annotation)), None)
    if place is None:
        return command
    name = options[place].name

    def reading_file(*, basins_file: Path | None, **given: Any) -> None:
        from freshet.cli.text_files import listed

        if basins_file is not None:
            given[name] = [*(given[name] or []), *listed(basins_file)]
        command(**given)

    options.insert(place + 1, keyword("basins_file", BasinsFile))
    return as_command(reading_file, command, [one.replace(kind=one.KEYWORD_ONLY) for one in options])


def _takes_basins(annotation: Any) -> bool:
    marks = [mark for mark in getattr(annotation, "__metadata__", ()) if isinstance(mark, typer.models.OptionInfo)]
    named = any("--basin" in (mark.default, *(mark.param_decls or ())) for mark in marks)
    return named and any(get_origin(part) is list for part in get_args(get_args(annotation)[0]))


Adopt = Annotated[
    bool, flag("--adopt", "Adopt an agency's basin that an operator registered; what that operator stated is dropped.")
]
