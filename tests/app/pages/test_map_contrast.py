"""The number on a point of the map is readable in every class of colour, light and dark."""

import re

import pytest

from app.pages.basins_today import SCALES, UNKNOWN
from app.pages.render import FOLDER

CSS = (FOLDER / "pages.css").read_text()
MIN_CONTRAST = 4.5
"""WCAG 2.2, criterion 1.4.3."""
CLASSES = sorted({name for scale in SCALES.values() for name, _ in scale.legend} | {UNKNOWN})


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_number_on_a_point_of_the_map_is_readable(scheme: str, name: str) -> None:
    palette = _palette(scheme)
    texts = re.findall(r"^\.map text \{[^}]*fill: ([^;]+);", CSS, re.MULTILINE)
    for selectors, colour in re.findall(r"^(\.map \.[^{]* \+ text) \{ fill: ([^;]+); \}", CSS, re.MULTILINE):
        texts += [colour for selector in selectors.split(", ") if selector == f".map .{name} + text"]
    assert _contrast(palette[f"--{name}"], _resolved(texts[-1], palette)) >= MIN_CONTRAST


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
