"""What was pruned."""

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from records.tables.base import Base


class PrunedRow(Base):
    """Something that was kept and had an address of its own, and by how many days of which rule it was pruned."""

    __tablename__ = "pruned"

    rule: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    kept_days: Mapped[int]
