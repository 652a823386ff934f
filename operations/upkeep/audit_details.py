"""Details of ingested data for the audit trail: source, checksums and changes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ingestion.base import BasinData, Source, SourceFile
from operations.basin_data.ingest import IngestResult
from records.feeds import feeds
from records.feeds.feeds import FetchedBasin

MAX_FILES = 20
"""Maximum number of files that an entry names; the entry counts all."""


class ReadFiles:
    """A source that records which files it has read for each basin."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.by_basin: dict[str, tuple[SourceFile, ...]] = {}

    def basins(self) -> list[str]:
        return self._source.basins()

    def read(self, basin: str) -> BasinData:
        data = self._source.read(basin)
        self.by_basin[basin] = data.files
        return data

    def of(self, outcomes: Sequence[IngestResult]) -> list[SourceFile]:
        """Return the files of the basins that were stored, without duplicates."""
        stored = [outcome.basin for outcome in outcomes if outcome.status != "failed"]
        return list(dict.fromkeys(file for basin in stored for file in self.by_basin.get(basin, ())))


def changes(outcomes: Sequence[IngestResult]) -> dict[str, Any]:
    """Return the changes: basins by status, days added and replaced, states invalidated, and whose was adopted."""
    adopted = {outcome.basin: outcome.adopted for outcome in outcomes if outcome.adopted is not None}
    return {
        **({"adopted": adopted} if adopted else {}),
        **Counter(outcome.status for outcome in outcomes),
        "new_days": sum(outcome.new_days for outcome in outcomes),
        "changed_days": sum(outcome.changed_days for outcome in outcomes),
        "invalidated_states": sum(outcome.invalidated_states for outcome in outcomes),
    }


def fetched(done: Sequence[FetchedBasin], read: Sequence[SourceFile]) -> dict[str, Any]:
    """Return what a fetch changed: basins by status, days that are new and that were replaced; and what it read."""
    return {
        **feeds.statuses(done),
        "new_days": sum(one.new_days for one in done),
        "changed_days": sum(one.revised_days for one in done),
        **files(list(dict.fromkeys(read)), {}),
    }


def files(read: Sequence[SourceFile], places: Mapping[str, str]) -> dict[str, Any]:
    """Return the names and checksums of files; `places` has the shown name of a folder, by its path."""
    named = [{"name": shown(file.name, places), "sha256": file.sha256} for file in read[:MAX_FILES]]
    return {"files": named, "file_count": len(read)}


def shown(name: str, places: Mapping[str, str]) -> str:
    """Return a URL without user and query, or a path relative to its folder in `places`.

    A path elsewhere is shown by its last part.
    """
    if "://" in name:
        url = urlsplit(name)
        host = url.netloc.rpartition("@")[2]
        checksum = f"#{url.fragment}" if url.fragment.startswith("sha256=") else ""
        return f"{url.scheme}://{host}{url.path}{checksum}"
    path, _, member = name.partition("!")
    for place, called in places.items():
        if Path(path).is_relative_to(place):
            within = str(Path(path).relative_to(place))
            path = "!".join(part for part in (called, within) if part not in ("", "."))
            break
    else:
        path = Path(path).name
    return f"{path}!{member}" if member else path
