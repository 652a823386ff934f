"""Rating tables."""

from datetime import datetime

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from hydrology.base.calendar import Day
from hydrology.ratings.rating import Rating
from records.database.base import Base, Document, FreeText


class RatingRow(Base):
    """A rating table of a basin's gauge, in m and m3/s, from a day on until the next one."""

    __tablename__ = "ratings"

    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"), primary_key=True)
    valid_from: Mapped[Day] = mapped_column(primary_key=True)
    source: Mapped[FreeText]
    datum: Mapped[str | None]
    # As the file has them; null where it names none.
    site: Mapped[str | None]
    number: Mapped[str | None]
    shifted: Mapped[str | None]
    # m, with its sign
    largest_shift: Mapped[float]
    rating: Mapped[Rating] = mapped_column(Document(Rating))
    set_at: Mapped[datetime]
