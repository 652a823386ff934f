"""`freshet reproduce`: compute a stored run again, and compare the bits."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from freshet.cli.context import opened
from freshet.cli.options import OnlyBasins
from freshet.cli.output import Json, answer, exit_if_failed, first_rows, inform
from freshet.cli.progress import reporting
from hydrology.base.errors import counted

if TYPE_CHECKING:
    from operations.upkeep.receipts import BasinReceipt
    from operations.upkeep.reproduce import Receipt


def reproduce(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The run, by its id.")],
    basin: OnlyBasins = None,
    as_json: Json = False,
) -> None:
    """Compute a stored run again from its stored inputs, and compare every result bit by bit.

    A run of the same program (torch, processor, recurrence) gives the same bits. Where results differ, the largest
    difference is shown with its cause: inputs revised since, or another program or version. Nothing is stored.
    """
    with opened() as context:
        from operations.upkeep.reproduce import reproduce as compute_again

        with reporting() as reporter:
            work = replace(context, progress=partial(reporter.show, "basin-days to T0"))
            receipt = compute_again(work, run, basin or ())
    from operations.upkeep.receipts import CAUSES

    causes = dict.fromkeys(
        cause for one in receipt.basins for difference in one.different for cause in difference.causes
    )
    for cause in causes:
        inform(f"{cause}: {CAUSES[cause]}.")
    for name, reason in receipt.without_results.items():
        inform(f"{name} has no results to compare: {reason}")
    rows = [_row(one) for one in receipt.basins]
    title = (
        f"Run {run}: {receipt.reproduced} of {counted(len(receipt.basins), 'basin has', 'basins have')} the stored bits"
    )
    columns = ("basin", "result", "array", "largest difference", "relative", "causes")
    answer(_json(receipt), as_json, first_rows(columns, rows, title))
    exit_if_failed(len(receipt.basins) - receipt.reproduced, len(receipt.basins))


def _row(one: "BasinReceipt") -> tuple[object, ...]:
    if one.reason is not None:
        return one.basin_id, "not compared", None, None, None, str(one.reason)
    worst = one.worst or next(iter(one.different), None)
    result = "bit-equal" if one.reproduced else "different"
    if worst is None:
        return one.basin_id, result, None, None, None, None
    amount = None if worst.largest is None else f"{worst.largest:.3g} {worst.unit}"
    relative = None if worst.relative is None else f"{worst.relative:.1e}"
    return one.basin_id, result, worst.variable, amount, relative, ", ".join(worst.causes)


def _json(receipt: "Receipt") -> dict[str, Any]:
    run = receipt.run
    return {
        "run": run.id,
        "program": {"run": run.program, "here": receipt.program},
        "code_version": {"run": run.code_version, "here": receipt.code_version},
        "reproduced": receipt.reproduced,
        "basins": {one.basin_id: _basin_json(one) for one in receipt.basins},
        "without_results": receipt.without_results,
    }


def _basin_json(one: "BasinReceipt") -> dict[str, Any]:
    return {
        "reproduced": one.reproduced,
        "equal": one.equal,
        "different": one.different,
        "not_computed": one.not_computed,
        "reason": one.reason,
    }
