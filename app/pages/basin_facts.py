"""The five facts at the head of a basin's page (threat, peak, snow, season, skill), and its scores for a reader."""

import calendar
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from math import inf

import numpy as np
from sqlalchemy.orm import Session

from app.forecasts.forecast import BasinForecast
from app.forecasts.words import UNITS, depth, number, on
from app.outlooks.outlooks import answer_of
from app.outlooks.schemas import AlertNow, BasinOutlook, ForecastSkill, ThreatLevel
from app.pages.basin_figures import BasinFigures
from app.pages.figures.flow import NO_ESTIMATE, RANGE_KINDS
from app.pages.render import STALE, in_full
from app.versions.scores import BasinSkill
from app.versions.skilful_days import by_month
from hydrology.alerts import Severity
from hydrology.base.absent import Absent
from hydrology.base.calendar import day
from hydrology.base.errors import counted
from hydrology.base.reasons import Reason
from hydrology.base.units import Units
from hydrology.extremes.level_checks import percent
from hydrology.snow.against_normal import MIN_MM
from hydrology.verification.skilful_days import skilful_days
from records.outlooks.reader import Outlook
from records.runs.run_summary import RunSnow
from records.runs.run_weather import OBSERVED
from records.verification import scores as verification_scores
from records.verification.lead_scores import BasinVerification

SKILL_WORDS = ((0.85, "Very good"), (0.7, "Good"), (0.5, "Fair"), (0.3, "Weak"), (-inf, "Poor"))
"""The lowest Nash-Sutcliffe efficiency of each word."""
SHORT_REASONS = {
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


def facts_of(shown: BasinFigures) -> list[Fact]:
    """Return the five facts of a forecast."""
    outlook, kind = shown.outlook, getattr(shown.forecast.calibration, "kind", "")
    return [threat(outlook), peak(outlook, kind), snow(outlook, shown.found.snow), season(outlook), skill(outlook)]


def threatening(session: Session, outlook: Outlook, units: Units) -> list[Fact]:
    """Return the threat and the next peak of an outlook, and what changed since the issue before."""
    answer = answer_of(session, outlook, units)
    calibration = None if outlook.forecast is None else outlook.forecast.basin.summary.calibration
    return [threat(answer), peak(answer, getattr(calibration, "kind", "")), change(answer)]


def start(forecast: BasinForecast) -> Fact:
    """Return the day that a forecast starts from, with its age where it is stale, and its version where not current."""
    late = f"{counted(forecast.age_days or 0, 'day')} behind the clock{STALE}" if forecast.stale else ""
    detail = " ".join(part for part in (late, forecast.version_note) if part)
    return Fact(title="T0", value=in_full(forecast.t0), detail=detail, section="forecast")


def threat(outlook: BasinOutlook) -> Fact:
    """Return the alert that stands, or the highest flood level that is likely or possibly passed, with its chance."""
    fact, threatened = partial(Fact, title="Threat", section="levels"), outlook.threat
    if threatened.alert is not None:
        return _alert(outlook, threatened.alert)
    if outlook.flow != "calibrated" and threatened.levels is not None:
        return fact(detail=NO_ESTIMATE)
    if threatened.levels is None:
        return fact(detail=NO_ESTIMATE if outlook.flow is None else outlook.missing["threat.levels"])
    floods = [one for one in threatened.levels if one.direction == "rising"]
    if not floods:
        return fact(detail="no flood level known here")
    if (shown := threatened.likely or threatened.possible) is not None:
        return fact(value=shown.title, detail=_chance_of(outlook, shown))
    lowest = min(floods, key=lambda one: one.discharge)
    return fact(value="No flood likely", detail=f"{lowest.title}: {_chance_of(outlook, lowest)}")


def _alert(outlook: BasinOutlook, alert: AlertNow) -> Fact:
    level = next((one for one in outlook.threat.levels or () if one.level == alert.level), None)
    detail = f"{percent(alert.chance)} by the forecast from T0 {in_full(alert.t0)}"
    if level is not None and outlook.flow == "calibrated":
        detail = _chance_of(outlook, level)
    states = ("ending" if alert.is_ending else "", "a change waits for approval" if alert.waits else "")
    detail = "; ".join(part for part in (detail, *states) if part) + (STALE if alert.stale else "")
    return Fact(title="Threat", value=alert.title, detail=detail, severity=alert.severity, section="levels")


def _chance_of(outlook: BasinOutlook, level: ThreatLevel) -> str:
    way = "above" if level.direction == "rising" else "below"
    flow = f"{number(level.discharge)} {UNITS[outlook.units['discharge']]}"
    return f"{percent(level.chance)} {way} {flow} in {counted(outlook.threat.window_days or 0, 'day')}"


def peak(outlook: BasinOutlook, calibration: str) -> Fact:
    """Return the next peak: its height and day with their ranges, or that flow falls."""
    fact, unit = partial(Fact, title="Next peak", section="hydrograph"), UNITS[outlook.units["discharge"]]
    days, ahead = outlook.days, outlook.peak
    if days is None:
        return fact(detail="no forecast of flow")
    is_calibrated = outlook.flow == "calibrated"
    if ahead is None:
        median = [flow for flow in days.quantiles["median"] if flow is not None]
        value = f"No peak, falling from {number(median[0])} to {number(median[-1])} {unit}"
        return fact(value=value, detail="" if is_calibrated else NO_ESTIMATE)
    value = f"{number(ahead.discharge)} {unit} on {on(ahead.day)}"
    if ahead.day == days.time[-1] and len(days.time) > 1:
        value = f"Rising to {number(ahead.discharge)} {unit} by {on(ahead.day)}"
    if not is_calibrated:
        return fact(value=value, detail=NO_ESTIMATE)
    range_of, when = RANGE_KINDS.get(calibration, "90 % range"), _days(ahead.day_p05, ahead.day_p95)
    detail = f"{range_of}: {number(ahead.p05)} to {number(ahead.p95)} {unit}, {when}"
    return fact(value=value, detail=f"{detail}; return period {ahead.rare}" if ahead.rare else detail)


def change(outlook: BasinOutlook) -> Fact:
    """Return by how much the peak and the chance of the level that threatens differ from the issue before."""
    fact, before, ahead = partial(Fact, title="Change", section="changes"), outlook.change, outlook.peak
    if before is None:
        return fact(detail="no forecast before to compare with")
    since = f"since T0 {on(before.t0)}"
    level = next((one for one in outlook.threat.levels or () if one.level == before.level), None)
    if level is not None and before.chance is not None and outlook.flow == "calibrated":
        since += f"; {level.title} {percent(before.chance)} then, {percent(level.chance)} now"
    if ahead is None or before.peak is None:
        expected = "none expected" if ahead is None and before.peak is None else "none now" if ahead is None else "new"
        return fact(value=f"Peak: {expected}", detail=since)
    moved = (ahead.day - before.peak.day).days
    later = f", {counted(abs(moved), 'day')} {'later' if moved > 0 else 'earlier'}" if moved else ""
    by, unit = ahead.discharge - before.peak.discharge, UNITS[outlook.units["discharge"]]
    way = f"{number(abs(by))} {unit} {'higher' if by > 0 else 'lower'}" if by else "as high"
    return fact(value=f"Peak {way}{later}", detail=since)


def snow(outlook: BasinOutlook, stored: RunSnow | Absent) -> Fact:
    """Return the snow of T0 in percent of normal, or what other estimates have where they differ."""
    fact, now = partial(Fact, title="Snow now", section="snow"), outlook.snow
    if now is None:
        return fact(detail=short(stored) if isinstance(stored, Absent) else "not known")
    detail = f"{depth(now.mean)}, members {number(now.p05, unit='mm')} to {depth(now.p95)}"
    if now.percent_of_normal is None and not now.uncertain:
        why_no_normal = "no normal computed yet" if now.normal is None else "normally hardly any"
        detail = "" if now.mean < MIN_MM else why_no_normal
    elif now.reference is not None:
        detail += f"; reference {depth(now.reference)}"
    return fact(value=f"{now.in_words[0].upper()}{now.in_words[1:]}", detail=detail)


def season(outlook: BasinOutlook) -> Fact:
    """Return the volume of the season in percent of normal; without one, that of the days ahead."""
    fact, volume = partial(Fact, title="Season's volume", section="volume"), outlook.season
    if volume is not None and volume.percent_of_normal is not None:
        of = dict(zip(volume.exceeded_percent, volume.percent_of_normal, strict=True))
        low, high = of[max(of)], of[min(of)]
        kind = f"{max(of) - min(of)} % range" if volume.calibrated else "not calibrated:"
        when = f"{on(volume.period.first_day)} to {on(volume.period.last_day)}"
        detail = f"{when}; {kind} {low:.0f} to {high:.0f} %"
        if volume.t0 != outlook.t0:
            detail += f"; from T0 {in_full(volume.t0)}"
        return fact(value=f"{of[50]:.0f} % of normal", detail=detail + (STALE if volume.stale else ""))
    days = outlook.days
    if days is None or days.percent_of_normal is None:
        return fact(detail="no seasonal run yet")
    ahead = counted(len(days.time), "day")
    return fact(detail=f"no seasonal run yet; next {ahead}: {days.percent_of_normal:.0f} % of normal")


def skill(outlook: BasinOutlook) -> Fact:
    """Return until which day forecasts of the month are skilful here.

    Without enough years of the month, until which day forecasts were reliable; of too few independent forecasts, why
    there is no word; without verification, a word for the simulation of held-out days.
    """
    fact, known = partial(Fact, title="Skill here", section="skill"), outlook.skill
    if known is not None and known.forecasts is not None:
        return _skill_of_forecasts(fact, outlook, known.forecasts)
    if known is None or known.nse is None or known.nse_period is None:
        return fact(detail="not evaluated on held-out days here yet")
    days = f"{known.nse_period.first_day} to {known.nse_period.last_day}"
    return fact(value=skill_word(known.nse), detail=f"NSE {known.nse:.2f} (1 is perfect) on held-out days, {days}")


def _skill_of_forecasts(fact: Callable[..., Fact], outlook: BasinOutlook, verified: ForecastSkill) -> Fact:
    if verified.skilful_to_day is None and verified.reliable_to_day is None:
        return fact(detail=outlook.missing["skill.forecasts.reliable_to_day"])
    skilful = verified.skilful_to_day
    better = f"{verified.better_percent:.0f} % better than climatology on day {verified.evidence_day}"
    known = ", with the weather known" if verified.weather == OBSERVED else ""
    issues = counted(verified.independent_issues or 0, "independent forecast")
    detail = f"{better}{known}; {issues}, {verified.period.first_day} to {verified.period.last_day}"
    if skilful is None:
        return fact(value=headline("Reliable", verified.reliable_to_day or 0), detail=detail)
    return fact(value=f"{headline('Skilful', skilful)} in {calendar.month_name[verified.month]}", detail=detail)


def headline(word: str, days: int) -> str:
    """Return until which day forecasts are skilful, or reliable."""
    return f"{word} to day {days}" if days else f"Not {word.lower()}"


def skill_word(nse: float) -> str:
    """Return a word for a Nash-Sutcliffe efficiency."""
    return next(word for lowest, word in SKILL_WORDS if nse >= lowest)


def short(reason: Absent) -> str:
    """Return a reason in few words."""
    return SHORT_REASONS.get(Reason[reason.code.upper()], "not known")


def _days(first: date, last: date) -> str:
    if first == last:
        return on(first)
    return f"{first.day} to {on(last)}" if first.month == last.month else f"{on(first)} to {on(last)}"


METRICS: Mapping[str, tuple[str, str, str]] = {
    "nse": ("NSE", "", "Share of the variance of flow that is explained; 1 is perfect, 0 no better than the mean."),
    "kge": ("KGE", "", "Agreement in timing, variability and mean; 1 is perfect."),
    "fhv": ("FHV", " %", "Error of the highest 2 % of flows; below 0: floods come out too low."),
    "flv": ("FLV", " %", "Shape of the lowest 30 % of flows, on a logarithmic scale; above 0: too flat."),
    "low_flow_bias": ("Low flow", " %", "Error of the lowest 30 % of flows; above 0: they come out too high."),
}
"""The scores of the page: name, unit and meaning."""
MIN_BASINS = 4
"""Minimum number of basins to state what is typical."""


@dataclass(frozen=True, slots=True)
class ShownScore:
    """A row of the scores; `of_draws` of the same days, or empty, and `typical` the middle half of all basins."""

    name: str
    meaning: str
    days: int
    period: str
    shipped: bool
    shown: str
    of_draws: str
    typical: str


def shown_scores(session: Session, skill: BasinSkill) -> list[ShownScore]:
    """Return the scores over held-out days."""
    known = verification_scores.held_out_scores(session, [skill.scored], list(METRICS))
    drawn = verification_scores.held_out_scores(
        session, [skill.scored], list(METRICS), [skill.basin], verification_scores.DRAWS
    )
    of_basins = {metric: [one.value for (_, _, name), one in known.items() if name == metric] for metric in METRICS}
    rows = []
    for metric, (name, unit, meaning) in METRICS.items():
        key = (skill.scored, skill.basin, metric)
        if (score := known.get(key)) is None:
            continue
        draws = drawn.get(key)
        rows.append(
            ShownScore(
                name=name,
                meaning=meaning,
                days=score.n,
                period=str(score.period),
                shipped=score.shipped,
                shown=_written(score.value, unit),
                of_draws="" if draws is None or draws.period != score.period else _written(draws.value, unit),
                typical=_middle_half(of_basins[metric], unit),
            )
        )
    return rows


def _middle_half(values: Sequence[float], unit: str) -> str:
    if len(values) < MIN_BASINS:
        return ""
    low, high = np.quantile(values, (0.25, 0.75)).tolist()
    return f"{_written(low, unit)} to {_written(high, unit)}"


def _written(value: float, unit: str) -> str:
    return f"{value:+.0f}{unit}" if unit else f"{value:.2f}"


def verified_rows(verified: Sequence[BasinVerification] | Absent, outlook: BasinOutlook) -> list[BasinVerification]:
    """Return the verification behind the outlook's skill, by lead."""
    shown = None if outlook.skill is None else outlook.skill.forecasts
    if isinstance(verified, Absent) or shown is None:
        return []
    days = day(shown.period.first_day), day(shown.period.last_day)
    of_outlook = shown.version, shown.origin, shown.weather, *days, "calibrated"
    rows = [
        row
        for row in verified
        if (row.version_id, row.origin, row.weather, row.first_day, row.last_day, row.forecaster) == of_outlook
        and row.scores.crpss_climatology is not None
    ]
    return sorted(rows, key=lambda row: row.lead)


def by_months(rows: Sequence[BasinVerification]) -> list[tuple[str, str, int]]:
    """Return the months with a headline of their skill, the headline, and its number of independent forecasts."""
    found = ((month, skilful_days(by_month(rows, month))) for month in range(1, 13))
    return [
        (calendar.month_name[month], headline("Skilful", days.days), days.independent_issues)
        for month, days in found
        if not isinstance(days, Absent)
    ]
