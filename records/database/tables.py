"""Checksums of rows, and what was pruned."""

from datetime import datetime
from typing import ClassVar

from sqlalchemy.orm import Mapped, mapped_column

from records.database.base import Base


class PrunedRow(Base):
    """Something that was kept and had an address of its own, and by how many days of which rule it was pruned."""

    __tablename__ = "pruned"

    rule: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    retention_days: Mapped[int]


class Summed:
    """A row with the CRC-32 of what it says (`records.database.checksums`): `statements.add_all` writes it.

    Attributes:
        summed_names: the columns that say what the row is of, two at least.
        summed_contents: the columns of bytes.
        checksum: of both.
    """

    summed_names: ClassVar[tuple[str, ...]]
    summed_contents: ClassVar[tuple[str, ...]]

    checksum: Mapped[int]
