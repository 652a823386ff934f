"""Names of stations for a reader."""

import re

_STATE = re.compile(r"(.+?),? ([A-Z]{2})\.?")
_SMALL = frozenset(("at", "near", "below", "above", "of", "the", "and"))
_SHORT = {"nr": "near", "blw": "below", "abv": "above", "rv": "River", "riv": "River", "cr": "Creek", "ck": "Creek",
          "fk": "Fork", "bk": "Brook", "br": "Branch", "res": "Reservoir", "nf": "North Fork", "sf": "South Fork",
          "mf": "Middle Fork"}  # fmt: skip
_SHORT_IN_CAPITALS = _SHORT | {"a": "at", "ab": "above", "bl": "below", "r": "River", "c": "Creek", "f": "Fork",
                               "l": "Little", "n": "North", "s": "South", "e": "East", "w": "West"}  # fmt: skip
"""Abbreviations of station names."""


def station_name(name: str) -> str:
    """Return a station's name in one form: "MERCED R NR YOSEMITE CA" is "Merced River near Yosemite, CA"."""
    parts = _STATE.fullmatch(name.strip())
    place, state = (name, "") if parts is None else (parts[1], f", {parts[2]}")
    shouted = place == place.upper()
    return " ".join(_word(word, first=at == 0, shouted=shouted) for at, word in enumerate(place.split())) + state


def shown_name(basin: str, name: str | None) -> str:
    """Return a basin's name for a reader: its station's, or its identifier as it is."""
    return station_name(name) if name else basin


def _word(word: str, *, first: bool, shouted: bool) -> str:
    core = word.rstrip(",.")
    end = word[len(core) :]
    written = (_SHORT_IN_CAPITALS if shouted else _SHORT).get(core.lower())
    if written is not None:
        return written + end.replace(".", "")
    if not shouted:
        return word
    plain = core.lower()
    capital = "-".join(part[:1].upper() + part[1:] for part in plain.split("-"))
    return (plain if plain in _SMALL and not first else capital) + end
