"""The base of all kinds of job: queue and limits, the records that it writes, and those that an operator's job may.

The service's own jobs and an admin's may write every table of their kind. An operator's job may write what its kind
allows: rows of any owner, or only those that belong to the operator's key. `records.job_permissions.permissions`
refuses a request before it is stored and before it runs; `records.job_permissions.write_guard` refuses any other write
of a handler.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, ClassVar, Literal, get_args, get_origin

from jobspec.extensions import extensions
from jobspec.fields import RequestModel

Role = Literal["operator", "admin"]
Owned = Literal["any", "basin", "version", "run", "weather", "comparison", "feed"]
"""Owner of the rows that an operator's job may write: `any`, or a basin that its key registered, a version, run or
comparison stored under its key, a weather forecast that is marked as not operational, or its key's feed."""
Subject = Literal["basin", "new basin", "version", "feed", "new bridge"]
"""What a parameter names for writing: a registered basin, a registered or new one, a version, a feed, an unused name of
a bridge."""

EVERY_JOB = ("jobs", "job_events", "audit")
"""Tables that every job may write."""

_BASIN = ("basins", "basin_areas", "basin_attributes", "basin_texts", "basin_quality")
_SERIES = ("series", "series_revisions", "series_arrivals")
_WEATHER = ("weather_issues", "weather_basins")
_RUN = ("runs", "run_basins", "run_contents", "run_members", "outlooks")
_VERSION = ("versions", "version_basins", "version_members", "version_weights")
_TRAINING = ("trainings", "training_checkpoints", "training_members")
_SCORES = ("scores", "simulated_flow", "snow_cells", "regional_snow", "versions")
_ERRORS = ("error_models", "basin_errors")
_LEVELS = ("simulated_records", "simulated_levels", "simulated_water")
_PROMOTIONS = ("promotions", "alert_changes", "deliveries")
_DECISIONS = ("alert_basins", "alerts", "alert_changes", "deliveries", "held_alerts", "adjustments", "thresholds")
_ALERTS = ("newest_runs", *_DECISIONS)
_ADOPTION = (*_DECISIONS, "promotions", "thresholds", "flood_frequency", "ratings", "former_categories")


def _all(owned: Owned, *tables: str) -> dict[str, Owned]:
    return dict.fromkeys(tables, owned)


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    """The write permissions of jobs of a kind.

    Attributes:
        writes: by table, whose rows an operator's job may write. Admins' jobs write all rows of these tables.
        also: further tables, which only jobs of admins and of the service write.
        folders: settings whose folders its jobs write, outside the database.
        operators: whether an operator may run the kind at all.
        forecasters: whether a forecaster's job of the kind is the service's own, as an admin's is.
        names: the parameters that name written records (`fit.model`: a field of a field), with the kind of record.
        admins: parameters that only an admin may set, each with the reserved value; None: any value.
        promotes: the parameter that requests a promotion, if there is one; its basins must then be the operator's.
        note: further rules for operators, as a sentence.
    """

    writes: Mapping[str, Owned] = field(default_factory=dict)
    also: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    operators: bool = True
    forecasters: bool = False
    names: Mapping[str, Subject] = field(default_factory=dict)
    admins: Mapping[str, object] = field(default_factory=dict)
    promotes: str | None = None
    note: str = ""

    @property
    def tables(self) -> frozenset[str]:
        """The tables that an admin's job may write."""
        return frozenset({*EVERY_JOB, *self.writes, *self.also})

    def owned(self, table: str, role: Role) -> Owned | None:
        """Return the owner of the rows of a table that a role may write. None for none."""
        if table in EVERY_JOB:
            return "any"
        if role == "admin":
            return "any" if table in self.tables else None
        return self.writes.get(table) if self.operators else None


def admins_alone(*tables: str, folders: Iterable[str] = (), note: str) -> Authority:
    """Return the permissions of a kind that only admins and the service run."""
    return Authority(also=frozenset(tables), folders=frozenset(folders), operators=False, note=note)


def _union(parts: Iterable[Authority]) -> tuple[str, ...]:
    return tuple(sorted({table for part in parts for table in (*part.writes, *part.also)}))


INGEST = Authority(
    writes=_all("basin", *_BASIN, *_SERIES, "states") | _all("any", "sources"),
    also=frozenset({"publications", "published_scores", *_ADOPTION}),
    names={"basins": "new basin"},
    admins={"source": "benchmarks", "adopt": True},
    note="Basins that its key registered, and new ones that are not an agency's, which its key then registers.",
)
UPLOAD = Authority(writes=INGEST.writes, note="Basins that its key registered, except gauges with a published source.")
BASIN = Authority(
    writes=_all("basin", *_BASIN, "states"),
    also=frozenset(_ADOPTION),
    names={"basin": "new basin"},
    admins={"adopt": True},
    note="A basin that its key registered, or a new one that is not an agency's.",
)
CLIMATE = Authority(
    writes=_all("basin", *_BASIN, "states"), names={"basin": "basin"}, note="A basin that its key registered."
)
WEATHER = Authority(
    writes=_all("weather", *_WEATHER), note="It is marked as not operational: only runs that name it use it."
)
FETCH = Authority(
    writes=_all("basin", *_BASIN, *_SERIES, "states", "feed_basins", "weather_basins")
    | _all("basin", "adjustments", "outlooks")
    | _all("feed", "feeds")
    | _all("any", "sources", "product_credits", "weather_issues"),
    also=frozenset({"ratings", "thresholds", "former_categories"}),
    names={"feed": "feed"},
    note="A feed that its key created, for basins that its key registered.",
)
BRIDGE = Authority(
    writes=_all("basin", *_BASIN, *_SERIES, "states", "bridge_basins")
    | _all("any", "sources", "product_credits", "bridges"),
    names={"basins": "basin", "fit": "new bridge"},
    admins={"fit.model": None},
    note="Basins that its key registered. A fit needs a new name, and is for observed weather.",
)
FUSE = admins_alone(
    *_BASIN, *_SERIES, "states", "sources", "fused_products", note="The parts of a product are those in every basin."
)
FORECAST = Authority(
    writes=_all("run", *_RUN) | _all("any", "states", "basin_errors"),
    also=frozenset({*_ALERTS, "issues", "issue_basins"}),
    forecasters=True,
    note="Runs are stored `on-request` and under its key: they are never the latest, and decide no alert.",
)
WHAT_IF = Authority(writes=_all("run", *_RUN) | _all("any", "basin_errors"), note="Runs are stored under its key.")
VOLUMES = Authority(
    writes=_all("run", *_RUN) | _all("any", "states", "basin_errors"),
    note="Runs are stored under its key: they are not the newest of a basin.",
)
REPLAY = Authority(writes={**FORECAST.writes, **_all("weather", *_WEATHER)}, also=FORECAST.also, note=FORECAST.note)
DAILY = Authority(
    also=frozenset(_union([FETCH, BRIDGE, FORECAST])),
    folders=frozenset(folder for extension in extensions() for folder in extension.daily_folders),
    operators=False,
    forecasters=True,
    note="It asks every feed, and its forecasts are the latest of every basin.",
)
DAILY_PART = replace(
    DAILY, also=frozenset(_union([FETCH, FORECAST])), folders=frozenset(), note="Only a daily cycle posts it."
)
BACKFILL = admins_alone(
    *_WEATHER,
    *_RUN,
    "states",
    "basin_errors",
    "recalibrations",
    note="Its weather forecasts and what they teach are used by the forecasts of every basin.",
)
TRAINING = Authority(
    writes=_all("version", *_VERSION, *_SCORES)
    | _all("any", *_TRAINING, "deliveries")
    | _all("basin", "promotions", "alert_changes"),
    promotes="compare.promote",
    note="The version is stored under its key, and serves only basins that its key registered.",
)
MEMBER = Authority(writes=_all("any", *_TRAINING), note="With the rights of its training.")
RETRAINING = admins_alone(
    *_union([TRAINING]), *_ERRORS, *_LEVELS, note="It trains a version of the service, and may put it in use."
)
PRETRAINED = admins_alone(
    *_VERSION,
    *_TRAINING,
    *_SCORES,
    *_ERRORS,
    *_PROMOTIONS,
    "verification",
    *FUSE.also,
    note="What it installs belongs to the service.",
)


def _of_named_version(*tables: str) -> Authority:
    """Return the permissions of a kind whose results belong to the version that it names."""
    note = "A version that is stored under its key; by default its newest."
    return Authority(writes=_all("version", *tables), names={"version": "version"}, note=note)


EVALUATION = _of_named_version(*_SCORES, "basin_errors")
CALIBRATION = _of_named_version(*_ERRORS, "recalibrations")
REFORECAST = _of_named_version("verification", "basin_errors")
VERIFICATION = _of_named_version("verification", "error_splits")
LEVELS = _of_named_version(*_LEVELS)
COMPARISON = Authority(
    writes=_all("comparison", "comparisons", "comparison_versions") | _all("version", *_SCORES),
    note="The comparison is stored under its key; only scores of its own versions are stored.",
)
CHECK = Authority(writes=_all("any", "verified_slices"), note="It writes only which rows it has found whole.")
PRUNE = admins_alone(
    *_RUN,
    *_WEATHER,
    "states",
    "newest_runs",
    "deliveries",
    "delivery_attempts",
    "mail_questions",
    "pruned",
    "storage_sizes",
    note="It deletes records of all owners.",
)
DELIVERY = admins_alone(*_DECISIONS, "delivery_attempts", "subscriptions", note="Only the service posts it.")


Queue = Literal["service", "default", "ingest", "training", "gpu", "delivery"]
QUEUES: tuple[Queue, ...] = get_args(Queue)
SERVICE: Queue = "service"
"""The queue of operational jobs of the service itself, which no operator's job waits in."""
GPU: Queue = "gpu"
"""The queue of whole trainings, which only workers with a GPU serve."""


class JobRequest(RequestModel):
    """A job of any kind.

    Attributes:
        authority: the records that it writes, and those that an operator's job may. Each kind declares its own.
        queue: the queue whose workers run it.
        operational: whether the day's forecasts depend on it. If the service or an administrator posted it, it goes to
            the queue `service`.
        time_limit: how long one attempt may run before it is killed and the job fails.
        silence_limit: how long its progress may stay the same before it is killed and tried again. Longer than any step
            takes on a slow machine.
        turn: how long one attempt may run while jobs of others wait in its queue. It then continues in its next turn;
            None for a job that would start from the beginning.
        part_basins: the most basins of a part, where a job is divided: parts are jobs of the same kind that name their
            basins, done side by side (`workers.division`). What a part holds in memory, and what a failure repeats, do
            not grow with the number of basins. None for a job that is done as a whole.
        memory_limit: how many bytes one attempt may allocate; None for no limit. A job with a limit runs in a process
            of its own.
    """

    authority: ClassVar[Authority]
    queue: ClassVar[Queue] = "default"
    operational: ClassVar[bool] = False
    time_limit: ClassVar[timedelta] = timedelta(hours=12)
    silence_limit: ClassVar[timedelta] = timedelta(hours=1)
    turn: ClassVar[timedelta | None] = None
    part_basins: ClassVar[int | None] = None
    memory_limit: ClassVar[int | None] = None

    kind: str
    params: RequestModel

    def __init_subclass__(cls, **declared: Any) -> None:
        """Take the attributes from the head of the class."""
        super().__init_subclass__()
        for name, value in declared.items():
            setattr(cls, name, value)

    @classmethod
    def __pydantic_init_subclass__(cls, **_options: Any) -> None:
        """Refuse a kind of job that does not declare its authority."""
        if get_origin(cls.model_fields["kind"].annotation) is Literal and "authority" not in vars(cls):
            raise TypeError(f"{cls.__name__} has no authority: declare which records its jobs write, and their owner.")

    def stored(self) -> dict[str, Any]:
        """Return the params as they are stored: the given fields, without defaults."""
        return self.params.model_dump(mode="json", by_alias=True, exclude_unset=True)


class IntakeJob(JobRequest):
    """A job that parses files from elsewhere."""

    queue = "ingest"
    memory_limit = 4 * 2**30
