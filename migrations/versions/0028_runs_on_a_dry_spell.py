"""runs on weather without precipitation, which are never more than a what-if."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

_KINDS, _IMAGINED = "ck_runs_forcing_kind", "ck_runs_imagined"
_PARTS = ("run_ledger", "run_closures", "run_series", "run_basins")


def upgrade() -> None:
    with op.batch_alter_table("runs") as batch:
        batch.drop_constraint(op.f(_KINDS), type_="check")
        batch.create_check_constraint(op.f(_KINDS), "forcing_kind IN ('observed', 'supplied', 'climatology', 'dry')")
        batch.create_check_constraint(op.f(_IMAGINED), "forcing_kind <> 'dry' OR purpose = 'what-if'")


def downgrade() -> None:
    runs = sa.table("runs", sa.column("id", sa.String()), sa.column("forcing_kind", sa.String()))
    dry = sa.select(runs.c.id).where(runs.c.forcing_kind == "dry")
    for name in _PARTS:
        part = sa.table(name, sa.column("run_id", sa.String()))
        op.execute(part.delete().where(part.c.run_id.in_(dry)))
    op.execute(runs.delete().where(runs.c.forcing_kind == "dry"))
    with op.batch_alter_table("runs") as batch:
        batch.drop_constraint(op.f(_IMAGINED), type_="check")
        batch.drop_constraint(op.f(_KINDS), type_="check")
        batch.create_check_constraint(op.f(_KINDS), "forcing_kind IN ('observed', 'supplied', 'climatology')")
