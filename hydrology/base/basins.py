"""Basin identifiers: `NAMESPACE-code`, e.g. for USGS site numbers."""

import re

from hydrology.base.errors import InvalidInput

SOURCE_NAMESPACES = ("USGS", "SYNTH", "CARAVAN")
"""Namespaces of published sources: users cannot register their basins or change their observations."""
_AGENCIES = (
    *("camels", "caravan", "grdc", "hysets", "lamah", "noaa"),
    *("nwis", "nwm", "nwps", "nws", "usace", "usbr", "usgs"),
)
"""Agencies and published archives: only an administrator names basins, and what is stated of them, by these."""

TIME_ZONE = "time_zone"
"""Name of the basin text that holds the time zone of its gauge, which sets its calendar days."""
_SHORT_NUMBER = re.compile(r"(?:USGS-)?([0-9]{7})")
_USGS_NUMBER = re.compile(r"[0-9]{8,15}")
_NAMESPACED = re.compile(r"(?!USGS-)[A-Z][A-Z0-9]{1,15}-[A-Za-z0-9_][A-Za-z0-9_.]{0,39}")


def basin_id(text: str) -> str:
    """Return the full identifier of a basin: "01013500" and "USGS-01013500" are both "USGS-01013500"."""
    text = text.strip()
    if _USGS_NUMBER.fullmatch(text.removeprefix("USGS-")):
        return f"USGS-{text.removeprefix('USGS-')}"
    if _NAMESPACED.fullmatch(text):
        return text
    if short := _SHORT_NUMBER.fullmatch(text):
        raise InvalidInput(
            f"{text!r} is not a basin identifier: its leading zero was likely lost in a spreadsheet. Write 0{short[1]}."
        )
    raise InvalidInput(
        f"{text[:64]!r} is not a basin identifier: give a USGS site number of 8 to 15 digits (01013500) "
        "or a namespaced identifier (USGS-01013500, SYNTH-01)."
    )


def has_source(basin: str) -> bool:
    """Return whether a basin's data come from a published source, and not from a user."""
    return basin.partition("-")[0] in SOURCE_NAMESPACES


def named_agency(text: str) -> str | None:
    """Return the agency that a word begins with: "NWS_major" the NWS, "OWN-usgs2" the USGS, "news" None."""
    words = re.split(r"[^0-9a-z]+", text.casefold())
    return next((agency.upper() for agency in _AGENCIES if any(word.startswith(agency) for word in words)), None)


def is_agencys(basin: str) -> bool:
    """Return whether an identifier is an agency's or a published source's, or imitates one."""
    return has_source(basin) or named_agency(basin) is not None


def source_code(basin: str) -> str:
    """Return a basin's identifier as in CAMELS files: for a USGS site, the bare number."""
    namespace, code = basin.split("-", 1)
    return code if namespace == "USGS" else basin


def gauge_product(basin: str) -> str:
    """Return the product of a basin's discharge: its namespace in lower case (`usgs`)."""
    return basin.partition("-")[0].lower()


def place_in_words(latitude: float, longitude: float) -> str:
    """Format a place in degrees with its hemispheres: 44.085° N, 115.622° W."""
    north, east = "N" if latitude >= 0 else "S", "E" if longitude >= 0 else "W"
    return f"{abs(latitude):.3f}° {north}, {abs(longitude):.3f}° {east}"
