"""Every writer of observations checks here that their days have ended at the basin, by the service's clock."""

from dataclasses import replace
from datetime import datetime

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day, Period
from hydrology.base.series import Flag
from ingestion.base import BasinData, SourceError, SourceSeries
from ingestion.daily import ReadSeries
from operations.basin_data.basins import TIME_ZONE, last_ended
from records.basins import basins
from records.basins.tables import Basin


def ended_only(session: Session, data: BasinData, now: datetime) -> BasinData:
    """Return a basin's data without the valueless days that have not ended at it.

    Args:
        now: by the service's clock; of an archive by the machine's, because a service that replays it stands before
            its end.

    Raises:
        SourceError: there is a value of such a day; names its file, line, column, day and value.
    """
    if not data.series:
        return data
    last = last_ended(_place(session, data), now)
    return replace(data, series=tuple(ended for one in data.series if (ended := _ended(data.basin, one, last, now))))


def _place(session: Session, data: BasinData) -> Basin:
    """Return the basin with the longitude and the time zone that it has, or is about to have."""
    known = basins.known(session, [data.basin])
    stored = basins.get(session, data.basin) if known else Basin(data.basin)
    zone = {TIME_ZONE: data.texts[TIME_ZONE]} if TIME_ZONE in data.texts else {}
    longitude = stored.longitude if data.longitude is None else data.longitude
    return replace(stored, longitude=longitude, texts={**stored.texts, **zone})


def _ended(basin: str, one: SourceSeries, last: Day, now: datetime) -> SourceSeries | None:
    daily = one.series
    if daily.period.last <= last:
        return one
    stated = ~np.isnan(daily.values) | (daily.flags & Flag.SUSPECT != 0)
    if (future := stated & (daily.days > last)).any():
        at = int(future.argmax())
        column, line = (daily.column, int(daily.lines[at])) if isinstance(daily, ReadSeries) else (one.variable, 0)
        raise SourceError(
            one.file.name,
            f"{column} on {daily.days[at]} ({daily.values[at]:g}) is of a day that has not ended at {basin}, where "
            f"{last} is the last that has, by the clock of the service, which stands at {now:%Y-%m-%dT%H:%MZ}",
            "correct the date, or send the day when it has ended",
            line or None,
        )
    return replace(one, series=daily.over(Period(daily.start, last))) if daily.start <= last else None
