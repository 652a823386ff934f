"""The five facts at the head of a basin's page: threat, peak, snow, season, skill."""

import calendar
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

from app.alerts.schemas import Alert
from app.forecasts.exceedance.schemas import ExceedanceOfRun, LevelChances
from app.forecasts.schemas import BasinForecast
from app.forecasts.volumes.schemas import VolumesOfRun
from app.forecasts.words import UNITS, number, on
from app.pages.render import in_full
from app.pages.words import NO_ESTIMATE, RANGE_KINDS, STALE, skill_word, t0_of
from app.versions.verification.schemas import BasinVerification, LeadVerification
from app.versions.verification.skilful_days import by_month
from hydrology.base.absent import Absent
from hydrology.base.errors import counted
from hydrology.base.reasons import Reason
from hydrology.base.units import Units
from hydrology.extremes.alerting import Severity
from hydrology.extremes.level_names import level_title, percent
from hydrology.snow.against_normal import MIN_MM
from hydrology.verification.reliable_days import ReliableDays, reliable_days
from hydrology.verification.skilful_days import SkilfulDays, skilful_days
from records.runs.run_request import OBSERVED
from records.verification.scores import HeldOutScore

LIKELY = 0.05
"""Chance from which on a level counts as threatened."""
SHORT_REASONS = {
    Reason.NO_ERROR_MODEL: NO_ESTIMATE,
    Reason.NO_SNOW_REFERENCE: "no reference snow here to choose cells by",
    Reason.SNOW_CELLS_NOT_CHOSEN: "snow cells not chosen yet",
    Reason.NO_CELL_FOLLOWS_SNOW: "no cell of the model follows snow here",
    Reason.NOT_CONSERVING: "this model stores no water",
    Reason.NOT_STORED: "not stored with this run",
}
"""Reasons in few words; the section below has the sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact: its value, or None with the reason in `detail`; `section` has more on it."""

    title: str
    value: str | None = None
    detail: str = ""
    severity: Severity | None = None
    section: str


def start(forecast: BasinForecast) -> Fact:
    """Return the day that a forecast starts from, with its age where it is stale, and its version where not current."""
    late = f"{counted(forecast.age_days or 0, 'day')} behind the clock{STALE}" if forecast.stale else ""
    detail = " ".join(part for part in (late, forecast.version_note) if part)
    return Fact(title="T0", value=in_full(forecast.t0), detail=detail, section="forecast")


def threat(alert: Alert | None, chances: ExceedanceOfRun | Absent, units: Units, days: int) -> Fact:
    """Return the level of the most severe alert, or the highest level that is likely to be passed, with its chance."""
    fact = partial(Fact, title="Threat", section="levels")
    if alert is not None:
        way = "above" if alert.direction == "rising" else "below"
        detail = f"{percent(alert.chance)} {way} {number(alert.discharge)} m³/s in {counted(days, 'day')}"
        return fact(value=level_title(alert.level), detail=detail, severity=alert.severity)
    if isinstance(chances, Absent):
        return fact(detail=short(chances))
    rising = [one for one in chances.levels if one.direction == "rising" and one.flow == "calibrated"]
    known = sorted((one for one in rising if one.within is not None), key=_height)
    if not known:
        return fact(detail=NO_ESTIMATE if chances.peak is None else "no flood level known here")
    likely = [one for one in known if (one.within or 0) >= LIKELY]
    shown = likely[-1] if likely else known[0]
    detail = (
        f"{percent(shown.within or 0)} above {number(_height(shown))} {UNITS[units]} in "
        f"{counted(_days_to_come(chances), 'day')}"
    )
    title = level_title(shown.name or "")
    return fact(value=title if likely else "None likely", detail=detail if likely else f"{title}: {detail}")


def peak(forecast: BasinForecast, chances: ExceedanceOfRun | Absent, units: Units) -> Fact:
    """Return the next peak: its height and day with their ranges, or that flow only falls or only rises."""
    fact, unit = partial(Fact, title="Next peak", section="hydrograph"), UNITS[units]
    quantiles = forecast.calibrated or forecast.discharge
    if quantiles is None:
        return fact(detail="no forecast of flow")
    past = forecast.filled_days or 0
    median, days = quantiles["median"][past:], forecast.time[past:]
    highest = max(range(len(days)), key=median.__getitem__)
    known = None if isinstance(chances, Absent) else chances.peak
    height = median[highest] if known is None else known.median
    value = f"{number(height)} {unit} on {on(days[highest])}"
    if highest == 0 and len(days) > 1:
        value = f"None, falling from {number(median[0])} to {number(median[-1])} {unit}"
    elif highest == len(days) - 1 and len(days) > 1:
        value = f"Rising to {number(height)} {unit} by {on(days[-1])}"
    if known is None:
        return fact(value=value, detail=NO_ESTIMATE)
    range_of = RANGE_KINDS.get(getattr(forecast.calibration, "kind", ""), "90 % range")
    when = _days(known.day_p05, known.day_p95)
    return fact(value=value, detail=f"{range_of}: {number(known.p05)} to {number(known.p95)} {unit}, {when}")


def snow(forecast: BasinForecast, why: Absent | None) -> Fact:
    """Return the snow of T0 in percent of normal, or what other estimates have where they differ."""
    fact = partial(Fact, title="Snow now", section="snow")
    read = None if forecast.storage is None else forecast.storage.snow_read
    if read is None:
        return fact(detail="not known" if why is None else short(why))
    now = read.at_t0
    detail = f"{number(now.mean)} mm, members {number(now.p05)} to {number(now.p95)}"
    if now.percent_of_normal is None and not now.uncertain:
        why_no_normal = "no normal computed yet" if now.normal is None else "normally hardly any"
        detail = "" if now.mean < MIN_MM else why_no_normal
    elif now.reference is not None:
        detail += f"; reference {number(now.reference.mm)} mm"
    return fact(value=f"{now.in_words[0].upper()}{now.in_words[1:]}", detail=detail)


def season(forecast: BasinForecast, volumes: VolumesOfRun | Absent) -> Fact:
    """Return the volume of the season in percent of normal; without one, that of the days ahead."""
    fact = partial(Fact, title="Season's volume", section="volume")
    quantiles = None if isinstance(volumes, Absent) else volumes.calibrated or volumes.raw
    if not isinstance(volumes, Absent) and quantiles is not None and quantiles.percent_of_normal is not None:
        of = dict(zip(volumes.exceeded_percent, quantiles.percent_of_normal, strict=True))
        low, high = of[max(of)], of[min(of)]
        kind = f"{max(of) - min(of)} % range" if volumes.calibrated else "not calibrated:"
        when = f"{on(volumes.period.first_day)} to {on(volumes.period.last_day)}"
        detail = f"{when}; {kind} {low:.0f} to {high:.0f} %"
        if volumes.t0 != forecast.t0:
            detail += f"; from {t0_of(volumes)}"
        elif volumes.stale:
            detail += STALE
        return fact(value=f"{of[50]:.0f} % of normal", detail=detail)
    normal = forecast.normal
    share = None if normal is None else normal.calibrated_percent_of_normal or normal.percent_of_normal
    if share is None:
        return fact(detail="no seasonal run yet")
    return fact(detail=f"no seasonal run yet; next {counted(_days_to_come(forecast), 'day')}: {share:.0f} % of normal")


def skill(nse: HeldOutScore | None, by_lead: BasinVerification | Absent, weather: str | None, month: int) -> Fact:
    """Return until which day forecasts of a month are skilful here.

    Without enough years of the month, until which day forecasts were reliable; of too few independent forecasts, why
    there is no word; without verification, a word for the simulation of held-out days.
    """
    fact = partial(Fact, title="Skill here", section="skill")
    rows = [] if isinstance(by_lead, Absent) else verified_rows(by_lead, weather)
    if rows:
        skilful = skilful_days(by_month(rows, month))
        found = reliable_days(rows) if isinstance(skilful, Absent) else skilful
        if isinstance(found, Absent):
            return fact(detail=str(found))
        words = in_words(found)
        value = f"{words} in {calendar.month_name[month]}" if isinstance(found, SkilfulDays) else words
        return fact(value=value, detail=_evidence(rows, found))
    if nse is None:
        return fact(detail="not evaluated on held-out days here yet")
    return fact(
        value=skill_word(nse.value),
        detail=f"NSE {nse.value:.2f} on held-out days, {nse.period.first} to {nse.period.last}",
    )


def _evidence(rows: Sequence[LeadVerification], found: SkilfulDays | ReliableDays) -> str:
    """Return the verification behind a headline: its skill, number of forecasts and days."""
    shown = next((row for row in rows if row.lead == found.days), rows[0])
    better = f"{100 * (shown.crpss_climatology or 0):.0f} % better than climatology on day {shown.lead}"
    known = ", with the weather known" if shown.weather == OBSERVED else ""
    issues = counted(found.independent_issues, "independent forecast")
    return f"{better}{known}; {issues}, {shown.period.first_day} to {shown.period.last_day}"


def in_words(headline: SkilfulDays | ReliableDays) -> str:
    """Return the headline of a verification."""
    word = "Skilful" if isinstance(headline, SkilfulDays) else "Reliable"
    return f"{word} to day {headline.days}" if headline.days else f"Not {word.lower()}"


def by_months(rows: Sequence[LeadVerification]) -> list[tuple[str, str, int]]:
    """Return the months with a headline of their skill, the headline, and its number of independent forecasts."""
    found = ((month, skilful_days(by_month(rows, month))) for month in range(1, 13))
    return [
        (calendar.month_name[month], in_words(days), days.independent_issues)
        for month, days in found
        if not isinstance(days, Absent)
    ]


def verified_rows(by_lead: BasinVerification, weather: str | None) -> list[LeadVerification]:
    """Return the rows of calibrated forecasts to show, by lead: those issued with this weather before reforecasts.

    Args:
        weather: the weather forecast behind the run, by its source and model; None for another kind of weather.
    """
    rows = [row for row in by_lead.verification if row.forecaster == "calibrated" and row.crpss_climatology is not None]
    orders = (("issued", weather), ("reforecast", weather), ("reforecast", OBSERVED))
    chosen = next((found for asked in orders if (found := [r for r in rows if (r.origin, r.weather) == asked])), [])
    return sorted(chosen, key=lambda row: row.lead)


def short(reason: Absent) -> str:
    """Return a reason in few words."""
    return SHORT_REASONS.get(Reason[reason.code.upper()], "not known")


def _days_to_come(run: BasinForecast | ExceedanceOfRun) -> int:
    return run.horizon_days - (run.filled_days or 0)


def _height(level: LevelChances) -> float:
    return level.discharge or 0.0


def _days(first: date, last: date) -> str:
    if first == last:
        return on(first)
    return f"{first.day} to {on(last)}" if first.month == last.month else f"{on(first)} to {on(last)}"
