"""Describes in words where weather came from that was not observed in time or not forecast, and old forecasts."""

from collections.abc import Iterator, Sequence
from datetime import date

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, Period, as_date, day, days_between
from records.runs.run_summary import RunSummary, WeatherShare
from records.runs.run_types import NewRun
from records.runs.run_weather import FilledWeather, subset_note

OLD_DAYS = 2
"""Age from which on a weather forecast is mentioned."""
_Of = tuple[tuple[str, ...], str]
"""Variables, and the clause on their source."""


def weather_note(run: NewRun, summary: RunSummary) -> str | None:
    """Return the sentences about missing products, filled weather and an old or refused weather forecast."""
    sentences = [
        None if summary.subset is None else subset_note(summary.subset),
        *_filled_notes(summary, run.weather_until),
    ]
    if run.weather is not None and run.purpose == "operational":
        reference = day(run.weather.reference_time.date())
        age = days_between(reference, run.weather_until) + 1
        if age >= OLD_DAYS:
            sentences.append(f"The newest weather forecast is of {_on(as_date(reference))}, {age} days before.")
    if not isinstance(summary.calibration, Absent):
        sentences += _shares_notes(summary.calibration.weather_shares)
    if summary.weather_fault is not None:
        sentences.append(f"A newer weather forecast was not taken: {summary.weather_fault}")
    return " ".join(filter(None, sentences)) or None


def _shares_notes(shares: Sequence[WeatherShare]) -> Iterator[str]:
    there = [f"{one.name} {sum(one.by_lead) / len(one.by_lead):.0%}" for one in shares if one.reason is None]
    if len(there) > 1:
        yield f"Of several weather models, with the mean share of each: {', '.join(there)}."
    for one in shares:
        if one.reason is not None:
            yield f"{one.name} is missing, and its share left to the others: {one.reason}"


def _filled_notes(summary: RunSummary, until: Day) -> list[str]:
    if not summary.parts:
        return list(filter(None, [filled_note(summary.filled_weather, until)]))
    of_products = {part.product: filled_note(part.filled_weather, until) for part in summary.parts}
    if len(different := set(of_products.values())) == 1:
        return list(filter(None, different))
    return [f"{product}: {note}" for product, note in of_products.items() if note is not None]


def filled_note(filled: Sequence[FilledWeather], until: Day) -> str | None:
    sentences = [_past(days, *of) for days, of in _merged([one for one in filled if day(one.first) <= until], until)]
    later = [one for one in filled if day(one.last) > until and one.source == "climatology"]
    if later:
        first = as_date(max(min(day(one.first) for one in later), until + 1))
        sentences.append(f"From {_on(first)} on no weather forecast is known: the weather is that of other years.")
    return " ".join(sentences) or None


def _merged(filled: Sequence[FilledWeather], until: Day) -> Iterator[tuple[Period, _Of]]:
    everything = set[str]().union(*(one.correlations for one in filled))
    spans: dict[_Of, list[Period]] = {}
    for one in filled:
        if one.source != "product":
            whole = everything == set(one.correlations) and _alone(one, filled)
            of = () if whole else tuple(one.correlations), _clause(one)
            days = spans.setdefault(of, [])
            last = min(day(one.last), until)
            if days and days[-1].last + 1 == day(one.first):
                days[-1] = Period(days[-1].first, last)
            else:
                days.append(Period(day(one.first), last))
    found = [(days, of) for of, periods in spans.items() for days in periods]
    yield from sorted(found, key=lambda one: (one[0].first, one[1]))


def _alone(one: FilledWeather, filled: Sequence[FilledWeather]) -> bool:
    return not any(other is not one and other.first <= one.last and other.last >= one.first for other in filled)


def _past(days: Period, variables: tuple[str, ...], clause: str) -> str:
    what = ", ".join(variables) or "weather"
    first, last = as_date(days.first), as_date(days.last)
    when = _on(last) if first == last else f"{first.day if first.month == last.month else _on(first)} to {_on(last)}"
    are, it = ("are", "they are") if len(variables) > 1 else ("is", "it is")
    return f"{what[0].upper()}{what[1:]} of {when} {are} not observed yet: {it} {clause}."


def _clause(one: FilledWeather) -> str:
    if one.source == "bridge":
        return f"that of {one.name}, bridged"
    if one.source == "climatology":
        return "that of other years"
    if one.reference_day is None:
        return "a weather forecast"
    reference = day(one.reference_day)
    if one.first == one.last and reference in (day(one.first), day(one.first) - 1):
        return f"the forecast of {'that day' if reference == day(one.first) else 'the day before'}"
    return f"the forecast of {_on(as_date(reference))}"


def _on(at: date) -> str:
    return f"{at.day} {at:%B}"
