"""Fused weather of a basin with all of the products that it is the mean of, over the days that one of them brings."""

from collections.abc import Iterator, Sequence

from sqlalchemy.orm import Session

from hydrology.base.calendar import Period
from hydrology.base.digests import fingerprint
from hydrology.base.products import WEATHER
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
        if whole := covered(session, fused, [*of_basins]):
            yield [
                _mean(session, fused, basin, of_basins[basin]) if basin in known else of_record(session, fused, basin)
                for basin in whole
            ]


def covered(session: Session, fused: FusedProduct, basin_ids: Sequence[str]) -> list[str]:
    """Return the basins that have weather of all parts of a product, in order."""
    held = [series.basins_with(session, basin_ids, part, [*WEATHER]) for part in fused.parts]
    return sorted(set.intersection(*held))


def _mean(session: Session, fused: FusedProduct, basin: str, brought: Sequence[SourceSeries]) -> BasinData:
    periods = [one.series.period for one in brought]
    days = Period(min(of.first for of in periods), max(of.last for of in periods))
    return of_days(session, fused, basin, sorted({one.variable for one in brought}), days)


def of_record(session: Session, fused: FusedProduct, basin: str) -> BasinData:
    """Return a basin's fused weather over all days that one of its parts has."""
    held = [one for one in series.catalogue(session, basin) if one.product in fused.parts and one.variable in WEATHER]
    days = Period(min(one.period.first for one in held), max(one.period.last for one in held))
    return of_days(session, fused, basin, sorted({one.variable for one in held}), days)


def of_days(session: Session, fused: FusedProduct, basin: str, variables: Sequence[str], days: Period) -> BasinData:
    """Return a basin's fused weather over some days, from the stored weather of its parts."""
    file = SourceFile(f"mean of {' and '.join(fused.parts)}", fingerprint([*fused.parts]), 0)
    given = {name: [series.read(session, basin, part, name, days) for part in fused.parts] for name in variables}
    created = tuple(
        SourceSeries(fused.product, name, mean_of_known(of_parts, days), file) for name, of_parts in given.items()
    )
    areas = basins.get(session, basin).areas
    area = next((areas[part] for part in fused.parts if part in areas), None)
    return BasinData(basin=basin, areas={} if area is None else {fused.product: area}, series=created, files=(file,))
