"""Commands that print an answer of the API, of what they read or have changed: as it is in JSON, else as a table."""

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from rich.console import RenderableType
from sqlalchemy.orm import Session

from freshet.cli.context import Context, MayCreateDatabase, opened
from freshet.cli.options import Csv, as_command, keyword, option
from freshet.cli.output import Json, answer
from hydrology.base.errors import InvalidInput
from hydrology.base.units import Units
from records.access.audit import Writer, command_line
from records.access.keys import Key
from runtime.clock import Clock
from runtime.settings import Settings

if TYPE_CHECKING:
    from app.exports.table import Table
    from app.http.base_schema import Model

Row = TypeVar("Row")
DischargeUnits = Annotated[Units, option("UNIT", "Of discharge: m3/s, mm/day or cfs.", "--units")]


@dataclass(frozen=True, slots=True)
class Reading:
    """Where a command reads: a transaction, the clock and the settings."""

    session: Session
    clock: Clock
    settings: Settings

    @property
    def now(self) -> datetime:
        return self.clock.now()

    @property
    def key(self) -> Key:
        return _key(self.clock.wall())


@dataclass(frozen=True, slots=True)
class Shown:
    """An answer, what shows it as text, and what builds its table for CSV where it has one."""

    answer: "Model | Mapping[str, Any]"
    text: Callable[[], RenderableType]
    table: "Callable[[], Table] | None" = None


def _key(wall: datetime) -> Key:
    """Return the rights of the command line: an admin's, without a stored key."""
    return Key("", command_line().name, "admin", wall, None, None)


def writer_of(context: Context) -> Writer:
    """Return what a command writes with, through the functions of the API's addresses."""
    wall = context.clock.wall()
    return Writer(_key(wall), command_line(), context.database, context.clock, wall)


def reads(view: Callable[..., Shown]) -> Callable[..., None]:
    """Return the command that prints what a function of a `Reading` and of options shows."""
    return _command(view, _reading)


def reads_series(view: Callable[..., Shown]) -> Callable[..., None]:
    """Return such a command of an answer that has a table: it takes `--csv`, too."""
    return _command(view, _reading, keyword("as_csv", Csv, False))


def writes(change: Callable[..., Shown], begins: MayCreateDatabase = MayCreateDatabase.NOWHERE) -> Callable[..., None]:
    """Return the command that prints what a function of a `Writer` and of options has changed."""
    return _command(change, partial(_writing, begins))


@contextmanager
def _reading() -> Iterator[Reading]:
    with opened(reads=True) as context, context.database.reading() as session:
        yield Reading(session, context.clock, context.settings)


@contextmanager
def _writing(begins: MayCreateDatabase) -> Iterator[Writer]:
    with opened(begins=begins) as context:
        yield writer_of(context)


def _command(
    view: Callable[..., Shown], place: Callable[[], AbstractContextManager[Any]], *more: inspect.Parameter
) -> Callable[..., None]:
    def command(*, as_json: bool, as_csv: bool = False, **given: Any) -> None:
        with place() as at:
            shown = view(at, **given)
            if as_csv:
                sys.stdout.write(_csv(shown))
                return
            text = "" if as_json else shown.text()
        answer(shown.answer, as_json, text)

    parameters = inspect.signature(view, eval_str=True).parameters.values()
    _, *options = (one.replace(kind=one.KEYWORD_ONLY) for one in parameters)
    return as_command(command, view, [*options, *more, keyword("as_json", Json, False)])


def cut(rows: Sequence[Row], limit: int, address: str, cursor: str = "id") -> tuple[list[Row], str | None]:
    """Return the first rows of a list, at most `limit`, and the address of those that follow over the API."""
    shown = list(rows[:limit])
    return shown, f"{address}?limit={limit}&after={getattr(shown[-1], cursor)}" if len(rows) > limit else None


def _csv(shown: Shown) -> str:
    from app.exports.formats import csv_of

    if shown.table is None:
        raise InvalidInput("This answer is not a table: leave --csv out.")
    return csv_of(shown.table()).decode()
