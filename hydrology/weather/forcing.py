"""A weather forecast of one basin, with one or more traces, checked before use.

A fault refuses only the forecast of its basin, so that other basins can still be served.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Self

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Mask
from hydrology.base.calendar import Day, Days, Period, day
from hydrology.base.doc import Doc
from hydrology.base.errors import DataProblem, InvalidInput, counted, printable
from hydrology.base.products import WEATHER
from hydrology.weather.runoff import unit_hint

Array = npt.NDArray[np.float32]

MAX_TRACES = 256
MAX_LEADS = 366
MAX_TRACE_DAYS = 20_000
"""Maximum number of days over all traces, which limits the size of dependent data."""

MAX_DAYS_BEHIND = 7
"""A forecast may start up to this many days before its reference time, to bridge a late archive."""

# Without them it begins on the local day of its reference time or on the next whole one, anywhere on Earth; those are
# within a day before and two days after the day that the reference time has in UTC.
_FIRST_DAYS = (np.timedelta64(-1 - MAX_DAYS_BEHIND, "D"), np.timedelta64(2, "D"))
_NAME = re.compile(r"[0-9A-Za-z_.-]{1,64}")
_NAME_RULE = "1 to 64 letters, digits and the characters _ . -"
_YEARS = range(1800, 2200)
_MAX_CREDIT = 500
_MAX_UNIT = 32


class WeatherRefused(DataProblem):
    """The weather forecast of a basin cannot be used."""


Provider = Annotated[str, Doc("The provider.", ("open-meteo",))]
WeatherModel = Annotated[str, Doc("The weather model.", ("ncep_gefs025",))]
ReferenceTime = Annotated[datetime, Doc("Reference time of the model run.")]
AvailableTime = Annotated[datetime, Doc("Readable since this instant.")]
Licence = Annotated[str | None, Doc("The source's licence; null where it names none.")]
Credit = Annotated[str | None, Doc("The attribution to show with the data; null where none is required.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class WeatherIssue:
    """A source's issue of weather forecasts for any number of basins; times are in UTC."""

    source: Provider
    model: WeatherModel
    reference_time: ReferenceTime
    available_time: AvailableTime
    licence: Licence = None
    credit: Credit = None

    def __post_init__(self) -> None:
        for noun, name in (("source", self.source), ("model", self.model)):
            if not _NAME.fullmatch(name):
                raise InvalidInput(f"The {noun} of a weather forecast is not a name: write {_NAME_RULE}.")
        for noun, instant in (("reference", self.reference_time), ("available", self.available_time)):
            if instant.utcoffset() != timedelta(0):
                raise InvalidInput(f"The {noun} time of a weather forecast is not in UTC: write it with Z at its end.")
        if self.reference_time.year not in _YEARS:
            raise InvalidInput(
                f"A weather forecast of the year {self.reference_time.year} is none: give the time at which its run "
                "began, in the years 1800 to 2199; a climatology has none."
            )
        if self.available_time < self.reference_time:
            raise InvalidInput(
                f"A weather forecast of {self.reference_time:%Y-%m-%dT%H:%MZ} cannot have been available at "
                f"{self.available_time:%Y-%m-%dT%H:%MZ}, before it: correct one of the two."
            )
        if any(len(text) > _MAX_CREDIT or not text.isprintable() for text in (self.licence, self.credit) if text):
            raise InvalidInput(f"Licence and credit are lines of at most {_MAX_CREDIT} characters: shorten them.")


@dataclass(frozen=True, slots=True)
class Trace:
    """One trace from a source, not yet checked: values (days,) by variable, NaN where there is none."""

    label: str
    days: Days
    values: Mapping[str, Array]


@dataclass(frozen=True, slots=True, kw_only=True)
class WeatherForecast:
    """The weather forecast of one basin.

    Attributes:
        traces: their labels, without duplicates; a forecast of one trace has one.
        first: the first valid day; the others follow it without a gap. Days are calendar days at the gauge.
        values: (traces, days) by variable, in the units of `hydrology.base.products.WEATHER`, all finite.
        units: of the values, as the source stated them.
    """

    issue: WeatherIssue
    basin: str
    traces: tuple[str, ...]
    first: Day
    values: Mapping[str, Array]
    units: Mapping[str, str]

    def __post_init__(self) -> None:
        self._check_variables()
        self._check_shape()
        self._check_days()
        for variable, values in self.values.items():
            self._check_values(variable, values)
        if self.values.keys() >= {"tmin", "tmax"}:
            self._check_where(self.values["tmin"] <= self.values["tmax"], "tmin is above tmax", "correct the two")

    @classmethod
    def of_traces(cls, issue: WeatherIssue, basin: str, traces: Sequence[Trace], units: Mapping[str, str]) -> Self:
        """Assemble a forecast from traces, whose days may be in any order; WeatherRefused where it cannot be used."""
        _check(basin, bool(traces), "the forecast holds no trace: send one at least")
        for trace in traces:
            _check_trace(basin, trace)
        ordered = [np.argsort(trace.days) for trace in traces]
        first, days = traces[0], traces[0].days[ordered[0]]
        for trace, order in zip(traces, ordered, strict=True):
            _check_alike(basin, first.label, days, trace, trace.days[order])
            sentence = f"traces {first.label} and {trace.label} hold different variables: send them whole"
            _check(basin, trace.values.keys() == first.values.keys(), sentence)
        values = {
            variable: np.stack(
                [trace.values[variable][order] for trace, order in zip(traces, ordered, strict=True)]
            ).astype(np.float32)
            for variable in first.values
        }
        labels = tuple(trace.label for trace in traces)
        return cls(issue=issue, basin=basin, traces=labels, first=days[0], values=values, units=units)

    @property
    def period(self) -> Period:
        leads = next(iter(self.values.values())).shape[1]
        return Period(self.first, self.first + np.timedelta64(leads - 1, "D"))

    def _check_variables(self) -> None:
        sentence = "there is no precipitation in the forecast: send it with the others"
        _check(self.basin, "precipitation" in self.values, sentence)
        for variable in self.values:
            sentence = f"a variable of the forecast is not known: choose of {', '.join(WEATHER)}"
            _check(self.basin, variable in WEATHER, sentence)
            unit, stated = WEATHER[variable].unit, self.units.get(variable, "")
            found = f"is stated in '{printable(stated)[:_MAX_UNIT]}'" if stated.strip() else "states no unit"
            sentence = f"{variable} {found}, but must be in {unit}: convert its values and state {unit}"
            _check(self.basin, stated == unit, sentence)

    def _check_shape(self) -> None:
        count, basin = len(self.traces), self.basin
        _check(basin, len(set(self.traces)) == count, "two traces bear one label: give each trace a label of its own")
        for label in self.traces:
            _check_label(basin, label)
        traces = counted(count, "trace")
        _check(basin, 0 < count <= MAX_TRACES, f"the forecast has {traces}: send 1 to {MAX_TRACES}")
        shapes = {values.shape for values in self.values.values()}
        leads = next(iter(shapes))[-1] if len(shapes) == 1 else 0
        sentence = "its variables and traces are not of the same days: send each value of each trace"
        _check(basin, shapes == {(count, leads)}, sentence)
        _check(basin, 0 < leads <= MAX_LEADS, f"send 1 to {MAX_LEADS} days, not {leads}")
        sentence = f"{traces} of {counted(leads, 'day')} are more than {MAX_TRACE_DAYS} days: send fewer"
        _check(basin, count * leads <= MAX_TRACE_DAYS, sentence)

    def _check_days(self) -> None:
        reference = day(self.issue.reference_time.date())
        earliest, latest = (reference + step for step in _FIRST_DAYS)
        sentence = (
            f"its first day is {self.first}, and a forecast of {self.issue.reference_time:%Y-%m-%dT%H:%MZ} begins "
            f"between {earliest} and {latest}: send the days that it forecasts, or correct its reference time"
        )
        _check(self.basin, bool(earliest <= self.first <= latest), sentence)

    def _check_values(self, variable: str, values: Array) -> None:
        quantity = WEATHER[variable]
        if values.dtype != np.float32:
            raise TypeError(f"{variable} of a weather forecast is {values.dtype}, not float32")
        self._check_where(~np.isnan(values), f"{variable} is missing", "send every day of every trace")
        if variable == "precipitation":
            self._check_where(values >= 0, "precipitation is negative", "correct it, or send 0")
        possible = (quantity.lowest <= values) & (values <= quantity.highest)
        if not possible.all():  # the sentence takes longer than the check
            limits = f"{quantity.lowest:g} to {quantity.highest:g} {quantity.unit}{unit_hint(variable, values)}"
            self._check_where(possible, f"{variable} is outside {limits}", "correct it, or its unit")

    def _check_where(self, sound: Mask, cause: str, remedy: str) -> None:
        if not sound.all():
            trace, lead = np.argwhere(~sound)[0]
            day, label = self.period.days[lead], self.traces[trace]
            raise WeatherRefused(f"{self.basin}: {cause} on {day} in trace {label}: {remedy}.")


def _check(basin: str, sound: bool, sentence: str) -> None:
    if not sound:
        raise WeatherRefused(f"{basin}: {sentence}.")


def _check_label(basin: str, label: str) -> None:
    sentence = f"a trace has a label that is not a name: write {_NAME_RULE}"
    _check(basin, _NAME.fullmatch(label) is not None, sentence)


def _check_trace(basin: str, trace: Trace) -> None:
    _check_label(basin, trace.label)
    count, label = len(trace.days), trace.label
    sentence = f"a variable of trace {label} has more or fewer values than the trace has days: send one a day"
    _check(basin, all(values.shape == trace.days.shape for values in trace.values.values()), sentence)
    _check(basin, count > 0, f"trace {label} has no day: send it, or leave it out")
    _check(basin, len(trace.values) > 0, f"trace {label} has no variable: send it, or leave it out")
    _check(basin, count <= MAX_LEADS, f"trace {label} has more than {MAX_LEADS} days: send fewer")


def _check_alike(basin: str, first_label: str, first_days: Days, trace: Trace, days: Days) -> None:
    """Refuse a trace whose days are not consecutive, or differ from those of the first."""
    label, count = trace.label, len(days)
    before, steps = days[:-1], np.diff(days).astype(int)
    for twice in before[steps == 0][:1]:
        raise WeatherRefused(f"{basin}: {twice} comes twice in trace {label}: send each day once.")
    for last in before[steps != 1][:1]:
        raise WeatherRefused(f"{basin}: {last + 1} is missing in trace {label}: send every day.")
    sentence = f"trace {label} begins on {days[0]} and trace {first_label} on {first_days[0]}: send one period"
    _check(basin, bool(days[0] == first_days[0]), sentence)
    counts = f"trace {label} has {counted(count, 'day')} and trace {first_label} {len(first_days)}"
    _check(basin, count == len(first_days), f"{counts}: send one period")
