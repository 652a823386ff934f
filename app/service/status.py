"""/v1/status: age of forecasts and inputs, and degradations."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import Field
from sqlalchemy.orm import Session

from app.http.base_schema import EXPLAINED, Missing, Model
from app.http.conditional import NO_STORE, cached
from app.http.dependencies import OpenDatabase, Reading, ServiceClock, ServiceSettings
from app.http.problems import documented
from app.http.shown import As
from app.outlooks.today import Everything, Today
from app.service import health
from app.service.health import Degraded
from hydrology.base.calendar import STALE_AFTER_DAYS, age_days, as_date, last_ended_anywhere, stale
from hydrology.base.errors import counted
from hydrology.base.products import JOINT
from records.alerts import dispatch, held_alerts, subscriptions
from records.basins import basins, ratings
from records.database import storage_sizes
from records.jobs import process_heartbeats
from records.outlooks.overview import BasinOverview
from records.runs import runs
from records.series import revisions
from records.versions import promotions, versions
from runtime.clock import Clock
from runtime.release import code_version
from runtime.settings import Settings

AGE = "Days behind the service's clock; negative if ahead."
STALE = f"Whether that is more than {STALE_AFTER_DAYS} days."


class Counts(Model):
    """Numbers of stored things."""

    basins: int
    basins_with_model: int = Field(description="Basins with a current model version.")
    model_versions: int
    runs: int = Field(description="Operational runs that are readable and were issued for at least one basin.")


class GPU(Model):
    """The GPU of a worker, as last reported with its heartbeat."""

    device: str = Field(description="Its name on the worker's machine.")
    name: str | None = Field(description="Its model.")
    memory_bytes: int | None
    memory_used_bytes: int | None = Field(description="By all processes of the machine.")
    utilisation: float | None = Field(description="Share of the last moments in which it computed, 0 to 1.")
    usable: bool = Field(description="Whether it takes trainings; if not, `degraded` gives the cause.")
    missing: Missing = EXPLAINED


class Processes(Model):
    """Schedulers and workers with a heartbeat in the last two minutes."""

    schedulers: int = Field(description="One is enough; another takes over if it ends.")
    workers: dict[str, int] = Field(description="Number of workers by queue.")
    gpus: list[GPU] = Field(description="The GPU of each worker that takes whole trainings.")


class VersionStatus(Model):
    """The newest forecasts of a model version in use."""

    version: str
    product: str = Field(description="The weather product that it uses.")
    current_for: int = Field(description="Number of basins that use it for their forecasts.")
    runs: int
    newest_t0: date | None = Field(description="Null where it has issued nothing yet.")
    newest_issue: datetime | None = Field(description="Null where it has issued nothing yet.")
    age_days: int | None = Field(description=f"Of the newest T0. {AGE}")
    stale: bool | None = Field(
        description=f"Whether the last past day of its newest forecasts, T0 or filled after it, is more than "
        f"{STALE_AFTER_DAYS} days behind."
    )


class InputStatus(Model):
    """The age of a product's newest day."""

    product: str
    newest_day: date = Field(description="The newest stored day of any basin and variable, of those that have ended.")
    age_days: int = Field(description=AGE)
    stale: bool = Field(description=STALE)
    used: bool = Field(description="Whether a model version in use needs it.")


class Status(Model):
    """The status of the service."""

    status: Literal["ok", "degraded"]
    degraded: list[Degraded] = Field(description="Degradations; empty if there are none.")
    now: datetime = Field(description="The service's clock.")
    replayed: bool = Field(description="Whether the operator has set that clock (a replay).")
    version: str = Field(description="Of the software.")
    database_revision: str | None = Field(description="Of the database's tables.")
    counts: Counts
    processes: Processes
    stale_after_days: int = Field(description="Forecasts and inputs above this age are stale.")
    versions: list[VersionStatus] = Field(description="The model versions in use.")
    inputs: list[InputStatus] = Field(description="The stored products.")
    storage: list[Annotated[storage_sizes.StorageUse, As(missing=True)]] = Field(
        description="The kinds of data in the database, the largest first, as the last prune measured them; empty "
        "before the first."
    )
    storage_measured_on: date | None = Field(description="The day of that.")
    missing: Missing = EXPLAINED


MAX_NAMED = 5
UNMEASURED = (
    "It is measured when data are pruned (freshet prune), which was not done yet, or not where SQLite cannot report it."
)


def _version(
    version: versions.Version, current_for: int, created: runs.RunCounts | None, now: datetime
) -> VersionStatus:
    issued: dict[str, Any] = {"runs": 0, **dict.fromkeys(("newest_t0", "newest_issue", "age_days", "stale"))}
    if created is not None:
        weather_age = age_days(created.weather_until, now)
        issued = {"age_days": age_days(created.newest_t0, now), "stale": stale(weather_age)}
    return VersionStatus.from_records(
        created, version=version.id, product=version.product, current_for=current_for, **issued
    )


def _gpu(state: process_heartbeats.GPUState) -> GPU:
    figures = ("name", "memory_bytes", "memory_used_bytes", "utilisation")
    return GPU.from_records(
        state,
        memory_bytes=state.memory,
        memory_used_bytes=state.memory_used,
        usable=state.fault is None,
        why=None if state.unread is None else dict.fromkeys(figures, str(state.unread)),
    )


def _lacking(counts: Counts) -> Iterator[Degraded]:
    if counts.basins == 0:
        yield Degraded(code="no-basins", sentence="No basin is stored: ingest some.")
    elif counts.basins_with_model == 0:
        yield Degraded(code="no-model", sentence="No model version is current for a basin: train and promote one.")


def _late(statuses: Sequence[VersionStatus], inputs: Sequence[InputStatus]) -> Iterator[Degraded]:
    for version in statuses:
        if version.newest_t0 is None:
            sentence = f"Version {version.version} has issued no operational forecast: run one."
            yield Degraded(code="no-forecast", sentence=sentence)
        elif version.stale:
            sentence = (
                f"The newest T0 of version {version.version} is {version.newest_t0}, "
                f"{counted(version.age_days or 0, 'day')} behind "
                "the clock: run a newer forecast."
            )
            yield Degraded(code="stale-forecast", sentence=sentence)
    for entry in inputs:
        if entry.used and entry.stale:
            sentence = (
                f"{entry.product} ends on {entry.newest_day}, {counted(entry.age_days, 'day')} behind the clock: "
                "ingest newer data."
            )
            yield Degraded(code="stale-input", sentence=sentence)


def _left_behind(today: Today, statuses: Sequence[VersionStatus]) -> Iterator[Degraded]:
    """Yield a degradation for basins whose forecast is stale while others are newer."""
    if all(version.stale for version in statuses):
        return
    official, late = today.derived("late", _late_basins)
    if late:
        more = f" and {len(late) - MAX_NAMED} more" if len(late) > MAX_NAMED else ""
        sentence = (
            f"{len(late)} of {official} basins have a forecast whose weather ends more than {STALE_AFTER_DAYS} "
            f"days behind the clock: {', '.join(late[:MAX_NAMED])}{more}. Check their feeds."
        )
        yield Degraded(code="stale-basins", sentence=sentence)


def _late_basins(basins: Sequence[BasinOverview]) -> tuple[int, list[str]]:
    """Return the number of official basins with a forecast, and those whose forecast is stale."""
    official = [basin for basin in basins if basin.is_official and basin.t0 is not None]
    return len(official), sorted(basin.id for basin in official if basin.state == "stale")


def problems(session: Session, clock: Clock, settings: Settings) -> list[Degraded]:
    """Return the degradations that do not follow from the state of basins: of processes, jobs and deliveries."""
    return [*_waiting_alerts(session), *_undelivered(session), *health.degraded(session, clock.wall(), settings)]


def _withheld(session: Session, in_use: Iterable[str], now: datetime) -> Iterator[Degraded]:
    for version in sorted(in_use):
        newest = runs.list_runs(session, version=version, purpose="operational", available_by=now, limit=1)
        for run in newest:
            if run.reason is not None:
                sentence = f"The newest run {run.id} of version {version} is {run.status}: {run.reason}"
                yield Degraded(code="not-issued", sentence=sentence)


def _waiting_alerts(session: Session) -> Iterator[Degraded]:
    if waiting := held_alerts.count_in_doubt(session):
        sentence = (
            f"Alerts of {waiting} basins wait, because a level that somebody set seems wrong: see /v1/alerts/held, and "
            "correct the level or confirm it."
        )
        yield Degraded(code="levels-in-doubt", sentence=sentence)
    if held := ratings.waiting(session):
        sentence = f"Ratings of {counted(len(held), 'gauge')} wait for a forecaster: see the page /held."
        yield Degraded(code="ratings-held", sentence=sentence)


def _undelivered(session: Session) -> Iterator[Degraded]:
    """Report receivers of administrators' subscriptions that could not be reached; an operator's do not count."""
    if failed := dispatch.count_failed_of_service(session):
        sentence = f"{failed} alert changes did not reach a receiver: see /v1/deliveries?status=failed and replay them."
        yield Degraded(code="failed-deliveries", sentence=sentence)
    if paused := subscriptions.count_paused_of_service(session):
        sentence = f"{paused} subscriptions are paused: see paused_because in /v1/subscriptions and resume them."
        yield Degraded(code="paused-subscriptions", sentence=sentence)
    if fault := dispatch.mail_server_fault(session):
        sentence = f"Alerts by e-mail wait for the mail server, and are tried again. {fault}"
        yield Degraded(code="mail-server", sentence=sentence)


router = APIRouter(prefix="/status", tags=["status"])


@router.get(
    "", summary="Age of forecasts and inputs, and degradations", responses=documented(), dependencies=[cached(NO_STORE)]
)
def read_status(
    session: Reading, database: OpenDatabase, all_basins: Everything, clock: ServiceClock, settings: ServiceSettings
) -> Status:
    """The newest T0 and issue of every model version in use, the newest day of every product and its age by the
    service's clock, and all degradations with their causes: late forecasts and inputs, jobs that wait or fail, a
    restarting part of the service, a stopped job process, a nearly full disk, a wrong or adjusted clock. Also the
    number of schedulers and workers, the workers' GPUs, and the room that each kind of data takes."""
    revision = database.check().revision  # by a connection of its own: before the session takes one
    now, in_use = clock.now(), promotions.official_basins_in_use(session)
    measured_on = storage_sizes.measured_on(session)
    created = runs.counts_by_version(session, now)
    statuses = [
        _version(versions.get(session, version), current_for, created.get(version), now)
        for version, current_for in sorted(in_use.items())
    ]
    products = {product for version in statuses for product in version.product.split(JOINT)}
    inputs = [
        InputStatus(product=name, newest_day=as_date(newest), age_days=age, stale=stale(age), used=name in products)
        for name, newest in revisions.newest_days(session, last_ended_anywhere(now)).items()
        for age in (age_days(newest, now),)
    ]
    counts = Counts(
        basins=basins.count(session),
        basins_with_model=sum(in_use.values()),
        model_versions=versions.count(session),
        runs=sum(count.runs for count in created.values()),
    )
    present = process_heartbeats.live_processes(session)
    degraded = [
        *_lacking(counts),
        *_late(statuses, inputs),
        *_left_behind(all_basins.today(session, now), statuses),
        *_withheld(session, in_use, now),
        *problems(session, clock, settings),
    ]
    return Status(
        status="degraded" if degraded else "ok",
        degraded=degraded,
        now=now,
        replayed=clock.as_of is not None,
        version=code_version(),
        database_revision=revision,
        counts=counts,
        processes=Processes(
            schedulers=sum(process.role == "scheduler" for process in present),
            workers=process_heartbeats.workers_by_queue(present),
            gpus=[_gpu(process.gpu) for process in present if process.gpu is not None],
        ),
        stale_after_days=STALE_AFTER_DAYS,
        versions=statuses,
        inputs=inputs,
        storage=storage_sizes.read(session),
        storage_measured_on=None if measured_on is None else as_date(measured_on),
        missing=({"storage_measured_on": UNMEASURED} if measured_on is None else {})
        | {
            f"versions.{version.version}": "It has issued no operational forecast yet."
            for version in statuses
            if version.newest_t0 is None
        },
    )
