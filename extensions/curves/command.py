"""`freshet models curves`."""

from pathlib import Path
from typing import Annotated

from extensions.curves.endpoints import curves_of, curves_table
from extensions.curves.events import CURVES, EventWriter
from freshet.cli.options import argument, option
from freshet.cli.output import inform, listing
from freshet.cli.reading import Reading, Shown, reads_series


@reads_series
def curves(
    at: Reading,
    version: Annotated[str, argument("VERSION", "Its id.")],
    tensorboard: Annotated[Path | None, option("FOLDER", "Write event files of TensorBoard there, too.")] = None,
) -> Shown:
    """Show the training curves of a version: loss, learning rate, gradient norm and validation score by step."""
    found = curves_of(at.session, version)
    for run in EventWriter(tensorboard)(at.session, version) if tensorboard else ():
        inform(f"Written: {run}")
    unit = "" if found.units["loss"] == "1" else f" in {found.units['loss']}"
    columns = " | ".join(("member", "step", *CURVES))
    return Shown(
        found,
        lambda: listing(found.points, columns, f"Training of version {version}, loss {found.loss_name}{unit}"),
        lambda: curves_table(found),
    )
