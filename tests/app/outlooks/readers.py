"""What every reader shows of an outlook: one line for each number of each reader.

A reader returns the text or number that it shows; beside it stands how the outlook's number is written there. A reader
that computes its own number differs, with an adjustment or without an error model at the latest.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, Literal

from rich.console import Console
from starlette.testclient import TestClient

from app.forecasts.discharge import level_name
from app.forecasts.words import number, on
from extensions.plot.content import content
from freshet.commands.forecasts import run_text
from hydrology.base.basins import gauge_product
from hydrology.base.unit_systems import UnitSystem
from hydrology.base.units import Units
from hydrology.extremes.level_checks import percent
from hydrology.extremes.return_periods import ReturnPeriod
from hydrology.outlook import LEVELS
from records.alerts import alert_changes
from records.alerts.alert_changes import headline
from records.database.engine import Database
from records.runs import runs
from tests.app.pages.page_text import facts_of, text_of


@dataclass(frozen=True)
class Shown:
    """The outlook of a basin, and the answers of the readers; pages, and the outlook, in the chosen units."""

    client: TestClient
    database: Database
    basin: str
    units: Units = "m3/s"

    @cached_property
    def outlook(self) -> Any:
        return self.json(f"/v1/basins/{self.basin}/outlook?units={self.units}")

    @cached_property
    def listed(self) -> Mapping[str, Any]:
        """The outlook among those of all basins."""
        outlooks = self.json("/v1/outlooks")["outlooks"]
        return next(one for one in outlooks if one["basin"] == self.basin)

    @cached_property
    def forecast(self) -> Any:
        return self.json(f"/v1/basins/{self.basin}/forecasts/latest")

    @cached_property
    def exceedance(self) -> Any:
        return self.json(f"/v1/basins/{self.basin}/exceedance")

    @cached_property
    def adjusted(self) -> Mapping[str, Any] | None:
        run = self.outlook["run"]
        answer = self.client.get(f"/v1/runs/{run}/basins/{self.basin}/adjusted")
        return answer.json() if answer.status_code == 200 else None

    @cached_property
    def table(self) -> list[Mapping[str, str]]:
        """The forecast in CSV, a row for each day."""
        text = self.client.get(f"/v1/forecasts?basins={self.basin}&format=csv").text
        table = csv.DictReader(io.StringIO(text))
        return [{name.partition(" ")[0]: value for name, value in row.items()} for row in table]

    @cached_property
    def coverage(self) -> Mapping[str, Any]:
        """The forecast by EDR, as a coverage."""
        answer = self.json(f"/v1/edr/collections/forecasts/locations/{self.basin}")
        coverage: Mapping[str, Any] = answer["coverages"][0] if "coverages" in answer else answer
        return coverage

    @cached_property
    def storage(self) -> Any:
        return self.json(f"/v1/basins/{self.basin}/storage")

    @cached_property
    def alerts(self) -> Any:
        return self.json(f"/v1/basins/{self.basin}/alerts")

    @cached_property
    def drawing(self) -> Any:
        """The data of the hydrograph."""
        (found, *_) = re.findall(r'<script type="application/json">(.*?)</script>', self.page, re.S)
        return json.loads(found)

    @cached_property
    def command(self) -> str:
        """What `freshet runs show` prints of the run."""
        console = Console(width=400, file=io.StringIO())
        with self.database.reading() as session, console.capture() as shown:
            for part in run_text(session, self.outlook["run"], self.outlook["units"]["discharge"]):
                console.print(part)
        return shown.get()

    @cached_property
    def newest_change(self) -> str:
        """The headline of the newest change of an alert, which mails, feeds and CAP send."""
        with self.database.reading() as session:
            changes = alert_changes.page(session, basins=[self.basin], in_feeds=True)
        return headline(changes[0], "river") if changes else ""

    @cached_property
    def plume(self) -> Any:
        """The content of `freshet plot`."""
        with self.database.reading() as session:
            run, of_basin = (
                runs.get(session, self.outlook["run"]),
                runs.basin_of(session, self.outlook["run"], self.basin),
            )
            return content(session, run, of_basin, 3, run.t0)

    def on_days(self, days: Sequence[str], values: Sequence[Any]) -> list[Any]:
        """Return values on the days of the outlook."""
        of_day = dict(zip(days, values, strict=True))
        return [of_day[day] for day in self.outlook["days"]["time"]]

    @cached_property
    def row(self) -> Mapping[str, str]:
        """The basin's row of the list of basins in CSV."""
        table = csv.DictReader(io.StringIO(self.client.get("/v1/basins?format=csv").text))
        rows = ({name.partition(" ")[0]: value for name, value in row.items()} for row in table)  # without units
        return next(row for row in rows if row["basin"] == self.basin)

    @cached_property
    def point(self) -> Mapping[str, Any]:
        """The basin's point of the list of basins in GeoJSON."""
        features = self.json("/v1/basins?format=geojson")["features"]
        return next(one["properties"] for one in features if one["id"] == self.basin)

    @cached_property
    def facts(self) -> Mapping[str, str]:
        return facts_of(self.page)

    @cached_property
    def page(self) -> str:
        return self.client.get(f"/basins/{self.basin}?units={self.units}").text

    @cached_property
    def sentence(self) -> str:
        """The forecast in words of the basin's page."""
        (found,) = re.findall(r'<p class="words">(.*?)</p>', self.page, re.S)
        return text_of(found)

    @cached_property
    def lead(self) -> str:
        """The first sentence of the basin's page."""
        (found,) = re.findall(r'<p class="lead">(.*?)</p>', self.page, re.S)
        return text_of(found)

    @cached_property
    def first_page(self) -> str:
        """The basin's row of the first page."""
        rows = self.client.get(f"/?units={self.units}").text.split("<tr>")
        return text_of(next(row for row in rows if f'value="{self.basin}"' in row))

    def json(self, path: str) -> Any:
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()


@dataclass(frozen=True)
class Reader:
    """A number that a reader shows.

    Attributes:
        shown: what it shows.
        expected: what it has to show of the outlook; None where it shows nothing in this case.
        is_within: whether that stands in a longer text.
    """

    name: str
    shown: Callable[[Shown], Any]
    expected: Callable[[Mapping[str, Any]], Any]
    is_within: bool = False

    def faults(self, of: Shown) -> Iterator[str]:
        """Yield how it contradicts the outlook."""
        expected = self.expected(of.outlook)
        if expected is None:
            return
        shown = self.shown(of)
        if (expected not in shown) if self.is_within else not _alike(shown, expected):
            yield f"{self.name}: {expected!r} by the outlook, {shown!r} shown"


def _alike(shown: Any, expected: Any) -> bool:
    if isinstance(expected, list):
        return len(shown) == len(expected) and all(map(_alike, shown, expected))
    if isinstance(expected, float):
        return shown not in (None, "") and abs(float(shown) - expected) <= 1e-6 * abs(expected)
    return bool((shown or None) == expected)


def _units(outlook: Mapping[str, Any]) -> UnitSystem:
    return UnitSystem(outlook["units"]["discharge"])


def _peak(field: str) -> Callable[[Mapping[str, Any]], Any]:
    return lambda outlook: outlook["peak"] and outlook["peak"][field]


def _written_peak(outlook: Mapping[str, Any]) -> str | None:
    peak = outlook["peak"]
    return peak and f"{number(peak['discharge'])} {on(date.fromisoformat(peak['day']))}"


def _return_period(outlook: Mapping[str, Any]) -> str | None:
    peak = outlook["peak"]
    if peak is None or peak["return_period_years"] is None or peak["return_period_bound"] == "less":
        return None
    return ReturnPeriod(peak["return_period_years"], peak["return_period_bound"]).in_words


def _return_period_of_range(outlook: Mapping[str, Any]) -> str | None:
    return _return_period(outlook) if outlook["flow"] == "calibrated" else None


def _decided_period(outlook: Mapping[str, Any]) -> Any:
    return _decided(outlook) and outlook["peak"] and outlook["peak"]["return_period_years"]


def _period_of_alert(of: Shown) -> Any:
    return next(one["peak_return_period_years"] for one in of.alerts["levels"] if one["run"] == of.outlook["run"])


def _card_of_peak(outlook: Mapping[str, Any]) -> str | None:
    peak, days = outlook["peak"], outlook["days"]
    if peak is None:
        return "No peak, falling from"
    way = f"{number(peak['discharge'])} {_units(outlook).flow} on {on(date.fromisoformat(peak['day']))}"
    if peak["day"] == days["time"][-1]:
        return f"Rising to {number(peak['discharge'])} {_units(outlook).flow} by"
    return way


def _range_of_peak(outlook: Mapping[str, Any]) -> str | None:
    peak = outlook["peak"]
    if peak is None or outlook["flow"] == "members":
        return None
    return f"{number(peak['p05'])} to {number(peak['p95'])} {_units(outlook).flow}"


def _sentence_of_peak(outlook: Mapping[str, Any]) -> str | None:
    peak = outlook["peak"]
    return peak and f"the highest is {number(peak['discharge'])} on {on(date.fromisoformat(peak['day']))}"


def _lead_of_peak(outlook: Mapping[str, Any]) -> str | None:
    peak, unit = outlook["peak"], _units(outlook).flow
    day = peak and on(date.fromisoformat(peak["day"]))
    is_or_was = "was" if outlook["freshness"]["state"] == "stale" else "is"
    return peak and f"a peak of {number(peak['discharge'])} {unit} {is_or_was} expected on {day}"


def _sentence_of_median(outlook: Mapping[str, Any]) -> str:
    days = outlook["days"]
    known = [
        (day, flow) for day, flow in zip(days["time"], days["quantiles"]["median"], strict=True) if flow is not None
    ]
    return f"{number(known[0][1])} {_units(outlook).flow} is expected on {on(date.fromisoformat(known[0][0]))}"


def _card_of_threat(outlook: Mapping[str, Any]) -> str | None:
    threat = outlook["threat"]
    level = threat["likely"] or threat["possible"]
    if outlook["flow"] == "members" or level is None or threat["alert"] is not None:
        return None
    return str(level["title"])


def _likeliest(outlook: Mapping[str, Any]) -> str | None:
    rising = [one for one in outlook["threat"]["levels"] or () if one["direction"] == "rising"]
    if outlook["flow"] == "members" or not rising:
        return None
    return str(max(rising, key=lambda one: (one["chance"], -one["discharge"]))["title"])


def _issued(outlook: Mapping[str, Any]) -> Any:
    days = outlook["days"]
    return days["issued"] or days["quantiles"]


def _calibrated_peak(field: str) -> Callable[[Mapping[str, Any]], Any]:
    return lambda outlook: outlook["peak"] and outlook["peak"][field] if outlook["flow"] == "calibrated" else None


def _quantiles(level: str) -> Callable[[Mapping[str, Any]], Any]:
    return lambda outlook: outlook["days"] and outlook["days"]["quantiles"][level]


def _of_answer(level: str) -> Callable[[Shown], Any]:
    return lambda of: of.on_days(of.forecast["time"], of.forecast["published"][level])


def _of_table(level: str) -> Callable[[Shown], Any]:
    return lambda of: [
        float(text) if text else None
        for text in of.on_days([row["time"] for row in of.table], [row[f"published_{level}"] for row in of.table])
    ]


def _of_coverage(level: str) -> Callable[[Shown], Any]:
    def values(of: Shown) -> Any:
        days = [instant[:10] for instant in of.coverage["domain"]["axes"]["t"]["values"]]
        return of.on_days(days, of.coverage["ranges"][f"published_{level}"]["values"])

    return values


def _curve(label: str) -> Callable[[Shown], Any]:
    def values(of: Shown) -> Any:
        curves = {one["label"]: one["values"] for one in of.drawing["curves"]}
        return of.on_days(of.drawing["time"], curves.get(label) or curves["median"])

    return values


def _drawn_peak(outlook: Mapping[str, Any]) -> Any:
    peak = outlook["peak"]
    if peak is None or outlook["flow"] == "members":
        return None
    return [peak["discharge"], peak["p05"], peak["p95"], peak["day"], peak["day_p05"], peak["day_p95"]]


def _printed_peak(outlook: Mapping[str, Any]) -> str | None:
    peak = outlook["peak"]
    return peak and f"{peak['discharge']:.3g} ({peak['p05']:.3g} to {peak['p95']:.3g})"


def _plotted(outlook: Mapping[str, Any]) -> Any:
    days = outlook["days"]
    return [value for value in days["quantiles"]["median"] if value is not None]


def _covers_all_days(outlook: Mapping[str, Any]) -> bool:
    return bool(outlook["threat"]["window_days"] == len(outlook["days"]["time"]))


def _chances(outlook: Mapping[str, Any]) -> Any:
    if outlook["flow"] == "members" or not _covers_all_days(outlook):
        return None
    return _by_level(outlook["threat"]["levels"], "level", "chance")


def _by_level(levels: Iterable[Mapping[str, Any]], name: str, field: str) -> list[Any]:
    return [one[field] for one in sorted(levels, key=lambda one: str(one[name]))]


def _page_of_chance(outlook: Mapping[str, Any]) -> str | None:
    levels = outlook["threat"]["levels"]
    if outlook["flow"] == "members" or not levels:
        return None
    highest = max(levels, key=lambda one: (one["chance"], -one["discharge"]))
    return f"{highest['title']} {highest['level'] if highest['level'] != highest['title'] else ''}".strip()


def _decided(outlook: Mapping[str, Any]) -> Any:
    """Return the chance of the alert's level, where the run has decided it."""
    alert = outlook["threat"]["alert"]
    if alert is None or alert["run"] != outlook["run"] or outlook["flow"] == "members":
        return None
    return next(one["chance"] for one in outlook["threat"]["levels"] if one["level"] == alert["level"])


def _headline(outlook: Mapping[str, Any]) -> str | None:
    decided = _decided(outlook)
    return decided and f"chance {percent(decided)}"


def _snow_field(field: str) -> Callable[[Mapping[str, Any]], Any]:
    return lambda outlook: outlook["snow"] and outlook["snow"][field]


def _card_of_snow(outlook: Mapping[str, Any]) -> str | None:
    snow = outlook["snow"]
    return snow and _units(outlook).sentence(f"{snow['in_words'][0].upper()}{snow['in_words'][1:]}")


def _sentence_of_snow(outlook: Mapping[str, Any]) -> str | None:
    snow = outlook["snow"]
    return snow and (
        _units(outlook).sentence(
            f"{number(snow['mean'], unit='mm')} mm reads as snow (5 to 95 % of the members: "
            f"{number(snow['p05'], unit='mm')} to {number(snow['p95'], unit='mm')} mm)"
        )
    )


def _snow_of(field: str, answer: Literal["forecast", "storage"]) -> Callable[[Shown], Any]:
    if answer == "storage":
        return lambda of: of.storage["snow_read"]["at_t0"][field]
    return lambda of: of.forecast["storage"]["snow_read"]["at_t0"][field]


def _names(of: Shown) -> set[str]:
    return {one["level"] for one in of.outlook["threat"]["levels"]}


def _card_of_skill(outlook: Mapping[str, Any]) -> str | None:
    forecasts = outlook["skill"] and outlook["skill"]["forecasts"]
    if forecasts is None or forecasts["skilful_to_day"] is None:
        return None
    days = forecasts["skilful_to_day"]
    return f"Skilful to day {days} in" if days else "Not skilful in"


def _season(outlook: Mapping[str, Any]) -> str | None:
    season = outlook["season"]
    if season is None or season["percent_of_normal"] is None:
        return None
    return f"{dict(zip(season['exceeded_percent'], season['percent_of_normal'], strict=True))[50]:.0f} % of normal"


def _days_to_come(outlook: Mapping[str, Any]) -> str | None:
    percent_of_normal = outlook["days"]["percent_of_normal"]
    if _season(outlook) is not None or percent_of_normal is None:
        return None
    return f"next {len(outlook['days']['time'])} days: {percent_of_normal:.0f} % of normal"


def _observed(of: Shown) -> Any:
    now = of.outlook["now"]["day"]
    query = f"product={gauge_product(of.basin)}&variable=discharge&start={now}&end={now}"
    return of.json(f"/v1/basins/{of.basin}/observations?{query}")["values"]["discharge"][0]


def _is_stale(outlook: Mapping[str, Any]) -> bool | None:
    return outlook["freshness"]["state"] == "stale" or None


QUANTILES = tuple(level_name(level) for level in LEVELS)
READERS = (
    *(Reader(f"forecast: {name}", _of_answer(name), _quantiles(name)) for name in QUANTILES),
    *(Reader(f"forecast in CSV: {name}", _of_table(name), _quantiles(name)) for name in QUANTILES),
    *(Reader(f"forecast by EDR: {name}", _of_coverage(name), _quantiles(name)) for name in QUANTILES),
    Reader("plot data: median", _curve("as adjusted"), _quantiles("median")),
    Reader(
        "plot data: peak",
        lambda of: [of.drawing["peak"][name] for name in ("discharge", "p05", "p95", "day", "day_p05", "day_p95")],
        _drawn_peak,
    ),
    Reader("printed run: peak", lambda of: of.command, _printed_peak, is_within=True),
    Reader(
        "plot of the command: median",
        lambda of: [value for value in of.plume.quantiles[0.5].tolist() if value == value],
        _plotted,
    ),
    Reader(
        "exceedance: chances",
        lambda of: _by_level([one for one in of.exceedance["levels"] if one["name"] in _names(of)], "name", "within"),
        _chances,
    ),
    Reader("page: levels", lambda of: text_of(of.page), _page_of_chance, is_within=True),
    Reader("alert that stands: chance", lambda of: of.outlook["threat"]["alert"]["chance"], _decided),
    Reader("mail, feed and CAP: chance", lambda of: of.newest_change, _headline, is_within=True),
    *(
        Reader(f"forecast: snow, {name}", _snow_of(name, "forecast"), _snow_field(name))
        for name in ("mean", "p05", "p95", "normal", "percent_of_normal", "in_words")
    ),
    *(
        Reader(f"storage: snow, {name}", _snow_of(name, "storage"), _snow_field(name))
        for name in ("mean", "p05", "p95", "normal", "percent_of_normal", "in_words")
    ),
    Reader("basin's page: snow", lambda of: of.facts["Snow now"], _card_of_snow, is_within=True),
    Reader("sentence: snow", lambda of: of.sentence, _sentence_of_snow, is_within=True),
    Reader("basin's page: skill", lambda of: of.facts["Skill here"], _card_of_skill, is_within=True),
    Reader("basin's page: days to come", lambda of: of.facts["Season's volume"], _days_to_come, is_within=True),
    Reader("observations: last flow", _observed, lambda outlook: outlook["now"] and outlook["now"]["discharge"]),
    Reader(
        "forecast: snow, skill",
        lambda of: of.forecast["storage"]["snow_read"]["skill"]["r"],
        _snow_field("correlation"),
    ),
    Reader(
        "forecast: snow, reference",
        lambda of: of.forecast["storage"]["snow_read"]["at_t0"]["reference"]["mm"],
        _snow_field("reference"),
    ),
    Reader("basin's page: season", lambda of: of.facts["Season's volume"], _season, is_within=True),
    Reader("forecast: stale", lambda of: of.forecast["stale"] or None, _is_stale),
    Reader("list of outlooks", lambda of: of.listed, lambda outlook: outlook),
    Reader("basins in CSV: peak", lambda of: of.row["peak"], _peak("discharge")),
    Reader("basins in CSV: day of the peak", lambda of: of.row["peak_day"], _peak("day")),
    Reader("basins in GeoJSON: peak", lambda of: of.point["peak"], _peak("discharge")),
    Reader("basins in GeoJSON: day of the peak", lambda of: of.point["peak_day"], _peak("day")),
    *(
        Reader(f"{name}: return period of the peak", shown, expected, is_within)
        for name, shown, expected, is_within in (
            ("basins in CSV", lambda of: of.row["peak_return_period_years"], _peak("return_period_years"), False),
            ("basins in GeoJSON", lambda of: of.point["peak_return_period_years"], _peak("return_period_years"), False),
            ("forecast", lambda of: of.forecast["peak"]["return_period_years"], _peak("return_period_years"), False),
            (
                "exceedance",
                lambda of: of.exceedance["peak"]["return_period_years"],
                _calibrated_peak("return_period_years"),
                False,
            ),
            ("alerts", _period_of_alert, _decided_period, False),
            ("first page", lambda of: of.first_page, _return_period, True),
            ("basin's page", lambda of: of.facts["Next peak"], _return_period_of_range, True),
            ("page", lambda of: of.lead, _return_period, True),
            ("sentence", lambda of: of.sentence, _return_period, True),
            ("printed run", lambda of: of.command, _return_period, True),
        )
    ),
    Reader("first page: peak", lambda of: of.first_page, _written_peak, is_within=True),
    Reader("first page: likeliest level", lambda of: of.first_page, _likeliest, is_within=True),
    Reader("basin's page: peak", lambda of: of.facts["Next peak"], _card_of_peak, is_within=True),
    Reader("basin's page: range of the peak", lambda of: of.facts["Next peak"], _range_of_peak, is_within=True),
    Reader("basin's page: threat", lambda of: of.facts["Threat"], _card_of_threat, is_within=True),
    Reader("page: peak of its first sentence", lambda of: of.lead, _lead_of_peak, is_within=True),
    Reader("sentence: peak", lambda of: of.sentence, _sentence_of_peak, is_within=True),
    Reader("sentence: median", lambda of: of.sentence, _sentence_of_median, is_within=True),
    Reader("exceedance: peak", lambda of: (of.exceedance["peak"] or {}).get("median"), _calibrated_peak("discharge")),
    Reader("exceedance: day", lambda of: (of.exceedance["peak"] or {}).get("day_median"), _calibrated_peak("day")),
    Reader(
        "forecast: median as issued",
        lambda of: (of.forecast["calibrated"] or of.forecast["discharge"])["median"],
        lambda outlook: _issued(outlook)["median"],
    ),
    Reader(
        "adjusted forecast: median",
        lambda of: of.adjusted and of.adjusted["adjusted"]["median"],
        lambda outlook: outlook["days"]["quantiles"]["median"] if outlook["adjustment"] else None,
    ),
    Reader(
        "adjusted forecast: chances",
        lambda of: of.adjusted and _by_level(of.adjusted["levels"], "level", "adjusted"),
        lambda outlook: (
            _by_level(outlook["threat"]["levels"], "level", "chance")
            if outlook["adjustment"] and outlook["flow"] == "calibrated"
            else None
        ),
    ),
)
"""To add a reader, add its line."""
OF_PAGES = tuple(one for one in READERS if re.match("basin's page|first page|page|sentence|plot data", one.name))


class _Watched(dict[str, Any]):
    """An outlook, or a part of one, that notes which of its fields are read."""

    def __init__(self, part: Mapping[str, Any], path: str, read: set[str]) -> None:
        super().__init__({name: _watched(value, f"{path}{name}", read) for name, value in part.items()})
        self.path, self.read = path, read

    def __getitem__(self, name: str) -> Any:
        self.read.add(f"{self.path}{name}")
        return super().__getitem__(name)


def _watched(value: Any, path: str, read: set[str]) -> Any:
    if isinstance(value, dict):
        return _Watched(value, f"{path}.", read)
    if isinstance(value, list):
        return [_watched(one, path, read) for one in value]
    return value


def compared_fields(outlook: Mapping[str, Any]) -> set[str]:
    """Return the fields of an outlook that readers are compared with, by path."""
    read: set[str] = set()
    for reader in READERS:
        reader.expected(_Watched(outlook, "", read))
    return read


def number_fields(value: Any, path: str = "") -> set[str]:
    """Return the fields of an answer that hold numbers, by path."""
    if isinstance(value, dict):
        return {
            found for name, one in value.items() for found in number_fields(one, f"{path}.{name}" if path else name)
        }
    if isinstance(value, list):
        return {found for one in value for found in number_fields(one, path)}
    return {path} if isinstance(value, int | float) and not isinstance(value, bool) else set()
