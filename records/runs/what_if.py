"""What a what-if run changes, kept as JSON with it."""

from dataclasses import dataclass
from typing import Any

from records.database.json_columns import CLOSED


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWhatIf:
    """What was asked.

    Attributes:
        changes: as `jobspec.changes.Changes.told` has them; empty where the run is there to be compared with.
        note: why it was asked; None where nobody said.
        by: the name of the key that posted the job, or who used the command line; None where it is not known.
        base: the run without changes that it is to be compared with; None where it changes nothing itself.
    """

    __pydantic_config__ = CLOSED

    changes: dict[str, Any]
    note: str | None = None
    by: str | None = None
    base: str | None = None
