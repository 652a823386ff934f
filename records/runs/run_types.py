"""Forecast runs and their results, which never change: a corrected input creates a new run."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from sqlalchemy import Boolean, CheckConstraint, Column, ForeignKey, Index, String

from hydrology.base.absent import NOT_STORED, Absent
from hydrology.base.calendar import STALE_AFTER_DAYS, Day, stale_note
from hydrology.base.doc import Doc
from hydrology.base.errors import NotFound
from hydrology.base.units import Area
from hydrology.water.storage import is_spinning_up, spin_up_note
from hydrology.weather.forcing_kinds import DESCRIBED, KINDS, ForcingKind
from records.database.base import JsonList, PackedDocument, Real, one_of
from records.database.stored import ANY_WORD, ELSEWHERE, as_record, stored, table_of
from records.runs.run_arrays import Ledger, RunSeries
from records.runs.run_summary import RunSummary
from records.runs.run_weather import RunPart, RunWeather, RunWhatIf

Purpose = Literal["operational", "late", "on-request", "reforecast", "what-if"]
"""Purpose of a run. `operational`: posted by a schedule, an admin or the owner of the data folder: it may become the
latest. `late`: issued after its day with what was known then; it never becomes the latest, and decides no alert.
`on-request`: posted with an operator's key, or for a season's volume, which never becomes the latest.
`reforecast`: computed later, of a past T0 with a past weather forecast.
`what-if`: with hypothetical weather (`hydrology.weather.forcing_kinds`), or with changes."""
ISSUED: tuple[Purpose, ...] = ("operational", "late")
"""The purposes of runs that are the service's forecasts of a day, which are verified."""
PUBLISHED: tuple[Purpose, ...] = (*ISSUED, "reforecast")
"""The purposes of runs that speak for the service, which archives hold."""
QuantilesOf = Literal["members", "members and traces"]
"""Basis of the quantiles of discharge; with weather traces, every member with every trace."""
QUANTILES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
"""The levels of the discharge quantiles that a run stores."""
QUANTILES_NOTE = (
    "They are the spread of the members, not calibrated, and narrower than the truth: in 32 real basins over the test "
    "years, p05 to p95 held 29 % of the days, where calibrated quantiles would hold 90 %"
)
"""Note that is shown with the discharge quantiles of a run with one weather."""
SPREAD_LEVELS = (0.05, 0.95)
"""The quantiles of members (and traces) that are stored for water."""
SNOW_SPREAD = "snow_spread"
"""The array of these quantiles of snow."""
ORIGIN, AGE = "discharge_by_origin", "discharge_by_age"
PART_STATISTICS = ("mean", "p05", "p95")
"""The arrays of discharge by its store at T0 and by its season of origin, with the stored statistics of members
(and traces): their mean, which adds up to that of the discharge, and quantiles at SPREAD_LEVELS, which do not."""
PEAKS_BY_RAIN = "peaks_by_rain"
"""The array of the members' highest flow by window, start and size of rain (`hydrology.extremes.rain_margin`), in
operational runs; NaN where a window ends after the horizon."""
ERROR_SHIFTS = "error_shifts"
"""The array beside it of what the median of the error model adds to the cube root of flow, by lead and simulated flow
(`hydrology.uncertainty.error_model`), in calibrated runs."""
VARIANCE = "discharge_variance"
"""The array of the variance of discharge by source, in runs that split it
(`hydrology.uncertainty.weighted`)."""
CLOSURE = ("residual", "tolerance")
"""The entries of the first axis of the array LEDGER, `entry`, after the terms."""
RunBasinKey = tuple[str, str]  # a run and one of its basins
BasinStatus = Literal["issued", "withheld", "failed"]
RunStatus = Literal["issued", "partial", "failed"]
T0_AGE = "How many days T0 lay before the service's clock at issue."
T0_NOTE = f"A warning where T0 was not named and lay more than {STALE_AFTER_DAYS} days before the clock: data are old."


class UnknownRun(NotFound):
    """No run with this id is stored, or it has no such basin."""


@stored(
    "run_basins",
    Column("run_id", String, ForeignKey("runs.id"), nullable=False),
    # The closure of the member whose ledger closes worst.
    Column("residual_mm", Real),
    Column("tolerance_mm", Real),
    Column("closes", Boolean),
    CheckConstraint("(status = 'issued') = (reason IS NULL)", name="reason"),
    CheckConstraint("(parent_day IS NULL) = (parent_hash IS NULL)", name="parent"),
    CheckConstraint("(area_m2 IS NULL) = (area_name IS NULL)", name="area"),
    CheckConstraint("area_m2 > 0", name="area_positive"),
    # The database itself refuses a claim that the numbers contradict, and an issued basin with an open ledger.
    CheckConstraint("closes = (abs(residual_mm) <= tolerance_mm)", name="closes"),
    CheckConstraint("status <> 'issued' OR closes", name="open"),
    Index(None, "basin_id"),
    key=("run_id", "basin_id"),
)
class RunBasin:
    """A run's content for one basin.

    Attributes:
        status: `issued`, `withheld` (for example, its ledger did not close) or `failed`.
        inputs_hash: hash of everything used since the parent.
        spin_up_days: how many days after the empty store the state of T0 is; None where nothing was computed.
        pruned: why the members' results are no longer stored; None where they are.
    """

    basin_id: Annotated[str, ForeignKey("basins.id")]
    status: BasinStatus
    reason: Absent | None = None
    parent_day: Day | None = None
    parent_hash: str | None = None
    state_hash: str | None = None
    inputs_hash: str | None = None
    area_m2: float | None = None
    area_name: str | None = None
    summary: Annotated[RunSummary, PackedDocument(RunSummary)] = field(default_factory=RunSummary)
    spin_up_days: int | None = None
    pruned: Annotated[Absent | None, ELSEWHERE] = None

    @property
    def area(self) -> Area | None:
        return None if self.area_m2 is None or self.area_name is None else Area(self.area_name, self.area_m2)

    @property
    def is_spinning_up(self) -> bool:
        """Whether its state is too young for the latest forecast."""
        return self.spin_up_days is not None and is_spinning_up(self.spin_up_days)

    @property
    def spin_up_note(self) -> str | None:
        return None if self.spin_up_days is None else spin_up_note(self.spin_up_days)

    @property
    def why_not_calibrated(self) -> Absent:
        return self.why(self.summary.calibration)

    @property
    def why_missing(self) -> Absent:
        """Why it lacks an array that runs store."""
        return self.reason or self.pruned or NOT_STORED

    def why(self, value: object) -> Absent:
        """Return why a value of the summary, or what belongs to it, is missing."""
        return self.reason or (value if isinstance(value, Absent) else self.why_missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class BasinResult:
    """A run's results of one basin to store: content, arrays and its members' ledgers."""

    basin: RunBasin
    series: Sequence[RunSeries] = ()
    ledgers: Sequence[Ledger] = ()


def last_past_day(t0: Day, filled_days: int) -> Day:
    """Return the last past day of a run: T0, or the last day after it whose missing weather was filled."""
    return t0 + np.timedelta64(filled_days, "D")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """A run to be stored.

    Attributes:
        t0_stale: whether `t0_age_days` is too many, where T0 was not named but chosen.
        filled_days: how many of these had ended before it was issued, without weather that was observed as a whole.
        program: torch's version and the like, on which the last digits depend.
        owner: the operator's key that posted it; None for the service's. A run with an owner is never official.
        request_key: names the request that it answers, if that may be repeated.
    """

    id: str
    t0: Annotated[Day, Doc("The last day that the model's states have consumed.")]
    horizon_days: int
    issued_at: Annotated[datetime, Doc("When it was issued, by the service's clock.")]
    available_at: Annotated[datetime, Doc("Readable since this instant.")]
    created_at: Annotated[datetime, Doc("When it was computed, by the machine's clock.")]
    version_id: Annotated[str, ForeignKey("versions.id"), Doc("The model version.")]
    weights_hash: str
    code_version: str
    program: str
    product: Annotated[str, Doc("The weather product that drives the model.")]
    forcing_kind: Annotated[ForcingKind, Doc(DESCRIBED)]
    forcing_cutoff: Day | None = None
    weather: Annotated[RunWeather | None, Doc("The weather forecast behind it; null where none was used.")] = None
    purpose: Annotated[Purpose, ANY_WORD]
    what_if: RunWhatIf | None = None
    owner: str | None = None  # not a foreign key: keys are revoked, never deleted
    members: JsonList
    request_key: str | None = None
    reason: Annotated[Absent | None, Doc("Why it was not issued for every basin; null where it was.")] = None
    t0_age_days: Annotated[int, Doc(T0_AGE)]
    t0_stale: bool
    filled_days: int = 0

    @property
    def order(self) -> tuple[Day, datetime, str]:
        """What runs of a basin are sorted by: the newest is the last."""
        return self.t0, self.issued_at, self.id

    @property
    def days_to_come(self) -> int:
        """The days ahead that had not ended when it was issued."""
        return self.horizon_days - self.filled_days

    @property
    def weather_until(self) -> Day:
        return last_past_day(self.t0, self.filled_days)

    @property
    def last_day(self) -> Day:
        """The last of its days after T0."""
        return self.t0 + np.timedelta64(self.horizon_days, "D")

    @property
    def weather_name(self) -> str:
        """The name of its weather forecast, else the kind of its weather."""
        return self.forcing_kind if self.weather is None else self.weather.name

    @property
    def t0_note(self) -> Annotated[str | None, Doc(f"{T0_NOTE} Null elsewhere.")]:
        if not self.t0_stale:
            return None
        observed_until = self.forcing_cutoff if KINDS[self.forcing_kind].of_record else None
        return stale_note(self.t0, self.t0_age_days, self.product, observed_until)


_EXPECTED = " AND ".join(f"forcing_kind <> '{name}'" for name, kind in KINDS.items() if kind.hypothetical)


@stored(
    "runs",
    CheckConstraint(f"{_EXPECTED} OR purpose = 'what-if'", name="imagined"),
    one_of("status", "issued", "partial", "failed"),
    CheckConstraint("(status = 'issued') = (reason IS NULL)", name="reason"),
    CheckConstraint("horizon_days > 0", name="horizon"),
    CheckConstraint("filled_days BETWEEN 0 AND horizon_days - 1", name="filled"),
    CheckConstraint("available_at >= issued_at", name="available"),
    CheckConstraint("owner IS NULL OR purpose <> 'operational'", name="owner"),
    Index(None, "version_id", "purpose", "t0"),
    Index(None, "request_key"),
)
class Run(NewRun):
    """A forecast run in a list."""

    status: Annotated[RunStatus, ANY_WORD, Doc("`issued`: for every basin. `partial`: for some. `failed`: for none.")]

    @property
    def is_official(
        self,
    ) -> Annotated[bool, Doc("Whether the service itself, an admin or a schedule of theirs asked for it.")]:
        return self.owner is None

    @property
    def member_count(self) -> Annotated[int, Doc("Number of networks in the ensemble.")]:
        return len(self.members)

    @property
    def quantiles_of(self) -> QuantilesOf:
        return "members and traces" if KINDS[self.forcing_kind].traces else "members"


RUNS, RUN_BASINS = table_of(Run), table_of(RunBasin)


def shares_of(run: NewRun, basin: RunBasin) -> tuple[RunPart, ...]:
    """Return the versions whose weighted mean is a basin's issued flow."""
    if basin.summary.parts:
        return basin.summary.parts
    only = as_record(
        RunPart,
        basin,
        name="",
        version=run.version_id,
        product=run.product,
        weight=1.0,
        parent_day=None if basin.parent_day is None else str(basin.parent_day),
        filled_weather=basin.summary.filled_weather,
    )
    return (only,)


def ledger_entry(ledger: RunSeries, entry: str) -> npt.NDArray[Any]:
    """Return a term of a ledger array, or an entry of CLOSURE: (members, traces) in mm."""
    values: npt.NDArray[Any] = ledger.values[list(ledger.axes["entry"]).index(entry)]
    return values
