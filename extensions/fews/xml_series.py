"""Reads and writes time series as PI-XML."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

import numpy as np

from extensions.fews import markup
from extensions.fews.markup import add
from extensions.fews.series import DOUBTFUL, MISSING, UNRELIABLE, ImportedSeries, Kind, Location, Output, OutputQuantity

VERSION = "1.14"
MISSING_VALUE = -999.0
_KINDS: dict[str, Kind] = {kind: kind for kind in ("accumulative", "mean", "instantaneous")}
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
_DAY = 86_400


def read(content: bytes, file: str) -> Iterator[ImportedSeries]:
    """Yield the series of a document."""
    hours = 0.0
    for element in markup.elements(content, file, "TimeSeries", "timeZone", "series"):
        if element.tag == "timeZone":
            hours = markup.zone(element.text, file)
        else:
            yield _given(element, hours, file)


def _given(element: Element, hours: float, file: str) -> ImportedSeries:
    header = element.find("header")
    if header is None:
        raise markup.fault(file, "has a series without a header")
    location, parameter, kind = (_needed(header, name, file) for name in ("locationId", "parameterId", "type"))
    if kind not in _KINDS:
        raise markup.fault(file, f"has a type other than {', '.join(_KINDS)}")
    _check_step(header, file)
    missing = _number(_needed(header, "missVal", file), file)
    events = element.findall("event")
    stamps = markup.instants(events, hours, file)
    values = np.array([_number(event.attrib.get("value", ""), file) for event in events], np.float64)
    flags = np.array([_flag(event.attrib.get("flag", "0"), file) for event in events], np.int64)
    values[(values == missing) | (flags >= UNRELIABLE)] = np.nan
    return ImportedSeries(
        file=file,
        location=location,
        parameter=parameter,
        kind=_KINDS[kind],
        units=markup.text(header, "units") or "",
        ensemble=markup.text(header, "ensembleId"),
        member=markup.text(header, "ensembleMemberIndex") or markup.text(header, "ensembleMemberId"),
        stamps=stamps,
        values=values,
        doubtful=int(((flags >= DOUBTFUL) & (flags < UNRELIABLE)).sum()),
        unreliable=int(((flags >= UNRELIABLE) & (flags < MISSING)).sum()),
    )


def _needed(header: Element, name: str, file: str) -> str:
    value = markup.text(header, name)
    if value is None:
        raise markup.fault(file, f"has a series without {name}")
    return value


def _check_step(header: Element, file: str) -> None:
    step = header.find("timeStep")
    attributes = {} if step is None else step.attrib
    try:
        length = _SECONDS[attributes["unit"]] * int(attributes.get("multiplier", 1)) / int(attributes.get("divider", 1))
    except (KeyError, ValueError, ZeroDivisionError):
        length = 0
    if length != _DAY:
        raise markup.fault(file, "has a series whose timeStep is not a day", "aggregate it to days in Delft-FEWS")


def _number(written: str, file: str) -> float:
    try:
        return float(written)
    except ValueError:
        raise markup.fault(file, "has a value that is not a number") from None


def _flag(written: str, file: str) -> int:
    if not written.isdecimal() or int(written) > MISSING:
        raise markup.fault(file, f"has a flag that is not a number from 0 to {MISSING}")
    return int(written)


def written(output: Output) -> bytes:
    """Encode an output as a document. A series for each quantity, location and member."""
    root = markup.new("TimeSeries", VERSION)
    add(root, "timeZone", str(float(output.days.hours)))
    stamps = [markup.local(stamp, output.days.hours) for stamp in output.days.stamps]
    for quantity in output.quantities:
        for at, location in enumerate(output.locations):
            for member, label in enumerate(output.members):
                series = add(root, "series")
                _add_header(series, output, quantity, location, label, stamps)
                for stamp, value in zip(stamps, quantity.values[at, member].tolist(), strict=True):
                    known = bool(np.isfinite(value))
                    shown, flag = (repr(value), "0") if known else (str(MISSING_VALUE), str(MISSING))
                    add(series, "event", **stamp, value=shown, flag=flag)
    return markup.written(root)


def _add_header(
    series: Element,
    output: Output,
    quantity: OutputQuantity,
    location: Location,
    member: str | None,
    stamps: list[dict[str, str]],
) -> None:
    header = add(series, "header")
    add(header, "type", quantity.kind)
    add(header, "locationId", location.id)
    add(header, "parameterId", quantity.parameter)
    if member is not None:
        if output.ensemble is not None:
            add(header, "ensembleId", output.ensemble)
        add(header, "ensembleMemberIndex" if member.isdecimal() else "ensembleMemberId", member)
    add(header, "timeStep", unit="second", multiplier=str(_DAY))
    add(header, "startDate", **stamps[0])
    add(header, "endDate", **stamps[-1])
    add(header, "forecastDate", **markup.local(output.time0, output.days.hours))
    add(header, "missVal", str(MISSING_VALUE))
    add(header, "longName", quantity.long_name)
    if location.name is not None:
        add(header, "stationName", location.name)
    if location.latitude is not None and location.longitude is not None:
        add(header, "lat", str(location.latitude))
        add(header, "lon", str(location.longitude))
    add(header, "units", quantity.units)
