"""A feed of observation tables in files, in the format of `freshet ingest tables`."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from hydrology.base.calendar import Period
from hydrology.base.errors import Problem
from hydrology.base.products import Credit
from hydrology.base.series import DailySeries, Flag
from ingestion.base import ANY_FILES, Files, unreadable
from ingestion.feeds.base import FeedProblem, FetchedBasinData, FetchWindow, Observations, Site
from ingestion.feeds.http import FeedAccess
from ingestion.sources.tables import TablesSource
from jobspec.feeds import FilesSettings

_SUFFIXES = (".csv", ".json")
MAX_FILES = 1_000


class FilesFeed:
    """Tables of observations in files or folders.

    `paths` are files, and folders whose `.csv` and `.json` are read in the order of their names.
    """

    credit = Credit("Observations from files of this service's operator.", "as its operator states")

    def __init__(self, paths: Sequence[Path], product: str, files: Files = ANY_FILES) -> None:
        self._paths, self._product, self._files = paths, product, files

    def fetch(self, sites: Sequence[Site], wanted: FetchWindow) -> Iterator[FetchedBasinData]:
        """Yield the tables' data of basins for the requested days. A later file takes precedence.

        Where a table cannot be used, no basin gets data, because the table's basins are unknown.
        """
        names = [site.basin for site in sites]
        try:
            tables = [TablesSource(None, path, self._product, names, self._files) for path in self._listed()]
        except Problem as problem:
            yield from (FetchedBasinData(basin, problem) for basin in names)
            return
        for site in sites:
            days = Period(wanted.days.first, wanted.last_of(site))
            held = [table.read(site.basin) for table in tables if site.basin in table.basins()]
            variables: dict[str, DailySeries] = {}
            for series in (series for data in held for series in data.series):
                part = series.series.period.overlap(days) if days.first <= days.last else None
                if part is not None:
                    before = variables.get(series.variable)
                    variables[series.variable] = _overlaid(before, series.series.over(part))
            yield FetchedBasinData(
                site.basin, Observations(variables, f"{', '.join(map(str, self._paths))} {site.basin}")
            )

    def _listed(self) -> list[Path]:
        listed = []
        for path in map(self._files.locate, self._paths):
            listed += [file for file in _inside(path) if file == path or file.suffix.lower() in _SUFFIXES]
        if not listed or len(listed) > MAX_FILES:
            raise FeedProblem(f"There are {len(listed)} tables (.csv, .json) to read: lay down 1 to {MAX_FILES}.")
        return listed


def files_feed(settings: FilesSettings, access: FeedAccess) -> FilesFeed:
    """Open a feed of files."""
    paths, files = access.read_places(settings.from_)
    return FilesFeed(paths, settings.product, files)


def _inside(path: Path) -> list[Path]:
    """Return a folder's paths by name, or the path of a file."""
    try:
        return sorted(path.iterdir()) if path.is_dir() else [path]
    except OSError as error:
        raise unreadable(path, error) from error


def _overlaid(before: DailySeries | None, after: DailySeries) -> DailySeries:
    """Merge two series of a variable; on common days the second counts."""
    if before is None:
        return after
    if before.unit != after.unit:
        raise FeedProblem("Two tables give one variable in different units: convert one of them.")
    span = Period(min(before.start, after.start), max(before.period.last, after.period.last))
    old, new = before.over(span), after.over(span)
    absent = new.flags & Flag.ABSENT != 0
    return DailySeries(
        span.first, np.where(absent, old.values, new.values), np.where(absent, old.flags, new.flags), after.unit
    )
