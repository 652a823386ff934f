"""`freshet models export`: write a version in the shipped form."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from freshet.cli.context import opened
from freshet.cli.output import Json, answer, inform
from freshet.commands.versions import Version


def export(
    version: Version,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder to write to; created if missing.")],
    as_json: Json = False,
) -> None:
    """Write a version to files as an ensemble to ship, its weights in half precision.

    The parts of a combined version, and twins, are written into folders beside FOLDER. Complete the model card,
    README.md, yourself. `freshet models install-pretrained FOLDER` installs it, here or elsewhere.
    """
    from extensions.shipping.export import export as run

    with opened(reads=True) as context:
        done = run(context.database, version, folder)
    if not done.changed:
        inform("Nothing changed: the folder holds it already.")
    parts = f"the combination of {', '.join(done.parts)}" if done.parts else None
    members = parts or f"{len(done.members)} member{'s' if len(done.members) > 1 else ''}"
    payload = {"version": version, "folder": str(folder), **asdict(done)}
    answer(payload, as_json, f"{folder} holds {members} of {version}, content {done.content}.")
