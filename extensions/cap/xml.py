"""Writes XML. Characters that XML 1.0 does not allow are left out, so that a name from outside breaks no document."""

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def new(tag: str, namespace: str) -> Element:
    """Return the root of a new document."""
    return Element(tag, {"xmlns": namespace})


def add(parent: Element, tag: str, content: str | None = None, /, **attributes: str) -> Element:
    """Add a child element, and return it."""
    child = SubElement(parent, tag, attributes)
    child.text = None if content is None else _FORBIDDEN.sub("", content)
    return child


def written(root: Element) -> bytes:
    """Return a document as bytes."""
    ElementTree.indent(root, " ")
    content: bytes = ElementTree.tostring(root, "utf-8", xml_declaration=True)
    return content + b"\n"
