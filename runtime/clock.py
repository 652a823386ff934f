"""The one clock: now, or the instant that an archive is replayed at."""

from dataclasses import dataclass
from datetime import UTC, datetime

from hydrology.base.calendar import Day, day


@dataclass(frozen=True, slots=True)
class Clock:
    """What time it is for the service (`now`) and for the machine (`wall`).

    `as_of` is the instant at which the service believes to stand; None is the machine's own time.
    """

    as_of: datetime | None = None

    @property
    def replays(self) -> bool:
        """Whether the service stands at an instant that is not the machine's."""
        return self.as_of is not None

    def now(self) -> datetime:
        """Return the service's time, in UTC."""
        return self.wall() if self.as_of is None else self.as_of.astimezone(UTC)

    def today(self) -> Day:
        """Return the service's day, in UTC."""
        return day(self.now().date())

    def wall(self) -> datetime:
        """Return the machine's time, in UTC."""
        return datetime.now(UTC)
