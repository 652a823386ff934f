"""Extensions: features beside the core, which finds them by their entry points and imports none of them."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from hydrology.base.errors import InvalidInput

GROUP = "freshet.extensions"
SETTING = "FRESHET_EXTENSIONS"


class UnknownExtension(InvalidInput):
    """The setting names an extension that is not installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """What an extension adds to the core. `module:object` is below its package, and imported when it is used.

    Beside it, `examples.json` may hold examples of its answers (`make examples`).

    Attributes:
        package: the package, whose last name is that of the extension.
        routers, pages: its routers under /v1, and those of pages, whose templates are files of the package.
        tags: its sections of the OpenAPI document, with their descriptions.
        path_examples: examples of its parameters in paths; `{run}` stands for that of the core's parameter.
        alert_feed: its function that returns the address of a feed of alert changes, by basins (None for all), the
            region (None for all) and the least severity; None for more basins than an address takes.
        hydrograph: its address of the hydrograph as a picture, below that of a basin, `image` being `svg` or `png`.
        job_kinds: handlers of jobs by the model of their requests, a `jobspec.jobs.base.JobRequest`.
        feed_kinds: functions that open a feed by the model of its settings, a `jobspec.feeds.FeedSettings`; see
            `jobspec.feed_kinds.FeedKind`.
        past_forecasts: functions that open the past forecasts of a feed's weather model, by the model of its settings.
        sources: what opens an archive of basins, by the name of its layout: of paths and the `ingestion.base.Files`
            that may be read, it returns an `ingestion.base.Source`.
        weather_grid: its function that reads a weather forecast on grids: of a path, the sites, the time of
            availability and the folder of the service's data, it returns an `ingestion.weather_files.WeatherFile`.
        gauges: functions that describe a gauge to be added, by the namespace of its identifier: of this and an
            `ingestion.feeds.http.FeedAccess`, they return an `ingestion.base.BasinData` without series, or None.
        mix: its function that mixes a run's forecasts with those of other weather models: of a `Work`, the
            `operations.forecasting.plans.Plan` and the results of its basins, it returns these, mixed.
        after_daily: its part of the daily cycle: a function of `records.database.work.Work` that returns a sentence
            where it has failed, for that does not stop the cycle.
        daily_folders: settings whose folders that part writes.
        examine: its results on a version's networks before it is stored, tuples of `ProbeResult`: a function of the
            `Work`, the `models.ensemble.Ensemble` and the `names` of basins.
        commands: its functions by the words after `freshet`.
        groups: what its commands that begin with a word do, where no other command begins with it.
        panel: where `freshet --help` lists those whose first word no other command has.
        drawn: what may be drawn beside a forecast on the page of its basin, by name: functions of a session, the
            `records.forecasts.latest.Latest` and the unit of discharge that return flows by day, by label.
        model_section: its part of the page of a model version: a function of the session, the version and the address
            of the service that returns markup.
        training_events: its writer of training curves as event files: of a folder, it returns a function of a session
            and a version.
        settings: its settings, a `runtime.settings.EnvironmentSettings`.
        guide: its pages of the guide, files of the package; pages elsewhere link to them as the repository has them.
        costs: of its addresses that cost more than a plain one, in requests of the rate limit.
        gpu_programs: its `models.devices.GPUPrograms`.
        gpu_training: its function that trains the unfinished members of a training side by side on a GPU, where these
            programs can: `operations.training.train.train_member` for all, with a listener to halved groups.
        gpu_monitor: its `workers.liveness.GPUMonitor` of a device.
    """

    package: str
    routers: Sequence[str] = ()
    pages: Sequence[str] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    path_examples: Mapping[str, str] = field(default_factory=dict)
    alert_feed: str | None = None
    hydrograph: str | None = None
    job_kinds: Mapping[str, str] = field(default_factory=dict)
    feed_kinds: Mapping[str, str] = field(default_factory=dict)
    past_forecasts: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    weather_grid: str | None = None
    gauges: Mapping[str, str] = field(default_factory=dict)
    mix: str | None = None
    after_daily: str | None = None
    daily_folders: Sequence[str] = ()
    examine: str | None = None
    commands: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    panel: str = "Service"
    drawn: Mapping[str, str] = field(default_factory=dict)
    model_section: str | None = None
    training_events: str | None = None
    settings: str | None = None
    guide: Sequence[str] = ()
    costs: Mapping[str, int] = field(default_factory=dict)
    gpu_programs: str | None = None
    gpu_training: str | None = None
    gpu_monitor: str | None = None

    @property
    def name(self) -> str:
        return self.package.rpartition(".")[2]

    @property
    def folder(self) -> Path:
        return Path(import_module(self.package).__path__[0])

    def load(self, reference: str) -> Any:
        """Import what `module:object` names."""
        return load(self.reference(reference))

    def reference(self, below: str) -> str:
        """Return `module:object` with the whole name of the module."""
        return ":".join(self.source(below))

    def source(self, reference: str) -> tuple[str, str]:
        """Return the whole name of the module of `module:object`, and the object's."""
        module, _, name = reference.partition(":")
        return f"{self.package}.{module}", name


def load(reference: str) -> Any:
    """Import what `module:object` names, by the whole name of the module."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


@cache
def extensions() -> tuple[Extension, ...]:
    """Return the extensions that FRESHET_EXTENSIONS names, by default all that are installed; sorted by name."""
    installed = {entry.name: entry for entry in metadata.entry_points(group=GROUP)}
    chosen = selected(os.environ.get(SETTING), installed)
    return tuple(installed[name].load() for name in sorted(chosen))


def left_out() -> Iterator[Extension]:
    """Yield the extensions that are installed and not loaded."""
    loaded = {extension.name for extension in extensions()}
    yield from (entry.load() for entry in metadata.entry_points(group=GROUP) if entry.name not in loaded)


def selected(setting: str | None, installed: Mapping[str, object]) -> set[str]:
    """Return the names of extensions to load.

    `setting` has names with commas between, none for the core alone; None for all that are installed.
    """
    if setting is None:
        return set(installed)
    names = {name.strip() for name in setting.split(",")} - {""}
    if unknown := names - installed.keys():
        raise UnknownExtension(
            f"{SETTING} names {', '.join(sorted(unknown))}: choose from {', '.join(sorted(installed)) or 'none'}."
        )
    return names
