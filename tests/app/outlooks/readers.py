"""What every reader shows of an outlook: one line for each number of each reader.

A reader returns the text or number that it shows; beside it stands how the outlook's number is written there. A reader
that computes its own number differs, with an adjustment or without an error model at the latest.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any

from starlette.testclient import TestClient

from app.forecasts.words import number, on
from tests.app.pages.page_text import facts_of, text_of

UNIT = "m³/s"


@dataclass(frozen=True)
class Shown:
    """The outlook of a basin, and the answers of the readers."""

    client: TestClient
    basin: str

    @cached_property
    def outlook(self) -> Any:
        return self._json(f"/v1/basins/{self.basin}/outlook")

    @cached_property
    def listed(self) -> Mapping[str, Any]:
        """The outlook among those of all basins."""
        outlooks = self._json("/v1/outlooks")["outlooks"]
        return next(one for one in outlooks if one["basin"] == self.basin)

    @cached_property
    def forecast(self) -> Any:
        return self._json(f"/v1/basins/{self.basin}/forecasts/latest")

    @cached_property
    def exceedance(self) -> Any:
        return self._json(f"/v1/basins/{self.basin}/exceedance")

    @cached_property
    def adjusted(self) -> Mapping[str, Any] | None:
        run = self.outlook["run"]
        answer = self.client.get(f"/v1/runs/{run}/basins/{self.basin}/adjusted")
        return answer.json() if answer.status_code == 200 else None

    @cached_property
    def row(self) -> Mapping[str, str]:
        """The basin's row of the list of basins in CSV."""
        table = csv.DictReader(io.StringIO(self.client.get("/v1/basins?format=csv").text))
        rows = ({name.partition(" ")[0]: value for name, value in row.items()} for row in table)  # without units
        return next(row for row in rows if row["basin"] == self.basin)

    @cached_property
    def point(self) -> Mapping[str, Any]:
        """The basin's point of the list of basins in GeoJSON."""
        features = self._json("/v1/basins?format=geojson")["features"]
        return next(one["properties"] for one in features if one["id"] == self.basin)

    @cached_property
    def facts(self) -> Mapping[str, str]:
        return facts_of(self.page)

    @cached_property
    def page(self) -> str:
        return self.client.get(f"/basins/{self.basin}").text

    @cached_property
    def sentence(self) -> str:
        """The sentence of the basin's page."""
        (found,) = re.findall(r'<p class="lead">(.*?)</p>', self.page, re.S)
        return text_of(found)

    @cached_property
    def first_page(self) -> str:
        """The basin's row of the first page."""
        rows = self.client.get("/").text.split("<tr>")
        return text_of(next(row for row in rows if f'value="{self.basin}"' in row))

    def _json(self, path: str) -> Any:
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


def _peak(field: str) -> Callable[[Mapping[str, Any]], Any]:
    return lambda outlook: outlook["peak"] and outlook["peak"][field]


def _written_peak(outlook: Mapping[str, Any]) -> str | None:
    peak = outlook["peak"]
    return peak and f"{number(peak['discharge'])} {on(date.fromisoformat(peak['day']))}"


def _card_of_peak(outlook: Mapping[str, Any]) -> str | None:
    peak, days = outlook["peak"], outlook["days"]
    if peak is None:
        return "None, falling from"
    way = f"{number(peak['discharge'])} {UNIT} on {on(date.fromisoformat(peak['day']))}"
    if peak["day"] == days["time"][-1]:
        return f"Rising to {number(peak['discharge'])} {UNIT} by"
    return way


def _range_of_peak(outlook: Mapping[str, Any]) -> str | None:
    peak = outlook["peak"]
    if peak is None or outlook["flow"] == "members":
        return None
    return f"{number(peak['p05'])} to {number(peak['p95'])} {UNIT}"


def _sentence_of_peak(outlook: Mapping[str, Any]) -> str | None:
    peak = outlook["peak"]
    return peak and f"the highest is {number(peak['discharge'])} on {on(date.fromisoformat(peak['day']))}"


def _sentence_of_median(outlook: Mapping[str, Any]) -> str:
    days = outlook["days"]
    known = [
        (day, flow) for day, flow in zip(days["time"], days["quantiles"]["median"], strict=True) if flow is not None
    ]
    return f"{number(known[0][1])} {UNIT} is expected on {on(date.fromisoformat(known[0][0]))}"


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


def _issued_peak(field: str) -> Callable[[Mapping[str, Any]], Any]:
    """The peak as issued, which only an outlook without an adjustment has."""
    return lambda outlook: (
        outlook["peak"] and outlook["peak"][field]
        if outlook["adjustment"] is None and outlook["flow"] == "calibrated"
        else None
    )


READERS = (
    Reader("list of outlooks", lambda of: of.listed, lambda outlook: outlook),
    Reader("basins in CSV: peak", lambda of: of.row["peak"], _peak("discharge")),
    Reader("basins in CSV: day of the peak", lambda of: of.row["peak_day"], _peak("day")),
    Reader("basins in GeoJSON: peak", lambda of: of.point["peak"], _peak("discharge")),
    Reader("basins in GeoJSON: day of the peak", lambda of: of.point["peak_day"], _peak("day")),
    Reader("first page: peak", lambda of: of.first_page, _written_peak, is_within=True),
    Reader("first page: likeliest level", lambda of: of.first_page, _likeliest, is_within=True),
    Reader("basin's page: peak", lambda of: of.facts["Next peak"], _card_of_peak, is_within=True),
    Reader("basin's page: range of the peak", lambda of: of.facts["Next peak"], _range_of_peak, is_within=True),
    Reader("basin's page: threat", lambda of: of.facts["Threat"], _card_of_threat, is_within=True),
    Reader("sentence: peak", lambda of: of.sentence, _sentence_of_peak, is_within=True),
    Reader("sentence: median", lambda of: of.sentence, _sentence_of_median, is_within=True),
    Reader("exceedance: peak", lambda of: (of.exceedance["peak"] or {}).get("median"), _issued_peak("discharge")),
    Reader("exceedance: day", lambda of: (of.exceedance["peak"] or {}).get("day_median"), _issued_peak("day")),
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
        lambda of: of.adjusted and [one["adjusted"] for one in of.adjusted["levels"]],
        lambda outlook: (
            [one["chance"] for one in sorted(outlook["threat"]["levels"], key=lambda one: str(one["level"]))]
            if outlook["adjustment"]
            else None
        ),
    ),
)
"""To add a reader, add its line."""
