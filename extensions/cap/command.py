"""`freshet alerts cap`: a change as a message."""

from typing import Annotated

import typer

from freshet.cli.context import opened
from freshet.cli.options import argument


def cap(change: Annotated[str, argument("CHANGE", "Id of a change: its `event`.")]) -> None:
    """Print a change as a message of the Common Alerting Protocol 1.2."""
    from extensions.cap.endpoints import message

    with opened(reads=True) as context, context.database.reading() as session:
        typer.echo(message(session, context.settings, change).decode(), nl=False)
