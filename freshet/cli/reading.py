"""Commands that print an answer of the API: as it is in JSON, else as a table."""

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from rich.console import RenderableType
from sqlalchemy.orm import Session

from freshet.cli.context import opened
from freshet.cli.options import Csv, option
from freshet.cli.output import Json, answer
from hydrology.base.errors import InvalidInput
from hydrology.base.units import Units
from runtime.settings import Settings

if TYPE_CHECKING:
    from app.exports.table import Table
    from app.http.base_schema import Model
    from records.access.keys import Key
    from runtime.clock import Clock

Row = TypeVar("Row")
DischargeUnits = Annotated[Units, option("UNIT", "Of discharge: m3/s, mm/day or cfs.", "--units")]


@dataclass(frozen=True, slots=True)
class Reading:
    """Where a command reads: a transaction, the clock and the settings."""

    session: Session
    clock: "Clock"
    settings: Settings

    @property
    def now(self) -> datetime:
        return self.clock.now()

    @property
    def key(self) -> "Key":
        """The rights of the command line."""
        return command_line_key(self.clock.wall())


def command_line_key(wall: datetime) -> "Key":
    """Return the rights of the command line: an admin's, without a stored key."""
    from records.access import audit, keys

    return keys.Key("", audit.command_line().name, "admin", wall, None, None)


@dataclass(frozen=True, slots=True)
class Shown:
    """An answer, what shows it as text, and what builds its table for CSV where it has one."""

    answer: "Model"
    text: Callable[[], RenderableType]
    table: "Callable[[], Table] | None" = None


def reads(view: Callable[..., Shown]) -> Callable[..., None]:
    """Return the command that prints what a function of a `Reading` and of options shows."""
    return _command(view)


def reads_series(view: Callable[..., Shown]) -> Callable[..., None]:
    """Return such a command of an answer that has a table: it takes `--csv`, too."""
    return _command(view, inspect.Parameter("as_csv", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Csv))


def _command(view: Callable[..., Shown], *more: inspect.Parameter) -> Callable[..., None]:
    def command(*, as_json: bool, as_csv: bool = False, **given: Any) -> None:
        with opened(reads=True) as context, context.database.reading() as session:
            shown = view(Reading(session, context.clock, context.settings), **given)
            if as_csv:
                sys.stdout.write(_csv(shown))
                return
            text = "" if as_json else shown.text()
        answer(shown.answer.model_dump(mode="json", exclude_unset=True), as_json, text)

    signature = inspect.signature(view, eval_str=True)
    _, *options = (one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in signature.parameters.values())
    as_json = inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json)
    command.__name__, command.__doc__ = view.__name__, view.__doc__
    command.__signature__ = inspect.Signature([*options, *more, as_json])  # type: ignore[attr-defined]
    return command


def cut(rows: Sequence[Row], limit: int, address: str, cursor: Callable[[Row], object]) -> tuple[list[Row], str | None]:
    """Return the first rows of a list, at most `limit`, and the address of those that follow over the API."""
    shown = list(rows[:limit])
    return shown, f"{address}?limit={limit}&after={cursor(shown[-1])}" if len(rows) > limit else None


def _csv(shown: Shown) -> str:
    from app.exports.formats import csv_of

    if shown.table is None:
        raise InvalidInput("This answer is not a table: leave --csv out.")
    return csv_of(shown.table()).decode()
