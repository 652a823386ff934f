"""Changes of a what-if run, stored as JSON with it."""

from dataclasses import dataclass
from typing import Any

from records.database.json_columns import CLOSED


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWhatIf:
    """The request of a what-if run.

    Attributes:
        changes: in the form of `jobspec.changes.Changes.as_json`; empty for a run to compare with.
        note: the stated purpose; None without one.
        by: the name of the key that posted the job, or the user of the command line; None if unknown.
        base: the run without changes to compare with; None if the run itself has none.
    """

    __pydantic_config__ = CLOSED

    changes: dict[str, Any]
    note: str | None = None
    by: str | None = None
    base: str | None = None
