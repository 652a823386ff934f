"""The changes of a what-if run, as in answers."""

from app.forecasts.schemas import IncrementOfRun, StormOfRun, WhatIf
from jobspec.changes import Changes
from records.runs.run_types import Run


def what_if(run: Run) -> WhatIf | None:
    """Return the changes of a run; None if it is not a what-if run."""
    shown = run.what_if
    if shown is None:
        return None
    changes = Changes.model_validate(shown.changes)
    return WhatIf(
        in_words=changes.in_words,
        degrees=changes.degrees,
        precipitation_percent=changes.precipitation_percent,
        storm=None if changes.storm is None else StormOfRun(**changes.storm.model_dump()),
        increment=None if changes.increment is None else IncrementOfRun(**changes.increment.model_dump()),
        assimilate=changes.assimilate,
        note=shown.note,
        base=shown.base,
    )
