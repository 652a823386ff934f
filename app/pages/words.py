"""Names and sentences of the pages: levels, basins, skill, ranges."""

import re

from hydrology.extremes.thresholds import OF_MODEL

NO_ESTIMATE = "No uncertainty estimate yet"
SKILL_WORDS: tuple[tuple[float, str], ...] = ((0.85, "Very good"), (0.7, "Good"), (0.5, "Fair"), (0.3, "Weak"))
"""The lowest Nash-Sutcliffe efficiency of each word."""
POOR = "Poor"
RANGE_KINDS = {"provisional": "provisional range", "backfilled": "range from past forecasts"}
"""Label of a calibrated range by the kind of its error model; others need none."""

_LEVELS = (
    (re.compile(r"gev-(\d+)"), "{}-year flood"),
    (re.compile(r"lp3-(\d+)"), "{}-year flood, log-Pearson"),
    (re.compile(r"7q(\d+)"), "{}-year low flow"),
    (re.compile(r"exceeded-(\d+)"), "flow exceeded on {} % of days"),
)
_STATE = re.compile(r"(.+?),? ([A-Z]{2})\.?")
_SMALL = frozenset(("at", "near", "below", "above", "of", "the", "and"))
_SHORT = {"nr": "near", "blw": "below", "abv": "above", "rv": "River", "riv": "River", "cr": "Creek", "ck": "Creek",
          "fk": "Fork", "bk": "Brook", "br": "Branch", "res": "Reservoir", "nf": "North Fork", "sf": "South Fork",
          "mf": "Middle Fork"}  # fmt: skip
_SHORT_IN_CAPITALS = _SHORT | {"a": "at", "ab": "above", "bl": "below", "r": "River", "c": "Creek", "f": "Fork",
                               "l": "Little", "n": "North", "s": "South", "e": "East", "w": "West"}  # fmt: skip
"""Abbreviations of station names."""


def is_second_estimate(level: str) -> bool:
    """Whether a level is a flood that another method or record has estimated, too: one is enough on a page."""
    return level.startswith(("lp3-", "model-"))


def level_title(name: str) -> str:
    """Return a level's name for a reader: `gev-5` is the 5-year flood."""
    plain = name.removeprefix(OF_MODEL)
    for pattern, title in _LEVELS:
        if found := pattern.fullmatch(plain):
            plain = title.format(found[1])
            break
    return plain if name == plain or not name.startswith(OF_MODEL) else f"{plain}, of the model"


def station_name(name: str) -> str:
    """Return a station's name in one form: capitals of an archive become words, abbreviations are written out.

    "MERCED R NR YOSEMITE CA" is "Merced River near Yosemite, CA".
    """
    parts = _STATE.fullmatch(name.strip())
    place, state = (name, "") if parts is None else (parts[1], f", {parts[2]}")
    shouted = place == place.upper()
    return " ".join(_word(word, first=at == 0, shouted=shouted) for at, word in enumerate(place.split())) + state


def skill_word(nse: float) -> str:
    """Return a word for a Nash-Sutcliffe efficiency."""
    return next((word for lowest, word in SKILL_WORDS if nse >= lowest), POOR)


def percent(share: float) -> str:
    """Return a chance in percent; one beyond the outermost quantiles as a bound."""
    if share <= 0.01:
        return "1 % or less"
    return "99 % or more" if share >= 0.99 else f"{100 * share:.0f} %"


def _word(word: str, *, first: bool, shouted: bool) -> str:
    core, end = word.rstrip(",."), "," if word.endswith(",") else ""
    written = (_SHORT_IN_CAPITALS if shouted else _SHORT).get(core.lower())
    if written is not None:
        return written + end
    if not shouted:
        return core + end
    plain = core.lower()
    capital = "-".join(part[:1].upper() + part[1:] for part in plain.split("-"))
    return (plain if plain in _SMALL and not first else capital) + end
