"""Run by alembic, inside the transaction of the connection that it is given."""

from typing import Any, Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlalchemy import TypeDecorator


def _plain_type(kind: str, item: Any, autogen: AutogenContext) -> str | Literal[False]:
    """Write our column types as what the database stores, so that old revisions need no code of ours."""
    del autogen
    return f"sa.{item.impl_instance!r}" if kind == "type" and isinstance(item, TypeDecorator) else False


connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    # What the next revision is written from; to run one needs none.
    target_metadata=context.config.attributes.get("metadata"),
    render_item=_plain_type,
    # SQLite alters a table by making it anew.
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
