"""Daily mean discharge from the older NWIS service of USGS, while it lasts: JSON or RDB."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hydrology.base.basins import source_code
from hydrology.base.errors import excerpt
from ingestion.feeds.base import FeedProblem, FetchedBasinData, FetchWindow, Observations, Site
from ingestion.feeds.flow import PARAMETER, STATISTIC, FlowRow, discharge, flow_row
from ingestion.feeds.http import Broken, Service, parsed
from ingestion.feeds.usgs import CREDIT
from ingestion.feeds.usgs_sites import NAMESPACE, by_request, how_to_choose
from ingestion.json_numbers import NotANumber

Form = Literal["json", "rdb"]
UNIT = "ft3/s"
_NO_DATA = -999_999.0


@dataclass(frozen=True, slots=True)
class _Series:
    """A gauge's values by one method."""

    method: str
    unit: str
    rows: tuple[FlowRow, ...]

    def __str__(self) -> str:
        days = [row.day for row in self.rows]
        return f"{excerpt(self.method)[:64]} ({min(days)} to {max(days)})"


@dataclass(frozen=True, slots=True)
class _Answer:
    """What the service answers about some gauges.

    Attributes:
        held: the series of each gauge.
        refused: why a gauge's values cannot be used, which leaves the others usable.
    """

    held: Mapping[str, Sequence[_Series]]
    refused: Mapping[str, FeedProblem]

    def of(self, basin: str) -> Sequence[_Series]:
        """Return the series of a gauge.

        Raises:
            FeedProblem: one of its values is not a number.
        """
        if problem := self.refused.get(basin):
            raise problem
        return self.held.get(basin, [])


class NwisFeed:
    """Discharge of USGS gauges from the older service. It provides neither time zones nor revisions.

    Args:
        service: at `…/nwis/dv/`.
        form: the format to request.
        series: the method (`methodID`, or the number of the RDB column) to use, by basin, where a gauge has several.
    """

    credit = CREDIT

    def __init__(self, service: Service, form: Form = "json", series: Mapping[str, str] | None = None) -> None:
        self._service, self._form, self._named = service, form, series or {}

    def fetch(self, sites: Sequence[Site], wanted: FetchWindow) -> Iterator[FetchedBasinData]:
        """Yield the discharge of gauges for the requested days. An unknown gauge looks like one without data."""
        params = {"format": self._form, "parameterCd": PARAMETER, "statCd": STATISTIC}
        params |= {"startDT": str(wanted.days.first), "endDT": str(wanted.days.last)}
        parse = _of_json if self._form == "json" else _of_rdb

        def ask(part: Sequence[Site]) -> _Answer:
            codes = ",".join(source_code(site.basin) for site in part)
            return self._service.read(parse, "", params | {"sites": codes})

        return by_request(sites, ask, lambda site, answer: self._content(site, wanted, answer.of(site.basin)))

    def _content(self, site: Site, wanted: FetchWindow, held: Sequence[_Series]) -> Observations:
        with_rows = [series for series in held if series.rows]
        chosen = [series for series in with_rows if series.method == self._named.get(site.basin, series.method)]
        if len(chosen) > 1 or (with_rows and not chosen):
            ids = [series.method for series in with_rows]
            cause = f"{len(ids)} series in these days" if chosen else f"no series {excerpt(self._named[site.basin])}"
            raise FeedProblem(f"{site.basin} has {cause}. {how_to_choose(site.basin, ids, with_rows)}")
        origin = f"{self._service.base} {site.basin}"
        if not chosen:
            return Observations({}, origin)
        (series,) = chosen
        if series.unit != UNIT:
            raise FeedProblem(f"The discharge of {site.basin} is not in {UNIT}: nothing of the basin was taken.")
        daily = discharge(series.rows, wanted.last_of(site))
        return Observations({} if daily is None else {"discharge": daily}, f"{origin} series {series.method}")


def _of_json(body: bytes) -> _Answer:
    """Parse a JSON answer into series by basin.

    Raises:
        Broken: it is not the JSON of this service.
    """
    held: dict[str, list[_Series]] = defaultdict(list)
    refused: dict[str, FeedProblem] = {}
    try:
        for series in parsed(body)["value"]["timeSeries"]:
            variable = series["variable"]
            statistics = {option.get("optionCode") for option in variable["options"]["option"]}
            if variable["variableCode"][0]["value"] != PARAMETER or STATISTIC not in statistics:
                continue
            basin = f"{NAMESPACE}{series['sourceInfo']['siteCode'][0]['value']}"
            try:
                held[basin] += _methods(basin, series, len(held[basin]))
            except FeedProblem as problem:
                refused.setdefault(basin, problem)
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, OverflowError):
        raise Broken("the answer is not of the shape of daily values") from None
    return _Answer(held, refused)


def _methods(basin: str, series: Mapping[str, Any], before: int) -> list[_Series]:
    """Return a gauge's series by method; `before`: how many the gauge has already.

    Raises:
        FeedProblem: a value is not a number.
    """
    variable = series["variable"]
    no_data = variable.get("noDataValue", _NO_DATA)
    if isinstance(no_data, NotANumber):
        raise FeedProblem(
            f"The number for no data of {excerpt(basin)} is not one ({no_data}): report it to the service."
        )
    methods = []
    for number, method in enumerate(series["values"], start=before + 1):
        rows = tuple(
            flow_row(basin, row["dateTime"], _present(row["value"], float(no_data)), row.get("qualifiers"))
            for row in method["value"]
        )
        name = str((method.get("method") or [{}])[0].get("methodID", number))
        methods.append(_Series(name, variable["unit"]["unitCode"], rows))
    return methods


def _of_rdb(body: bytes) -> _Answer:
    """Parse an RDB answer into series by basin. Blocks of comments, names, widths and values.

    Raises:
        Broken: it is not RDB.
    """
    held: dict[str, dict[str, list[FlowRow]]] = defaultdict(lambda: defaultdict(list))
    refused: dict[str, FeedProblem] = {}
    for row in _rdb_rows(body):
        basin = f"{NAMESPACE}{row['site_no']}"
        for name, value in row.items():
            if name.endswith(f"_{PARAMETER}_{STATISTIC}") and (value or row.get(f"{name}_cd")):
                # A code may stand in place of the value (`Ice`, `Eqp`): it is missing, and the code gives the flag.
                try:
                    flow = flow_row(basin, row["datetime"], value, row.get(f"{name}_cd", ""))
                except FeedProblem as problem:
                    refused.setdefault(basin, problem)
                else:
                    held[basin][name.partition("_")[0]].append(flow)
    series = {
        basin: [_Series(method, UNIT, tuple(rows)) for method, rows in methods.items()]
        for basin, methods in held.items()
    }
    return _Answer(series, refused)


def _rdb_rows(body: bytes) -> Iterator[dict[str, str]]:
    """Yield the rows of RDB by the names of their block's columns.

    Raises:
        Broken: it is not RDB.
    """
    names: list[str] = []
    lines = iter(body.decode("utf-8", errors="replace").splitlines())
    for line in lines:
        if line.startswith("#") or not line.strip():
            continue
        cells = line.split("\t")
        if cells[0] == "agency_cd":
            if not {"site_no", "datetime"} <= set(cells):
                raise Broken("the answer is not whole RDB")
            names = cells
            next(lines, None)  # the widths
            continue
        if not names or len(cells) != len(names):
            raise Broken("the answer is not whole RDB")
        yield dict(zip(names, cells, strict=True))


def _present(value: Any, no_data: float) -> Any:
    """Return a value as written. Return None where it is the answer's number for no data."""
    try:
        return None if float(value) == no_data else value
    except (TypeError, ValueError, OverflowError):
        return value
