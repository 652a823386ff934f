"""Count the days of a series' years that have no value: gaps are found without reading the whole years."""

import numpy as np
import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

KEY = ("basin_id", "product", "variable", "year")
SERIES = sa.table("series", *(sa.column(name) for name in (*KEY, "value_bytes", "unknown_days")))


def upgrade() -> None:
    with op.batch_alter_table("series") as table:
        table.add_column(sa.Column("unknown_days", sa.Integer(), nullable=True))
    connection = op.get_bind()
    same_row = (SERIES.c[name] == sa.bindparam(f"of_{name}") for name in KEY)
    counted = SERIES.update().where(*same_row).values(unknown_days=sa.bindparam("count"))
    for basin in connection.scalars(sa.select(SERIES.c.basin_id).distinct()).all():
        rows = connection.execute(sa.select(SERIES).where(SERIES.c.basin_id == basin)).mappings()
        connection.execute(
            counted,
            [
                {f"of_{name}": row[name] for name in KEY}
                | {"count": int(np.isnan(np.frombuffer(row["value_bytes"], "<f4")).sum())}
                for row in rows
            ],
        )
    with op.batch_alter_table("series") as table:
        table.alter_column("unknown_days", existing_type=sa.Integer(), nullable=False)


def downgrade() -> None:
    with op.batch_alter_table("series") as table:
        table.drop_column("unknown_days")
