"""The colours of the style sheet: distinct under every kind of vision, readable, and red for danger alone."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

import pytest
from coloraide import Color

from app.pages.basins_today import SCALES
from app.pages.figures.water import AGE_FILLS, FALLS, FILLS, TEMPERATURES
from app.pages.render import FOLDER
from app.pages.side_by_side import COLOURS

CSS = (FOLDER / "pages.css").read_text()
SCHEMES = ("light", "dark")
MIN_DIFFERENCE = 10.0
"""CIEDE2000, between any two colours that stand beside each other."""
VISIONS: dict[str, Callable[[Color], Color]] = {
    "usual": lambda colour: colour,
    "deuteranopia": lambda colour: colour.filter("deutan", 1, method="machado").clip("srgb"),
    "protanopia": lambda colour: colour.filter("protan", 1, method="machado").clip("srgb"),
}
"""Full dichromacy by Machado, Oliveira and Fernandes (2009)."""
LINES = ("observed", "median", "before", "level", "normal")
TOGETHER: dict[str, list[str]] = {
    **{
        f"scale of {name}": [entry for entry, _ in scale.entries[: len(scale.labels)]] for name, scale in SCALES.items()
    },
    "hydrograph": [*LINES, "members"],
    "ranges": ["range", "band-90", "band-50", "panel"],
    "ages": [*AGE_FILLS.values()],
    "origins": [*FILLS, "panel"],
    "temperatures": [colour for _, _, colour in TEMPERATURES],
    "precipitation": [colour for _, colour in FALLS],
    "compared basins": [*COLOURS],
}
"""Colours that one drawing has."""
FEW, MIN_DIFFERENCE_OF_FEW = 3, 25.0
"""Basins that are mostly compared, whose lines differ at a glance."""
MIN_CONTRAST = 4.5
"""WCAG 2.2, criterion 1.4.3; of a line 3, criterion 1.4.11."""
FILL = re.compile(r"fill: var\(--([\w-]+)\)")
DANGER = {"level", "warning-3"}
DANGEROUS = (
    *(".glance > .warning", ".badge.warning", ".warning-3", ".share.warning-3", ".most .warning", ".advice"),
    ".small-hydrograph .level",
)
"""What may be red: the highest class of a threat."""


@pytest.mark.parametrize("scheme", SCHEMES)
def test_colours_of_one_drawing_differ_under_every_vision(scheme: str) -> None:
    for title, names in TOGETHER.items():
        assert _close(scheme, names, MIN_DIFFERENCE) == {}, title


@pytest.mark.parametrize("scheme", SCHEMES)
def test_colours_of_few_compared_basins_differ_at_a_glance(scheme: str) -> None:
    assert _close(scheme, COLOURS[:FEW], MIN_DIFFERENCE_OF_FEW) == {}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_line_stands_out_from_its_ground(scheme: str) -> None:
    palette = _palette(scheme)
    lines = {*LINES, *COLOURS, *(colour for _, _, colour in TEMPERATURES), "rain"}
    faint = {line for line in lines for ground in ("paper", "panel") if palette[line].contrast(palette[ground]) < 3}
    assert faint == set()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_number_of_a_group_on_the_map_is_readable(scheme: str) -> None:
    palette = _palette(scheme)
    (ground, number) = (
        next(found[1] for rule, body in _rules() if rule == selector and (found := FILL.search(body)))
        for selector in (".map circle.group", ".map text")
    )
    assert palette[ground].contrast(palette[number]) >= MIN_CONTRAST


def test_red_is_danger() -> None:
    for scheme in SCHEMES:
        assert {name for name, colour in _palette(scheme).items() if _is_red(colour)} == DANGER
    using = {selector for selector, body in _rules() if any(f"var(--{name})" in body for name in DANGER)}
    assert using == set(DANGEROUS) & {selector for selector, _ in _rules()}


def test_every_colour_is_a_variable() -> None:
    assert [selector for selector, body in _rules() if re.search(r"#[0-9a-fA-F]{3}|\b(rgb|hsl|oklch)a?\(", body)] == []


def _close(scheme: str, names: Sequence[str], least: float) -> dict[tuple[str, str, str], float]:
    """Return the differences below a number, by vision and pair of colours."""
    palette = _palette(scheme)
    differences = {
        (vision, one, other): seen(palette[one]).delta_e(seen(palette[other]), method="2000")
        for vision, seen in VISIONS.items()
        for one, other in combinations(names, 2)
    }
    return {pair: difference for pair, difference in differences.items() if difference < least}


def _palette(scheme: str) -> dict[str, Color]:
    """Return the colours of a scheme by the names of their variables."""
    light, dark = re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)
    texts: dict[str, str] = dict(re.findall(r"--([\w-]+): ([^;]+);", light if scheme == "light" else light + dark))
    return {name: Color(_resolved(text, texts)) for name, text in texts.items()}


def _resolved(text: str, texts: dict[str, str]) -> str:
    while found := re.fullmatch(r"var\(--(.*)\)", text):
        text = texts[found[1]]
    return text


def _is_red(colour: Color) -> bool:
    hue, saturation, _ = colour.convert("hsl").coords(nans=False)
    return bool(saturation > 0.4 and (hue < 20 or hue > 335))


def _rules() -> Iterable[tuple[str, str]]:
    """Return the selectors of the style sheet, each with its declarations, but for those of the variables."""
    plain = re.sub(r"/\*.*?\*/", "", CSS, flags=re.DOTALL)
    return [
        (selector.strip(), body)
        for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", plain)
        if ":root" not in selectors
        for selector in selectors.split(",")
    ]
