"""Fused weather of a basin with all of the products that it is the mean of, over the days that one of them brings."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from sqlalchemy.orm import Session

from hydrology.base.calendar import Period
from hydrology.base.digests import fingerprint
from hydrology.base.products import WEATHER
from hydrology.base.series import DailySeries
from hydrology.weather.fused import mean_of_known
from ingestion.base import BasinData, SourceFile, SourceSeries
from records.basins import basins
from records.series import series
from records.weather.fused_products import FusedProduct, list_fused


def following(session: Session, written: Sequence[BasinData]) -> Iterator[list[BasinData]]:
    """Yield what follows from basins' stored data, for each of the products that are means of theirs.

    That is nothing in a basin without one of the products, and the whole record where the last of them begins.
    """
    weather = {data.basin: [one for one in data.series if one.variable in WEATHER] for data in written}
    for fused in list_fused(session) if any(weather.values()) else ():
        of_basins = {
            basin: brought
            for basin, of_basin in weather.items()
            if (brought := [one for one in of_basin if one.product in fused.parts])
        }
        known = series.basins_with(session, [*of_basins], fused.product, [*WEATHER])
        created, renewed = list[BasinData](), dict[tuple[str, ...], dict[str, Period]]()
        for basin in covered(session, fused, [*of_basins]):
            if basin not in known:
                created.append(of_record(session, fused, basin))
                continue
            names = tuple(sorted({one.variable for one in of_basins[basin]}))
            periods = [one.series.period for one in of_basins[basin]]
            renewed.setdefault(names, {})[basin] = _joint(periods)
        created += [data for names, days in renewed.items() for data in _of_days(session, fused, names, days)]
        if created:
            yield created


def covered(session: Session, fused: FusedProduct, basin_ids: Sequence[str]) -> list[str]:
    """Return the basins that have weather of all parts of a product, in order."""
    held = [series.basins_with(session, basin_ids, part, [*WEATHER]) for part in fused.parts]
    return sorted(set.intersection(*held))


def of_record(session: Session, fused: FusedProduct, basin: str) -> BasinData:
    """Return a basin's fused weather over all days that one of its parts has."""
    held = [one for one in series.catalogue(session, basin) if one.product in fused.parts and one.variable in WEATHER]
    days = _joint([one.period for one in held])
    (created,) = _of_days(session, fused, sorted({one.variable for one in held}), {basin: days})
    return created


def _of_days(
    session: Session, fused: FusedProduct, variables: Sequence[str], days: Mapping[str, Period]
) -> Iterator[BasinData]:
    """Yield basins' fused weather over the days of each, from the stored weather of its parts."""
    file, every = (
        SourceFile(f"mean of {' and '.join(fused.parts)}", fingerprint([*fused.parts]), 0),
        _joint(days.values()),
    )
    stored = basins.get_many(session, [*days])
    of_parts = [series.read_many_flagged(session, [*days], part, variables, every) for part in fused.parts]
    for at, (basin, own) in enumerate(days.items()):
        means = [
            mean_of_known(
                [
                    DailySeries(every.first, values[at, :, column], flags[at, :, column], WEATHER[name].unit)
                    for values, flags in of_parts
                ],
                own,
            )
            for column, name in enumerate(variables)
        ]
        areas = stored[basin].areas
        area = next((areas[part] for part in fused.parts if part in areas), None)
        yield BasinData(
            basin=basin,
            areas={} if area is None else {fused.product: area},
            series=tuple(
                SourceSeries(fused.product, name, mean, file) for name, mean in zip(variables, means, strict=True)
            ),
            files=(file,),
        )


def _joint(periods: Collection[Period]) -> Period:
    """Return the days from the first to the last of some periods."""
    return Period(min(days.first for days in periods), max(days.last for days in periods))
