"""Feeds of USGS's older daily values, which end, ask its present API.

Basins and days stay, and a `form` of the answer is no longer needed. A chosen series stays under its basin: it is a
number of the older service, so the next fetch refuses that basin alone and lists the series to choose from.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

FEEDS = sa.table("feeds", sa.column("id"), sa.column("settings", sa.JSON()), sa.column("origin"))
GONE = ("form",)


def upgrade() -> None:
    connection = op.get_bind()
    for row in connection.execute(sa.select(FEEDS).where(FEEDS.c.origin == "nwis")).all():
        settings = {name: value for name, value in row.settings.items() if name not in GONE} | {"adapter": "usgs"}
        connection.execute(FEEDS.update().where(FEEDS.c.id == row.id).values(settings=settings, origin="usgs"))


def downgrade() -> None:
    """Leave the feeds as they are: an older Freshet asks the present API as well."""
