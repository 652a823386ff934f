"""Workers: which there are."""

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from records.tables.base import Base, JsonList


class WorkerRow(Base):
    """A worker that has given a sign of life, and the queues that it takes jobs from."""

    __tablename__ = "workers"

    name: Mapped[str] = mapped_column(primary_key=True)
    queues: Mapped[JsonList]
    seen_at: Mapped[datetime]
