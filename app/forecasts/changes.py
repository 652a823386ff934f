"""/v1/basins/{basin}/forecasts/latest/changes: why a forecast differs from the previous one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.exports.answers import SeriesAnswer, documented_responses
from app.exports.formats import SERIES
from app.forecasts import lookup
from app.forecasts.discharge import DischargeUnits, in_units
from app.forecasts.header import DaysOfRun, header_of_days, run_table
from app.forecasts.words import UNITS, depth, number, on, signed
from app.http.base_schema import EXPLAINED, Missing, Model, Series, column
from app.http.dependencies import AsKnown, BasinId, Reading, RunId
from hydrology.attribution import PARTS, interaction, whole_change
from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import as_date, day
from hydrology.base.reasons import Reason
from hydrology.base.units import NoArea, Units
from records.basins.basins import UnknownBasin
from records.forecasts.latest import Latest, NoForecast, NoModel, result_of
from records.runs import run_arrays, runs
from records.runs.run_summary import RunChange
from records.runs.run_types import UnknownRun


@dataclass(frozen=True, slots=True)
class Split:
    """A change and its parts (orders, parts, days), in the unit of the answer, with the flow of the run."""

    found: RunChange
    after: Array
    parts: Array

    @property
    def change(self) -> Array:
        """The whole change, (days,)."""
        return whole_change(self.parts)


WORTH_NAMING = 0.05
"""Parts smaller than this share of the largest one are not named."""


def change_in_words(split: Split, days: Sequence[date], units: Units) -> str:
    """Describe the largest change of any day, and its parts from the largest on."""
    change, since = split.change, on(as_date(day(split.found.t0)))
    at = int(np.abs(change).argmax())
    if number(abs(float(change[at]))) == "0":
        return f"Nothing changed since the forecast of {since}."
    after, before = float(split.after[at]), float(split.after[at] - change[at])
    of_day = f"{days[at]:%A} {on(days[at])}"
    sentence = (
        f"{signed(float(change[at]))} {UNITS[units]} on {of_day} since the forecast of {since}, from "
        f"{number(before)} to {number(after)}"
    )
    parts = {name: float(value) for name, value in zip(PARTS, split.parts[0, :, at], strict=True) if value == value}
    largest = max(map(abs, parts.values()))
    named = sorted(
        (name for name in parts if abs(parts[name]) >= WORTH_NAMING * largest), key=lambda one: -abs(parts[one])
    )
    causes = (f"{signed(parts[name])} {_cause(name, parts[name], split.found, days[-1])}" for name in named)
    return f"{sentence}: {', '.join(causes)}."


def _cause(name: str, value: float, found: RunChange, last: date) -> str:
    if name == "observed_weather":
        fell = f"({depth(found.observed_mm)} of precipitation, {depth(found.expected_mm)} expected)"
        return f"{_because(value, found.observed_mm - found.expected_mm, 'fell', 'the observed weather')} {fell}"
    if name == "weather_forecast":
        amounts = f"{depth(found.ahead_mm)} by {on(last)}, {depth(found.ahead_before_mm)} before"
        more = found.ahead_mm - found.ahead_before_mm
        return f"{_because(value, more, 'is forecast', 'the new weather forecast')} ({amounts})"
    return {
        "revised_data": "from revised weather data",
        "model_version": "from another model version"
        if not found.products_before
        else f"from other weather products ({' and '.join(found.products_before)} before)",
        "observed_flow": "from the last observed flow and past errors",
    }[name]


def _because(value: float, more: float, verb: str, otherwise: str) -> str:
    if value * more <= 0:
        return f"from {otherwise}"
    return f"because {'more' if more > 0 else 'less'} rain or snow {verb}"


ChangeOf = Literal["calibrated median", "mean of the members"]


class PreviousRun(Model):
    """The run that a forecast is compared with."""

    run: str
    version: str = Field(description="Its model version.")
    t0: date


class ChangeByCause(Model):
    """A change of discharge by its causes. Each column has one value for each day of `time`."""

    revised_data: list[float] | None = Field(
        description=column("Revised weather before the previous T0: the state of that day, computed again")
    )
    observed_weather: list[float] | None = Field(
        description=column("The weather from the previous T0 to this one, as observed and not as forecast")
    )
    weather_forecast: list[float] | None = Field(
        description=column("The new weather forecast of the days ahead, in place of the previous one")
    )
    model_version: list[float] | None = Field(
        description=column(
            "Another model version, or other weather products of a version that combines others: one that came, or is "
            "missing now"
        )
    )
    observed_flow: list[float] | None = Field(
        description=column(
            "The calibrated correction, which starts from the last observed flow: calibrated median less mean of the "
            "members. Null where not both runs are calibrated"
        )
    )


class Rain(Model):
    """Precipitation behind a change, mm, the mean of the traces."""

    observed: float = Field(description="From the previous T0 to this one, as observed.")
    expected: float = Field(description="The same days, as the previous forecast expected.")
    ahead: float = Field(description="On the days of `time`, by this forecast.")
    ahead_before: float = Field(description="The same days, by the previous forecast.")


class ChangeOfRun(DaysOfRun):
    """Why a forecast differs from the previous one on the days that both hold."""

    previous: PreviousRun | None = Field(
        description="The newest operational run from an earlier T0, of at most 10 days before."
    )
    change_of: ChangeOf | None = Field(description="The compared flow: calibrated where both runs are.")
    before: Annotated[list[float] | None, Series("discharge by the previous forecast")] = Field(
        description=column("Discharge by the previous forecast")
    )
    after: Annotated[list[float] | None, Series("discharge by this forecast")] = Field(
        description=column("Discharge by this forecast")
    )
    change: Annotated[list[float] | None, Series("change of the discharge")] = Field(
        description=column("`after` less `before`")
    )
    parts: Annotated[ChangeByCause | None, Series("part of the change due to {}", column="part_{}")] = Field(
        description="The change by cause, from reruns of the previous forecast with one input after the other "
        "replaced, in the order of the fields. They add up to the change."
    )
    interaction: Annotated[ChangeByCause | None, Series("dependence on the order of the part due to {}")] = Field(
        description="By how much the parts depend on that order: `parts` less the same in the opposite order. Over the "
        "causes it adds up to 0."
    )
    precipitation: Rain | None
    in_words: str | None = Field(description="The largest change in a sentence.")
    missing: Missing = EXPLAINED


_MEDIAN = 0.5
_FIELDS = ("previous", "change_of", "before", "after", "change", "parts", "interaction", "precipitation", "in_words")


def change_of(session: Session, latest: Latest, at: datetime | None, units: Units) -> ChangeOfRun:
    """Return the change of a run since the previous one; `at` is the clock's time for a latest answer."""
    fields, split = header_of_days(latest, at), _split(session, latest, units)
    if isinstance(split, Absent):
        fields |= dict.fromkeys(_FIELDS, split)
    else:
        fields |= {name: fields[name][: len(split.after)] for name in ("time", "lead_days")}
        fields |= _fields(split) | {"in_words": change_in_words(split, fields["time"], units)}
    flows = dict.fromkeys(("before", "after", "change", "parts", "interaction"), units)
    return ChangeOfRun(units=flows | {"precipitation": "mm"}, **fields)


def _split(session: Session, latest: Latest, units: Units) -> Split | Absent:
    run, basin = latest.run, latest.basin
    found = basin.summary.change
    if run.purpose != "operational":
        return absent(Reason.CHANGE_NOT_OPERATIONAL)
    if not isinstance(found, RunChange):
        return basin.why(found)
    wanted = ("discharge", run_arrays.MEAN_OF_MEMBERS, run_arrays.CALIBRATED, run_arrays.CHANGES)
    series = runs.series_of(session, run.id, basin.basin_id, wanted)
    parts = series[run_arrays.CHANGES].values
    after = _flow(series, calibrated=found.without_flow is None)[: parts.shape[-1]]
    return Split(found, in_units(after, basin, units), in_units(parts, basin, units))


def _flow(series: Mapping[str, run_arrays.RunSeries], *, calibrated: bool) -> Array:
    if not calibrated:
        return run_arrays.mean_of_members(series)
    quantiles = series[run_arrays.CALIBRATED]
    return np.asarray(quantiles.values[list(quantiles.axes["level"]).index(_MEDIAN)], dtype=np.float64)


def _fields(split: Split) -> dict[str, Any]:
    found = split.found
    return {
        "previous": PreviousRun(run=found.run, version=found.version, t0=as_date(day(found.t0))),
        "change_of": "calibrated median" if found.without_flow is None else "mean of the members",
        "before": (split.after - split.change).tolist(),
        "after": split.after.tolist(),
        "change": split.change.tolist(),
        "parts": _by_cause(split.parts[0], found.without_flow),
        "interaction": found.without_reverse or _by_cause(interaction(split.parts), found.without_flow),
        "precipitation": Rain(
            observed=found.observed_mm,
            expected=found.expected_mm,
            ahead=found.ahead_mm,
            ahead_before=found.ahead_before_mm,
        ),
    }


def _by_cause(parts: Array, why: Absent | None) -> ChangeByCause:
    """Return parts (parts, days) by cause, unrounded so that they add up; null where they are unknown."""
    named = zip(PARTS, parts, strict=True)
    columns: dict[str, Any] = {name: row.tolist() if np.isfinite(row).all() else why for name, row in named}
    return ChangeByCause(**columns)


TABLE = run_table("changes", "Change of the forecast of {0.basin}")
router = APIRouter(tags=["forecasts"])


@router.get(
    "/basins/{basin}/forecasts/latest/changes",
    summary="Why the latest forecast differs from the previous one",
    **documented_responses(ChangeOfRun, UnknownBasin, NoModel, NoForecast, NoArea, formats=SERIES),
)
def read_latest_changes(
    session: Reading, answer: SeriesAnswer, basin: BasinId, at: AsKnown, units: DischargeUnits = "m3/s"
) -> Response:
    """The change of the discharge since the previous operational run of the basin, on the days that both hold, split
    into weather that came, new weather forecast, revised data, model version and observed flow. The parts add up to the
    change; `in_words` describes the largest one. Null, with the reason, for a basin's first forecast."""
    changes = change_of(session, lookup.latest(session, basin, at), at, units)
    return answer.of_basin(changes, TABLE)


@router.get(
    "/runs/{run}/basins/{basin}/changes",
    summary="Why the forecast of a given run differs from the previous one",
    **documented_responses(ChangeOfRun, UnknownRun, NoArea, formats=SERIES),
)
def read_changes_of_run(
    session: Reading, answer: SeriesAnswer, run: RunId, basin: BasinId, units: DischargeUnits = "m3/s"
) -> Response:
    """The same answer as for the latest forecast, of any operational run."""
    changes = change_of(session, result_of(session, run, basin), None, units)
    return answer.of_basin(changes, TABLE)
