"""What makes a table one whose rows carry a checksum."""

from typing import ClassVar

from sqlalchemy.orm import Mapped


class Summed:
    """A row with the CRC-32 of what it says (`records.checksums`): `statements.add_all` writes it.

    Attributes:
        summed_names: the columns that say what the row is of, two at least.
        summed_contents: the columns of bytes.
        checksum: of both. 0 until a migration has computed that of a row from before there were any.
    """

    summed_names: ClassVar[tuple[str, ...]]
    summed_contents: ClassVar[tuple[str, ...]]

    checksum: Mapped[int]
