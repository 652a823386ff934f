"""The common first fields of answers about a run."""

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from app.basins.schemas import BasinKind, named_kind
from app.exports.table import Table, table_of
from app.http.base_schema import DataCredit, Model, OfBasin, Series, column
from app.http.shown import As
from app.weather.schemas import WEATHER_USED
from hydrology.base.absent import text
from hydrology.base.calendar import STALE_AFTER_DAYS, age_days, as_date, stale
from hydrology.water.storage import SPIN_UP_DAYS
from hydrology.weather.forcing_kinds import DESCRIBED, KINDS, ForcingKind
from hydrology.weather.forecast_errors import SOURCE as PERTURBED
from jobspec.changes import Changes, Where
from records.basins.basins import Site
from records.forecasts.latest import Latest
from records.forecasts.latest import Superseded as NewerRun
from records.runs.filled_note import weather_note
from records.runs.run_summary import LEARNT_FROM
from records.runs.run_types import T0_AGE, T0_NOTE, BasinStatus, Purpose, Run
from records.runs.run_weather import FilledWeather, RunBridge, RunPart, RunSubset, RunWeather

Columns = dict[str, list[float]]
GappyColumns = dict[str, list[float | None]]
FieldUnits = Annotated[dict[str, str], Field(description="The unit of each field with values.")]
Days = Annotated[list[date], Field(description="The valid days."), Series("valid day")]
LeadDays = Annotated[
    list[int],
    Field(description=column("Days since T0")),
    Series("days since t0", "day", standard_name="forecast_period"),
]


SUPERSEDED = As("Superseded", rename=(("run_id", "run"),))
BridgeUsed = Annotated[
    RunBridge,
    As(
        "BridgeUsed",
        omit=("precipitation_bias", "precipitation_correlation"),
        rename=(("sha256", "hash"),),
        exact=True,
    ),
]
_FILLED = As("FilledDays", exact=True)
PartOfRun = Annotated[
    RunPart,
    As(
        "PartOfRun",
        omit=("filled_weather",),
        rename=(("filled", "filled_weather"),),
        exact=True,
        parts=((FilledWeather, _FILLED),),
    ),
]
SubsetOfRun = Annotated[RunSubset, As("SubsetOfRun", omit=("without_nse",), exact=True)]  # the note gives that reason


class StormOfRun(Model):
    """Additional precipitation on one day."""

    mm: float
    lead: int = Field(description="The day, as the number of days after T0.")


class IncrementOfRun(Model):
    """Water added to the basin at T0, or removed: the `increment` of the water balance."""

    mm: float = Field(description="Negative where water is removed.")
    where: Where = Field(description="The cells concerned: those read as snow, the other ones, or both.")


class WhatIf(Model):
    """The changes of a what-if run."""

    in_words: str
    degrees: float = Field(description="Added to the temperatures of every day after T0, °C.")
    precipitation_percent: float = Field(description="Change in daily precipitation after T0, in percent.")
    storm: StormOfRun | None = Field(description="Null where there is none.")
    increment: IncrementOfRun | None = Field(description="Null where there is none.")
    assimilate: bool = Field(
        description="Whether the water at T0 was adjusted to observed discharge: the `assimilation` of the water "
        "balance."
    )
    note: str | None = Field(description="The public reason for the run; null where none was given.")
    base: str | None = Field(
        description="The run without changes, for comparison; null where it changes nothing itself."
    )


class RunOfBasin(OfBasin):
    """The run behind an answer about a basin."""

    basin_kind: BasinKind
    run: Annotated[str, Series("identifier of the run")]
    version: Annotated[str, Series("identifier of the model version")] = Field(description="The model version.")
    awaited_version: Annotated[str | None, Series("promoted version that has issued no such forecast yet")] = Field(
        default=None,
        description="The version that was promoted for the basin and has issued no such forecast yet: until then, that "
        "of the version before it stays the latest. Only there.",
    )
    version_note: str | None = Field(default=None, description="The same in a sentence. Only there.")
    purpose: Purpose = Field(
        description="`operational`: by a schedule, an admin or the service's owner; it may become the latest. "
        "`late`: issued after its day with what was known then; it never becomes the latest. `on-request`: an "
        "operator's key asked for it, or it is for a seasonal volume; it never becomes the latest. `reforecast`: "
        "computed later, of a past T0 with a past weather forecast; it never becomes the latest. `what-if`: a run with "
        "changed weather or initial water; it never becomes the latest either."
    )
    official: bool | None = Field(
        default=None,
        description="False for a run of an operator's key and for an unofficial basin, which are not the service's own "
        "forecasts. Only there.",
    )
    what_if: WhatIf | None = Field(
        default=None,
        description="Its changes to the weather and the water at T0; such a run is not a forecast. Only where it was "
        "asked to change something, and where others that were are compared with it.",
    )
    status: Annotated[BasinStatus, Series("whether the forecast was issued")] = Field(
        description="Unless it is `issued`, there are no values and `reason` is given."
    )
    reason: Annotated[str | None, Series("why there are no values")]
    superseded_by: Annotated[NewerRun, SUPERSEDED] | None = Field(
        description="A newer run that was withheld or failed, or started from an empty store less than a year before, "
        "so that this one is still the latest. Null for a run requested by its id."
    )
    t0: Annotated[date, Series("last day of weather in the initial state", standard_name="forecast_reference_time")] = (
        Field(description="The last day of weather in the initial state.")
    )
    issued_at: Annotated[datetime, Series("when the forecast was issued")] = Field(
        description="When it was issued, by the service's clock."
    )
    available_at: datetime = Field(description="Readable since this instant.")
    horizon_days: int
    product: Annotated[str, Series("weather product that drove the model")] = Field(
        description="The weather product that drives the model; several are joined by `+`, that of the largest share "
        "first."
    )
    product_credit: Annotated[DataCredit | None, Series("{}", column="{}")] = Field(
        default=None, description="Providers of these products. Only where feeds brought some of them."
    )
    forcing_kind: Annotated[ForcingKind, Series("kind of weather after t0")] = Field(description=DESCRIBED)
    forcing_note: str = Field(description="The same in a sentence.")
    forcing_cutoff: date | None = Field(default=None, description="The last day of observed weather used.")
    weather: Annotated[RunWeather, WEATHER_USED] | None = Field(
        default=None, description="The weather forecast behind it. Only where `forcing_kind` is `supplied`."
    )
    filled_days: int | None = Field(
        default=None,
        description="Number of days after T0 that had ended when the run was issued, without weather that was observed "
        "as a whole. The horizon includes them; peaks and chances do not. Only where there are any.",
    )
    filled_weather: list[Annotated[FilledWeather, _FILLED]] | None = Field(
        default=None,
        description="Where the weather of these days came from, and that of days that no weather forecast holds. Only "
        "where weather was filled.",
    )
    weather_note: str | None = Field(
        default=None,
        description="The same in a sentence, with the products that are missing, and the age of the weather forecast "
        "if that is old.",
    )
    version_parts: list[PartOfRun] | None = Field(
        default=None,
        description="The versions that took part, the largest share first. Only for a version that combines others.",
    )
    subset: SubsetOfRun | None = Field(default=None, description="What was missing of it. Only where something was.")
    traces: int | None = Field(
        default=None,
        description="Number of weather traces that drive each member after T0. Only where there are traces: in a "
        "weather forecast, and in that of other years.",
    )
    bridges: list[BridgeUsed] = Field(
        description="The steps that turned the weather into the version's product, in order; none where it was used "
        "unchanged."
    )
    seen_in_training: bool | None = Field(
        description="Whether the model version learnt from this basin; if not, its skill elsewhere is little guide "
        "here."
    )
    outside_training: list[str] | None = Field(
        description="The attributes of the basin outside the range of the training basins: "
        "there the model extrapolates."
    )
    trained_on: str | None = Field(description="The weather product that the version learnt from.")
    training_note: str | None = Field(description="The same in a sentence.")
    attributes_assumed: list[str] | None = Field(
        description="Unknown attributes of the basin that an operator lets stand at the mean of the training basins."
    )
    spin_up_days: int | None = Field(description="Days of warm-up: from the empty store to T0.")
    spin_up_note: str | None = Field(
        default=None, description=f"Its effect on the flow. Only where it is {SPIN_UP_DAYS} days or fewer."
    )
    t0_age_days: int = Field(description=T0_AGE)
    t0_note: str | None = Field(default=None, description=T0_NOTE)
    age_days: Annotated[int | None, Series("days that t0 lies behind the service's clock", after="issued_at")] = Field(
        default=None, description="Days from T0 to the service's clock. Only in the latest answers."
    )
    stale: Annotated[bool | None, Series("whether a newer forecast is overdue", after="age_days")] = Field(
        default=None,
        description=f"Whether that is more than {STALE_AFTER_DAYS} days, without past days whose weather was filled: "
        "newer data or a newer run is overdue. Only in the latest answers.",
    )


class DaysOfRun(RunOfBasin):
    """The run and the days behind an answer about a basin."""

    units: FieldUnits
    time: Days
    lead_days: LeadDays


PERTURBED_NOTE = "Driven by perturbed observations for the days after T0: a replay's stand-in for a weather forecast."


_OF_RUN = ("purpose", "issued_at", "available_at", "horizon_days", "product", "forcing_kind", "t0_age_days")


def header(latest: Latest, at: datetime | None) -> dict[str, Any]:
    """Return the fields of `RunOfBasin`, or an `Absent`; `at` is the clock's time, None for a named run."""
    run, basin, summary = latest.run, latest.basin, latest.basin.summary
    learnt = {name: getattr(summary, name) for name in LEARNT_FROM} | {"spin_up_days": basin.spin_up_days}
    where_known = {
        "t0_note": run.t0_note,
        "awaited_version": latest.awaited,
        "version_note": latest.version_note,
        "official": None if run.owner is None and latest.is_official else False,
        "what_if": what_if(run),
        "product_credit": summary.product_credit and DataCredit.from_records(summary.product_credit),
        "forcing_cutoff": None if run.forcing_cutoff is None else as_date(run.forcing_cutoff),
        "weather": run.weather,
        "traces": summary.traces,
        "spin_up_note": basin.spin_up_note,
        "age_days": None if at is None else age_days(run.t0, at),
        "stale": None if at is None else stale(age_days(run.weather_until, at)),
        "filled_days": run.filled_days or None,
        "filled_weather": list(summary.filled_weather) or None,
        "version_parts": list(summary.parts) or None,
        "subset": summary.subset,
        "weather_note": weather_note(run, summary),
    }
    return {
        "basin": basin.basin_id,
        "basin_kind": named_kind(basin.basin_id, latest.owner),
        "run": run.id,
        "version": run.version_id,
        "status": basin.status,
        "reason": text(basin.reason),
        "superseded_by": latest.superseded_by,
        "t0": as_date(run.t0),
        "forcing_note": forcing_note(run),
        "bridges": list(summary.bridges),
        **{name: getattr(run, name) for name in _OF_RUN},
        **{name: basin.why_missing if value is None else value for name, value in learnt.items()},
        **{name: value for name, value in where_known.items() if value is not None},
    }


def header_of_days(latest: Latest, at: datetime | None) -> dict[str, Any]:
    """Return the fields of `DaysOfRun` but for its units."""
    return header(latest, at) | days_ahead(latest.run)


def days_ahead(run: Run) -> dict[str, Any]:
    leads = np.arange(1, run.horizon_days + 1)
    return {"time": (run.t0 + leads).astype("datetime64[D]").tolist(), "lead_days": leads.tolist()}


def run_table(name: str, title: str) -> Callable[[Any, Mapping[str, Site]], Table]:
    """Return what builds the table of a run's answer; `title` takes its fields, such as `{0.basin}`."""
    return lambda answer, sites: table_of(answer, f"{answer.basin}_{name}_{answer.t0}", title.format(answer), sites)


def forcing_note(run: Run) -> str:
    """Describe the weather after T0."""
    perturbed = run.weather is not None and run.weather.source == PERTURBED
    note = PERTURBED_NOTE if perturbed else KINDS[run.forcing_kind].note
    changed = run.what_if is not None and bool(run.what_if.changes)
    return f"{note} Changed as described in what_if." if changed else note


def what_if(run: Run) -> WhatIf | None:
    """Return the changes of a run; None if it is not a what-if run."""
    shown = run.what_if
    if shown is None:
        return None
    changes = Changes.model_validate(shown.changes)
    return WhatIf(**changes.model_dump(), in_words=changes.in_words, note=shown.note, base=shown.base)
