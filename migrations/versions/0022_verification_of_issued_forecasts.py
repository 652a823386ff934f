"""how true forecasts were that were issued, beside reforecasts."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

_PRIMARY = "pk_verification"
_ORIGIN = "ck_verification_origin"
_COLUMNS = ["version_id", "basin_id", "first_day", "last_day", "forecaster", "lead", "season"]


def upgrade() -> None:
    with op.batch_alter_table("verification") as batch:
        batch.add_column(sa.Column("origin", sa.String(), nullable=False, server_default="reforecast"))
        batch.add_column(sa.Column("weather", sa.String(), nullable=False, server_default="observed"))
        batch.alter_column("every_days", existing_type=sa.Integer(), nullable=True)
        batch.drop_constraint(op.f(_PRIMARY), type_="primary")
        batch.create_primary_key(op.f(_PRIMARY), [*_COLUMNS, "origin", "weather"])
        batch.create_check_constraint(op.f(_ORIGIN), "origin IN ('reforecast', 'issued')")
    with op.batch_alter_table("verification") as batch:
        batch.alter_column("origin", existing_type=sa.String(), server_default=None)
        batch.alter_column("weather", existing_type=sa.String(), server_default=None)


def downgrade() -> None:
    rows = sa.table("verification", sa.column("origin", sa.String()))
    op.execute(rows.delete().where(rows.c.origin == "issued"))
    with op.batch_alter_table("verification") as batch:
        batch.drop_constraint(op.f(_ORIGIN), type_="check")
        batch.drop_constraint(op.f(_PRIMARY), type_="primary")
        batch.create_primary_key(op.f(_PRIMARY), _COLUMNS)
        batch.alter_column("every_days", existing_type=sa.Integer(), nullable=False)
        batch.drop_column("weather")
        batch.drop_column("origin")
