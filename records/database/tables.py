"""Checksums of rows, and pruned records."""

from datetime import datetime
from typing import ClassVar

from sqlalchemy.orm import Mapped, mapped_column

from records.database.base import Base


class PrunedRow(Base):
    """A pruned record that had an address of its own, with the rule and its number of days."""

    __tablename__ = "pruned"

    rule: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    retention_days: Mapped[int]


class Checksummed:
    """A row with the CRC-32 of its content (`records.database.checksums`): `statements.add_all` writes it.

    Attributes:
        summed_names: the columns that identify the row, at least two.
        summed_contents: the columns of bytes.
        checksum: of both.
    """

    summed_names: ClassVar[tuple[str, ...]]
    summed_contents: ClassVar[tuple[str, ...]]

    checksum: Mapped[int]
