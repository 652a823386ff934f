"""The options of a command from the model of a job's parameters, and the parameters from the options."""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from freshet.cli.options import keyword
from freshet.cli.text_files import read_json
from hydrology.base.calendar import Day, Period
from hydrology.climatology.volumes import Season
from jobspec.fields import RequestModel, faults
from jobspec.jobs.base import JobRequest

_METAVARS = {Period: "FIRST..LAST", Day: "YYYY-MM-DD", Season: "MM-DD..MM-DD", int: "NUMBER", float: "NUMBER"}
_READ_BY_TYPER = (bool, int, float)
_WITH_DEFAULT = (str, int, float)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the command line of a kind of job differs from the names of its fields.

    Attributes:
        group: the nested model that the command is about: its fields stand without its name, and are required as there.
        spans: names of the options for the first and the last day of a period.
    """

    arguments: Sequence[str] = ()
    group: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    spans: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    left_out: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class JobOption:
    """A field of a job's parameters on the command line; `name` is None for an argument."""

    path: tuple[str, ...]
    info: FieldInfo
    name: str | None
    required: bool
    about: str = ""

    @property
    def key(self) -> str:
        """The name of its parameter in the command's function."""
        return "_".join(self.path)

    @property
    def shown(self) -> str:
        """What a message calls it."""
        return self.name or self._noun

    @property
    def _noun(self) -> str:
        return _singular(self.path[-1]).upper()

    @property
    def annotation(self) -> Any:
        kind, several = _kind(self.info.annotation)
        read = kind if kind in _READ_BY_TYPER or get_origin(kind) is Literal else str
        texts: dict[str, Any] = {"metavar": _metavar(kind) or self._noun, "help": self._help(several)}
        if self.name is None:
            declared = typer.Argument(**texts)
        elif kind is bool:
            both = f"{self.name}/--no-{self.name[2:]}" if self.info.default is None else self.name
            declared = typer.Option(both, **texts | {"metavar": ""})
        else:
            declared = typer.Option(self.name, **texts)
        return Annotated[(list[read] if several else read) | None, declared]  # type: ignore[valid-type]

    def _help(self, several: bool) -> str:
        default = self.info.default
        parts = [self.about, _description(self.info), "Repeat it for more." if several else ""]
        parts += [f"Default: {default}."] if isinstance(default, _WITH_DEFAULT) and default is not False else []
        return " ".join(filter(None, parts))


class JobOptions:
    """The options of a kind of job."""

    def __init__(self, job: type[JobRequest], layout: Layout) -> None:
        self.kind: str = get_args(job.model_fields["kind"].annotation)[0]
        self._params: type[RequestModel] = get_type_hints(job)["params"]
        self._options, self._spans = list(_options(self._params, layout)), layout.spans.keys()

    def keywords(self) -> list[inspect.Parameter]:
        """Return the parameters of the command's function, arguments first."""
        required = inspect.Parameter.empty
        return [
            keyword(option.key, option.annotation, required if option.required else None)
            for option in sorted(self._options, key=lambda option: option.name is not None)
        ]

    def params(self, given: Mapping[str, Any]) -> RequestModel:
        """Return the parameters that options set; None sets nothing, and other fields have their defaults."""
        params: dict[str, Any] = {}
        for option in self._options:
            if (value := given.get(option.key)) not in (None, []):
                _set(params, option, value)
        for name in self._spans & params.keys():
            params[name] = "..".join(params[name].values())
        try:
            return self._params.model_validate(params)
        except ValidationError as error:
            from jobspec.kinds import InvalidRequest

            sentence = faults(error, params, self._option_of)
            shown = re.sub(r"`([a-z_.]+)`", lambda name: self._option_of(name[1]), sentence)
            raise InvalidRequest(f"The {self.kind} is not possible: {shown}.") from None

    def _option_of(self, path: str) -> str:
        """Return the option of a field, or of the one that holds it; without one, its path."""
        by_path = {".".join(option.path): option.shown for option in self._options}
        outer = path
        while outer and outer not in by_path:
            outer = outer.rpartition(".")[0]
        return by_path.get(outer, path)


def _options(
    model: type[BaseModel],
    layout: Layout,
    path: tuple[str, ...] = (),
    prefix: str = "--",
    required: bool = True,
    about: str = "",
) -> Iterator[JobOption]:
    for name, info in model.model_fields.items():
        field_path = (*path, info.alias or name)
        dotted = ".".join(field_path)
        inner, several = _kind(info.annotation)
        if dotted in layout.left_out:
            continue
        if dotted in layout.spans:
            day = FieldInfo(annotation=Day, description=info.description)
            ends = zip(("first", "last"), layout.spans[dotted], strict=True)
            yield from (JobOption((*field_path, end), day, option, required, f"The {end} day.") for end, option in ends)
        elif isinstance(inner, type) and issubclass(inner, BaseModel):
            is_group = dotted == layout.group or info.default is not None
            needed = required and (dotted == layout.group or info.is_required())
            outer, words = (prefix, "") if is_group else (f"{prefix}{name}-", inner.__doc__ or "")
            yield from _options(inner, layout, field_path, outer, needed, words)
        else:
            option = prefix + (_singular(field_path[-1]) if several else field_path[-1]).replace("_", "-")
            shown = None if dotted in layout.arguments else layout.names.get(dotted, option)
            yield JobOption(field_path, info, shown, required and info.is_required(), about)


def _description(info: FieldInfo) -> str:
    parts = [part for of_union in get_args(info.annotation) for part in get_args(of_union)]
    declared = (part.description for part in parts if isinstance(part, FieldInfo))
    return info.description or next(filter(None, declared), "")


def _set(params: dict[str, Any], option: JobOption, value: Any) -> None:
    for name in option.path[:-1]:
        params = params.setdefault(name, {})
    params[option.path[-1]] = read_json(Path(value)) if _metavar(_kind(option.info.annotation)[0]) == "FILE" else value


def _kind(annotation: Any) -> tuple[Any, bool]:
    """Return the type of a field, or of its elements; and whether it is a list."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _kind(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return _kind(next(part for part in get_args(annotation) if part is not NoneType))
    if origin is list:
        return _kind(get_args(annotation)[0])[0], True
    return annotation, False


def _metavar(kind: Any) -> str | None:
    return "FILE" if get_origin(kind) is dict else _METAVARS.get(kind)


def _singular(name: str) -> str:
    return name.removesuffix("s")
