"""The number on a point of the map is readable, light and dark."""

import re

import pytest

from app.pages.render import FOLDER

CSS = (FOLDER / "pages.css").read_text()
MIN_CONTRAST = 4.5
"""WCAG 2.2, criterion 1.4.3."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_number_of_a_group_of_basins_is_readable(scheme: str) -> None:
    palette = _palette(scheme)
    (fill,) = re.findall(r"^\.map circle\.group \{ fill: ([^;]+);", CSS, re.MULTILINE)
    (text,) = re.findall(r"^\.map text \{[^}]*fill: ([^;]+);", CSS, re.MULTILINE)
    assert _contrast(_resolved(fill, palette), _resolved(text, palette)) >= MIN_CONTRAST


def _palette(scheme: str) -> dict[str, str]:
    """Return the variables of a colour scheme."""
    light, dark = re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)
    return dict(re.findall(r"(--[\w-]+): (#\w+);", light if scheme == "light" else light + dark))


def _resolved(colour: str, palette: dict[str, str]) -> str:
    found = re.fullmatch(r"var\((.*)\)", colour)
    return palette[found[1]] if found else colour


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    """Return the relative luminance of a colour in six hexadecimal digits [WCAG 2.2]."""
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
