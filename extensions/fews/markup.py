"""XML of Delft-FEWS: reading and writing it, and the diagnostics that it reads after a run."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from enum import IntEnum
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, ParseError, SubElement

import defusedxml.ElementTree
import numpy as np
import numpy.typing as npt
from defusedxml import DefusedXmlException

from hydrology.base.errors import printable
from ingestion.base import SourceError
from runtime.stored_files import replace_file

NAMESPACE = "http://www.wldelft.nl/fews/PI"
Instant = np.datetime64
"""To the second, in UTC."""

AS_TEXT = "export the events as text from Delft-FEWS: those in a binary file beside the XML are not read"
_REMEDY = "write it according to the schemas of the Published Interface"
_MAX_HOURS = 14  # largest offset of a time zone from UTC


def fault(file: str, cause: str, remedy: str = _REMEDY) -> SourceError:
    """Return the error for a file that cannot be used."""
    return SourceError(file, cause, remedy)


def document(content: bytes, file: str, tag: str) -> Element:
    """Return a document's root; refuse a document type or another root element."""
    return list(elements(content, file, tag, tag))[-1]


def elements(content: bytes, file: str, root: str, *tags: str) -> Iterator[Element]:
    """Yield the elements with the given tags one by one, so that a large file is not held in memory.

    Elements of the interface have lost their namespace; all others have the name `other`. A document type is refused.
    """
    top: Element | None = None
    try:
        for event, element in defusedxml.ElementTree.iterparse(BytesIO(content), ("start", "end"), forbid_dtd=True):
            if event == "start":
                namespace, _, name = element.tag.rpartition("}")
                element.tag = name if namespace == f"{{{NAMESPACE}" else "other"
            if top is None:
                top = element
                if element.tag != root:
                    raise fault(file, f"is not a {root} of the Published Interface")
            if event == "end" and element.tag in tags:
                yield element
                if element is not top:
                    top.clear()
    except (ParseError, DefusedXmlException, LookupError, ValueError) as error:
        cause = "has a document type" if isinstance(error, DefusedXmlException) else "is not XML"
        raise fault(file, cause) from None


def text(element: Element, name: str) -> str | None:
    """Return the text of a child, or None where there is none or it is blank."""
    return element.findtext(name, "").strip() or None


def zone(written: str | None, file: str) -> float:
    """Return a document's offset from UTC in hours. 0 where none is given."""
    try:
        hours = float(written or 0)
    except ValueError:
        hours = np.nan
    if not abs(hours) <= _MAX_HOURS:
        raise fault(file, f"has a timeZone that is not a number of hours up to {_MAX_HOURS}")
    return hours


def instant(element: Element | None, hours: float, file: str) -> Instant:
    """Parse an instant from the attributes `date` and `time`."""
    return np.datetime64(_time(element, file), "s") - seconds(hours)


def instants(elements: Sequence[Element], hours: float, file: str) -> npt.NDArray[np.datetime64]:
    """Parse the instants of many elements, as `instant` does."""
    shown: npt.NDArray[np.datetime64] = np.array([_time(element, file) for element in elements], "datetime64[s]")
    shown -= seconds(hours)
    return shown


def _time(element: Element | None, file: str) -> datetime:
    try:
        if element is None:
            raise ValueError
        shown = datetime.fromisoformat(f"{element.attrib['date']}T{element.attrib.get('time', '00:00:00')}")
        if shown.tzinfo is not None:
            raise ValueError
    except (KeyError, ValueError):
        raise fault(file, "has a date or a time that is missing or not written as YYYY-MM-DD and hh:mm:ss") from None
    return shown


def seconds(hours: float) -> np.timedelta64:
    """Convert hours to whole seconds."""
    return np.timedelta64(round(hours * 3600), "s")


def local(at: Instant, hours: float) -> dict[str, str]:
    """Return the attributes `date` and `time` of an instant in local time."""
    day, _, time = str((at + seconds(hours)).astype("datetime64[s]")).partition("T")
    return {"date": day, "time": time}


def new(tag: str, version: str) -> Element:
    """Return the root of a new document."""
    return Element(tag, {"xmlns": NAMESPACE, "version": version})


def add(parent: Element, name: str, content: str | None = None, /, **attributes: str) -> Element:
    """Add a child element, and return it."""
    element = SubElement(parent, name, attributes)
    element.text = content
    return element


def written(root: Element) -> bytes:
    """Return a document as bytes."""
    ElementTree.indent(root, " ")
    content: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return content + b"\n"


class LogLevel(IntEnum):
    """Severity of a line."""

    FATAL = 0  # nothing was written
    ERROR = 1  # a location has no flow
    WARNING = 2
    INFO = 3


class Diagnostics:
    """The lines of a run."""

    def __init__(self, path: Path) -> None:
        self._path, self._root = path, new("Diag", "1.2")

    def add(self, level: LogLevel, sentence: str) -> None:
        add(self._root, "line", level=str(int(level)), description=printable(sentence))

    def write(self) -> None:
        replace_file(self._path, written(self._root))
