"""Builds network inputs from records: gap-free forcing, discharge in mm/day, complete attributes.

A basin that cannot be used is left out with a reason. Precipitation is never guessed. Short gaps of the other forcings
are interpolated and the number of such days is reported; a network that skips gaps skips these days instead.
"""

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.basins import gauge_product
from hydrology.base.calendar import Day, Days, Period
from hydrology.base.products import DISCHARGE
from hydrology.base.reasons import Reason
from hydrology.base.series import DailySeries, Flag
from hydrology.base.units import area_by, to_mm_per_day
from hydrology.weather.quality import fill_short_gaps
from jobspec.training import InputsConfig, TrainingConfig
from models.ensemble import GROUP
from models.forcing import Array, Forcing, days_of
from models.networks import architecture
from models.pretrained.land import shipped_land
from operations.basin_data.basins import Attributes, completed
from operations.versions.learnt_days import attribute_means
from operations.versions.load_networks import LoadedVersion
from records.basins import basins
from records.basins.ownership import Basin
from records.feeds import feeds
from records.series import revisions, series, year_rows
from records.versions.versions import Version
from records.versions.versions import get as get_version


@dataclass(frozen=True, slots=True)
class BasinForcing:
    """The forcing of one basin, as far as its network can use it.

    Attributes:
        forcing: (1, days, ...) from the first day of the record; NaN on the days that a network skips.
        filled: by variable, the days that were interpolated here or filled by their source's stated rule.
        stop: why it ends before the record does; None where it does not.
        stamp: of the series it was read from (`series.stamp`).
        later: (days, variables; precipitation first), the known days after its usable ones, NaN where missing.
    """

    forcing: Forcing
    filled: dict[str, Days]
    stop: Absent | None
    stamp: int
    assumed: tuple[str, ...] = ()
    later: Array | None = None

    @property
    def period(self) -> Period:
        """The usable days."""
        return self.forcing.period

    def covering(self, period: Period) -> "BasinForcing | Absent":
        """Return it if its usable days cover a period, or why they do not."""
        if period.overlap(self.period) == period:
            return self
        basin, forcing = self.forcing.ids[0], str(self.period)
        return self.stop or absent(Reason.FORCING_TOO_SHORT, basin=basin, forcing=forcing, period=str(period))

    def filled_until(self, last: Day) -> dict[str, int]:
        """Return the number of days up to the last one that were interpolated or filled, by variable."""
        counts = {name: int((days <= last).sum()) for name, days in self.filled.items()}
        return {name: count for name, count in counts.items() if count}

    def skipped_until(self, last: Day) -> int:
        """Return the number of days up to the last one that are skipped."""
        return int(self.forcing.missing[0, : int((last - self.period.first).astype(int)) + 1].sum())

    def values_over(self, days: Period) -> Array:
        """Return the known values of a period, (days, variables; precipitation first), NaN where missing."""
        whole = np.concatenate([self.forcing.mass[0, :, np.newaxis], self.forcing.auxiliary[0]], axis=1)
        if self.later is not None:
            whole = np.concatenate([whole, self.later])
        places = np.arange(len(days)) + int((days.first - self.period.first).astype(int))
        inside = (places >= 0) & (places < len(whole))
        return np.where(inside[:, np.newaxis], whole[np.where(inside, places, 0)], np.float32(np.nan))

    def first_gap(self, days: Period) -> Day | None:
        """Return the first skipped day of a period, or None."""
        missing = self.forcing.over(days).missing[0]
        return days.days[int(missing.argmax())] if missing.any() else None


@dataclass(frozen=True, slots=True, kw_only=True)
class BasinRecord:
    """The stored weather of a basin, with what a network takes beside it.

    Attributes:
        names: of the variables, precipitation first.
        values: (days, variables), NaN where missing.
        marked: (days, variables), which of them were FILLED when they arrived.
        stamp: of the series (`series.stamp`).
    """

    basin: str
    product: str
    names: tuple[str, ...]
    days: Period
    values: Array
    marked: npt.NDArray[np.bool_]
    static: Attributes
    stamp: int
    feed: feeds.Feed | None

    def usable(self, *, skips_gaps: bool) -> BasinForcing | Absent:
        """Return the part that a network can use, or why there is none.

        One that skips gaps gets every day from the first complete one to the last; any other gets the days up to the
        first that cannot be used, short gaps interpolated.
        """
        filled: dict[str, Days] = {}
        stop, values = None, self.values.copy()
        if skips_gaps:
            complete = np.flatnonzero(~_unusable(values).any(axis=1))
            if not len(complete):
                return absent(Reason.NO_COMPLETE_DAY, basin=self.basin, product=self.product)
            first, after = int(complete[0]), int(complete[-1]) + 1
            values[_unusable(values)] = np.nan
        else:
            for at, name in enumerate(self.names[1:], start=1):
                filled[name] = self.days.first + fill_short_gaps(values[:, at])
            first = 0
            after, stop = self._until_unusable(values)
            if stop is not None and not after:
                return stop
        mass, auxiliary = values[None, first:after, 0], values[None, first:after, 1:]
        later = self._known_later(values, after, filled)
        for at, name in enumerate(self.names):
            if (of_source := self.days.days[self.marked[:, at]]).size:
                filled[name] = np.union1d(filled.get(name, of_source), of_source)
        forcing = Forcing(self.days.first + first, mass, auxiliary, _static_input(self.static), (self.basin,))
        return BasinForcing(forcing, filled, stop, self.stamp, self.static.assumed, later)

    def _known_later(self, values: Array, after: int, interpolated: Mapping[str, Days]) -> Array | None:
        """Return the values from a day on, NaN where missing or interpolated; None without any."""
        later = values[after:].copy()
        later[_unusable(later)] = np.nan
        for name, days in interpolated.items():
            later[np.isin(self.days.days[after:], days), self.names.index(name)] = np.nan
        return later if np.isfinite(later).any() else None

    def _until_unusable(self, values: Array) -> tuple[int, Absent | None]:
        """Return the number of days before the first that cannot be used, and why it cannot; None where all can."""
        unusable = _unusable(values)
        bad_days = np.flatnonzero(unusable.any(axis=1))
        if not len(bad_days):
            return len(values), None
        at = int(bad_days[0])
        day, negative = self.days.first + at, values[at, 0] < 0
        remedy = "ingest the day"
        if self.feed is not None:
            remedy = feeds.fetch_command(self.feed.name, self.basin, day, day)
        return at, absent(
            Reason.FORCING_NEGATIVE if negative else Reason.FORCING_MISSING,
            basin=self.basin,
            variables=", ".join(name for name, bad in zip(self.names, unusable[at], strict=True) if bad),
            product=self.product,
            day=str(day),
            remedy=remedy,
        )


def _unusable(values: Array) -> npt.NDArray[np.bool_]:
    """Return where a value (days, variables; precipitation first) is unusable."""
    unusable: npt.NDArray[np.bool_] = ~np.isfinite(values)
    unusable[:, 0] |= values[:, 0] < 0
    return unusable


def load_forcing(
    session: Session, basin: str, config: TrainingConfig, means: Mapping[str, float] | None = None
) -> BasinForcing | Absent:
    """Return a basin's forcing as the configured network takes it, or why it has none; see `load_forcings`."""
    return load_forcings(session, [basin], config, means)[basin]


def load_forcings(
    session: Session,
    ids: Sequence[str],
    config: TrainingConfig,
    means: Mapping[str, float] | None = None,
    known: Mapping[str, Day] | None = None,
) -> dict[str, BasinForcing | Absent]:
    """Return the forcing of basins as the configured network takes it, or why one has none (`BasinRecord.usable`).

    Args:
        means: of each attribute over the basins that a version learnt from. Where an operator allows it, a missing one
            is assumed: as it is around, or at the mean. None where nothing may be assumed, as in training.
        known: the last known day of each basin; later ones are not read. None: all stored days are.
    """
    skips_gaps = architecture(config.network).skips_gaps
    outcomes: dict[str, BasinForcing | Absent] = {}
    for first in range(0, len(ids), GROUP):
        group, records = [*ids[first : first + GROUP]], None
        while records is None:
            try:
                records = _read_records(session, group, config.inputs, means, known or {})
            except year_rows.DamagedSeries as problem:
                outcomes[problem.basin] = absent(Reason.FAILED, message=str(problem))
                group.remove(problem.basin)
        for basin, record in records.items():
            outcomes[basin] = record if isinstance(record, Absent) else record.usable(skips_gaps=skips_gaps)
    return outcomes


def forcings_of(
    session: Session, loaded: LoadedVersion, ids: Sequence[str], known: Mapping[str, Day] | None = None
) -> dict[str, BasinForcing | Absent]:
    """Return the forcing of basins as a version takes it, or why one has none; `known` as in `load_forcings`."""
    return load_forcings(session, ids, loaded.config, attribute_means(loaded.version), known)


def revised(session: Session, loaded: LoadedVersion, forcings: Mapping[str, BasinForcing]) -> set[str]:
    """Return the basins whose weather or attributes have been revised since their forcing was read."""
    ids, inputs = [*forcings], loaded.config.inputs
    stamps = series.stamps(session, ids, inputs.product)
    statics = _read_attributes(session, ids, inputs.static, attribute_means(loaded.version))
    return {
        basin
        for basin, of_basin in forcings.items()
        if stamps.get(basin, 0) != of_basin.stamp or not _is_static(statics[basin], of_basin.forcing)
    }


def _is_static(found: Attributes | Absent, forcing: Forcing) -> bool:
    return not isinstance(found, Absent) and np.array_equal(_static_input(found), forcing.static)


def _static_input(found: Attributes) -> Array:
    return found.values[None].astype(np.float32)


def inputs_key(loaded: LoadedVersion) -> Hashable:
    """Return what is equal of versions with the same forcing."""
    means = attribute_means(loaded.version)
    return loaded.config.inputs, architecture(loaded.config.network).skips_gaps, tuple(means.items())


def _read_records(
    session: Session,
    ids: Sequence[str],
    inputs: InputsConfig,
    means: Mapping[str, float] | None,
    known: Mapping[str, Day],
) -> dict[str, BasinRecord | Absent]:
    """Read the records of basins together, or why one has none; DamagedSeries: one cannot be read."""
    names, product = (inputs.mass, *inputs.auxiliary), inputs.product
    extents = series.extent(session, ids, product, names)
    statics = _read_attributes(session, ids, inputs.static, means)
    outcomes: dict[str, BasinRecord | Absent] = {}
    days: dict[str, Period] = {}
    for basin in ids:
        if missing := [name for name in names if (basin, name) not in extents]:
            others = ", ".join(sorted({entry.product for entry in series.catalogue(session, basin)})) or "nothing"
            lacking = ", ".join(missing)
            outcomes[basin] = absent(Reason.NO_FORCING, basin=basin, variables=lacking, product=product, stored=others)
        elif isinstance(static := statics[basin], Absent):
            outcomes[basin] = static
        else:
            of_basin = [extents[basin, name] for name in names]
            first, last = max(part.first for part in of_basin), max(part.last for part in of_basin)
            if known.get(basin, last) < first:
                outcomes[basin] = absent(Reason.RECORD_IN_FUTURE, basin=basin, product=product, first=str(first))
            else:
                days[basin] = Period(first, min(last, known.get(basin, last)))
    if not days:
        return outcomes
    span = Period(min(record.first for record in days.values()), max(record.last for record in days.values()))
    values, flags = series.read_many_flagged(session, list(days), product, names, span)
    stamps, feed = series.stamps(session, list(days), product), feeds.of_product(session, product)
    for (basin, record), of_span, flags_of_span in zip(days.items(), values, flags, strict=True):
        of_record, static = days_of(span, record), statics[basin]
        assert isinstance(static, Attributes)
        outcomes[basin] = BasinRecord(
            basin=basin,
            product=product,
            names=names,
            days=record,
            values=of_span[of_record],
            marked=flags_of_span[of_record] & Flag.FILLED != 0,
            static=static,
            stamp=stamps[basin],
            feed=feed,
        )
    return outcomes


def _read_attributes(
    session: Session, ids: Sequence[str], names: Sequence[str], means: Mapping[str, float] | None
) -> dict[str, Attributes | Absent]:
    rows = basins.attributes_of(session, ids, names)
    assuming = basins.assuming(session, ids) if np.isnan(rows).any() else set()
    guesses = {} if means is None else _guesses(session, assuming, means)
    return {
        basin: completed(basin, names, row, guesses.get(basin, means), basin in assuming)
        for basin, row in zip(ids, rows, strict=True)
    }


def _guesses(session: Session, assuming: Collection[str], means: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Return the attributes that may be assumed of basins: those of the land around, else the means."""
    places = {basin: (site.latitude, site.longitude) for basin, site in basins.sites(session, [*assuming]).items()}
    return {
        basin: {**means} if north is None or east is None else {**means, **shipped_land().at(north, east)}
        for basin, (north, east) in places.items()
    }


def skipped_days(
    session: Session, versions: Sequence[Version], basins: Sequence[str], period: Period
) -> dict[str, Days]:
    """Return the days of a period that any of the versions' networks skips, by basin: on them they are not compared
    with networks that do not."""
    parts = sorted({part.version for version in versions for part in version.parts})
    configs = [(part.training, attribute_means(part)) for part in (get_version(session, part) for part in parts)]
    skipping = [(config, means) for config, means in configs if architecture(config.network).skips_gaps]
    skipped: dict[str, Days] = {}
    for basin in basins if skipping else ():
        missing = np.zeros(len(period), dtype=bool)
        for config, means in skipping:
            found = load_forcing(session, basin, config, means)
            if not isinstance(found, Absent) and period.overlap(found.period) == period:
                missing |= found.forcing.over(period).missing[0]
        skipped[basin] = period.days[missing]
    return skipped


def load_discharge(session: Session, basin: str, products: Sequence[str], period: Period) -> Array | Absent:
    """Return observed discharge in mm/day, NaN where missing, or why none; by the products' area (`units.area_by`)."""
    ((_, found),) = discharge_of(session, [basins.get(session, basin)], products, period)
    return found if isinstance(found, Absent) else found.astype(np.float32)


def discharge_of(
    session: Session, stored: Sequence[Basin], products: Sequence[str], period: Period, by: datetime | None = None
) -> Iterator[tuple[str, npt.NDArray[np.float64] | Absent]]:
    """Yield basins with their discharge as `load_discharge` returns it, before it is rounded; as known at an instant,
    by default now."""
    areas = {one.id: area_by(one.areas, products) for one in stored}
    for basin, observed in _observed(session, [*areas], period, by):
        if isinstance(observed, year_rows.DamagedSeries):
            yield basin, absent(Reason.FAILED, message=str(observed))
        elif observed is None or not np.isfinite(observed.values).any():
            yield basin, absent(Reason.NO_DISCHARGE_OBSERVED, basin=basin, period=str(period))
        elif (area := areas[basin]) is None:
            yield basin, absent(Reason.NO_PRODUCT_AREA, basin=basin, product=products[0])
        else:
            yield basin, to_mm_per_day(observed.over(period).values, unit=observed.unit, area=area)


def _observed(
    session: Session, names: Sequence[str], period: Period, by: datetime | None
) -> Iterator[tuple[str, DailySeries | year_rows.DamagedSeries | None]]:
    if by is None:
        yield from series.read_variable(session, names, DISCHARGE, period=period)
        return
    for basin in names:
        try:
            yield basin, revisions.as_known_at(session, basin, gauge_product(basin), DISCHARGE, by, period)
        except year_rows.DamagedSeries as problem:
            yield basin, problem


def by_record(forcings: Mapping[str, BasinForcing]) -> Iterator[tuple[Period, list[str], Forcing]]:
    """Yield the basins whose records hold the same days: the days, the basins, and their forcing joined."""
    for record in sorted({forcing.period for forcing in forcings.values()}, key=str):
        names = [name for name, forcing in forcings.items() if forcing.period == record]
        yield record, names, stacked([forcings[name].forcing for name in names])


def stacked(forcings: Sequence[Forcing]) -> Forcing:
    """Join forcings of the same days along the basin axis."""
    first = forcings[0]
    return Forcing(
        first.first,
        np.concatenate([one.mass for one in forcings]),
        np.concatenate([one.auxiliary for one in forcings]),
        np.concatenate([one.static for one in forcings]),
        tuple(basin for one in forcings for basin in one.ids),
    )
