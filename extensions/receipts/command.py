"""`freshet reproduce`: a stored run computed again, and compared."""

from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from extensions.receipts import comparison
from extensions.receipts import reproduce as computing
from freshet.cli.context import opened
from freshet.cli.options import OnlyBasins, argument
from freshet.cli.output import Json, answer, exit_if_failed, first_rows, inform, reporting
from hydrology.base.errors import counted
from records.database.stored import as_values


def reproduce(
    run: Annotated[str, argument("RUN", "The run, by its id.")],
    basin: OnlyBasins = None,
    as_json: Json = False,
) -> None:
    """Compute a stored run again from its stored inputs, and compare every result bit by bit.

    A run of the same program (torch, processor, recurrence) gives the same bits. Where results differ, the largest
    difference is shown with its cause: inputs revised since, or another program or version. Nothing is stored.
    """
    with opened() as context, reporting() as reporter:
        work = replace(context, progress=partial(reporter.show, "run again"))
        receipt = computing.reproduce(work, run, basin or ())
    causes = dict.fromkeys(
        cause for one in receipt.basins for difference in one.different for cause in difference.causes
    )
    for cause in causes:
        inform(f"{cause}: {comparison.CAUSES[cause]}.")
    for name, reason in receipt.without_results.items():
        inform(f"{name} has no results to compare: {reason}")
    rows = [_compared(one) for one in receipt.basins]
    title = (
        f"Run {run}: {receipt.reproduced} of {counted(len(receipt.basins), 'basin has', 'basins have')} the stored bits"
    )
    columns = ("basin", "result", "array", "largest difference", "relative", "causes")
    answer(_receipt(receipt), as_json, first_rows(columns, rows, title))
    exit_if_failed(len(receipt.basins) - receipt.reproduced, len(receipt.basins))


def _compared(one: "comparison.BasinReceipt") -> tuple[object, ...]:
    if one.reason is not None:
        return one.basin_id, "not compared", None, None, None, str(one.reason)
    worst = one.worst or next(iter(one.different), None)
    result = "bit-equal" if one.reproduced else "different"
    if worst is None:
        return one.basin_id, result, None, None, None, None
    amount = None if worst.largest is None else f"{worst.largest:.3g} {worst.unit}"
    relative = None if worst.relative is None else f"{worst.relative:.1e}"
    return one.basin_id, result, worst.variable, amount, relative, ", ".join(worst.causes)


def _receipt(receipt: "computing.Receipt") -> dict[str, Any]:
    run = receipt.run
    return {
        "run": run.id,
        "program": {"run": run.program, "here": receipt.program},
        "code_version": {"run": run.code_version, "here": receipt.code_version},
        "reproduced": receipt.reproduced,
        "basins": {one.basin_id: {"reproduced": one.reproduced} | as_values(one, "basin_id") for one in receipt.basins},
        "without_results": receipt.without_results,
    }
