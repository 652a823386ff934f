"""Imports weather forecasts from files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy.orm import Session

from hydrology.base.errors import DataProblem, Problem
from hydrology.weather.forcing import WeatherForecast
from ingestion import weather as files_of_weather
from ingestion.reading import ANY_FILES, Files
from operations.basin_data.check_incoming import ImpossibleWeather, check_forecast
from records.database.work import Work
from records.weather import weather_issues
from records.weather.weather_issues import StoredIssue
from runtime.clock import Clock


class NoWeather(DataProblem):
    """No basin has a weather forecast that can be stored."""

    kind = "no-weather"


@dataclass(frozen=True, slots=True)
class Imported:
    """The outcome of importing files: the weather forecast of each, by its path in their folder."""

    stored: Mapping[str, StoredIssue]
    failed: Mapping[str, str]

    @property
    def counts(self) -> dict[str, int]:
        """Number of files of which something is stored, and of their basins stored now and before."""
        issues = self.stored.values()
        new, known = (sum(len(getattr(issue, name)) for issue in issues) for name in ("new", "known"))
        return {"files": len(self.stored), "new": new, "known": known}

    @property
    def refused(self) -> dict[str, dict[str, str]]:
        """Why a file, or a basin of a file, is not stored, by file."""
        parts = {name: dict(issue.refused) for name, issue in self.stored.items() if issue.refused}
        return parts | {name: {"": reason} for name, reason in self.failed.items()}


def add_all(
    work: Work, place: Path, on_file: Callable[[str, int, int], None] = lambda _name, _done, _total: None
) -> Imported:
    """Import the weather forecast in a file, or those in the files of a folder and below it, each in one transaction.

    Imported again, it stores only what is new: after an interruption it goes on. `on_file` is called with each file
    before it is read, how many are done, and the total.
    """
    folder, names = place.parent, [place.name]
    if place.is_dir():
        files = [path for path in sorted(place.rglob("*")) if path.suffix.lower() in files_of_weather.SUFFIXES]
        folder, names = place, [str(path.relative_to(place)) for path in files if path.is_file()]
    stored: dict[str, StoredIssue] = {}
    failed: dict[str, str] = {}
    for done, name in enumerate(names):
        on_file(name, done, len(names))
        try:
            stored[name] = add(work, folder / name)
        except Problem as problem:
            failed[name] = str(problem)
    if not stored:
        nothing = f"{folder} has no file that ends in {', '.join(files_of_weather.SUFFIXES)}: name another folder."
        raise NoWeather(_why(failed) if failed else nothing)
    return Imported(stored, failed)


def add(work: Work, path: Path, files: Files = ANY_FILES, *, operational: bool = True) -> StoredIssue:
    """Import a weather forecast; refuse it per basin where unusable, and store the rest."""
    read = files_of_weather.read(path, work.clock.now(), files)
    if not read.forecasts:
        raise NoWeather(_why(read.refused))
    with work.database.transaction() as session:
        stored = store_usable(session, work.clock, read.forecasts, operational=operational)
        name = Path(files.shown(path)).name
        refused = {**read.refused, **{basin: f"{name}: {reason}" for basin, reason in stored.refused.items()}}
        if not stored.new and not stored.known:
            raise NoWeather(_why(refused))
    return replace(stored, refused=refused)


def store_usable(
    session: Session, clock: Clock, forecasts: Sequence[WeatherForecast], *, operational: bool
) -> StoredIssue:
    """Store the forecasts of an issue whose weather is possible, and return why others are not stored."""
    refused, warnings, usable = dict[str, str](), dict[str, tuple[str, ...]](), list[WeatherForecast]()
    for forecast in forecasts:
        try:
            if odd := check_forecast(session, forecast):
                warnings[forecast.basin] = tuple(odd)
            usable.append(forecast)
        except ImpossibleWeather as problem:
            refused[forecast.basin] = str(problem)
    if not usable:
        return StoredIssue("", (), (), refused)
    stored = weather_issues.store(session, usable, clock.wall(), operational=operational)
    return replace(stored, refused={**refused, **stored.refused}, warnings=warnings)


def _why(refused: Mapping[str, str]) -> str:
    reasons = list(refused.values())
    if not reasons:
        return "The weather forecast holds no basin: give one at least."
    return f"No part of the weather forecast can be stored. {reasons[0]}" + (
        f" And {len(reasons) - 1} more." if reasons[1:] else ""
    )
