"""The answer that the documentation shows: a gauge whose record ends within the period."""

from typing import Any

OBSERVATIONS: dict[str, Any] = {
    "basin": "USGS-13235000",
    "basin_kind": "usgs",
    "product": "usgs",
    "credit": {
        "credit": "Discharge by the U.S. Geological Survey, National Water Information System.",
        "licence": "public domain (USA)",
    },
    "units": {"discharge": "m3/s"},
    "area": None,
    "known_at": None,
    "kept": {"discharge": {"first_day": "1980-01-01", "last_day": "2014-12-31"}},
    "time": ["2014-12-29", "2014-12-30", "2014-12-31", "2015-01-01"],
    "values": {"discharge": [9.061391, 7.928717, 6.512875, None]},
    "flags": {"discharge": [3, 3, 3, 16]},
    "flag_legend": {
        "1": "approved: the source has approved the value; a gauge's value without it is provisional",
        "2": "estimated: the source has estimated the value",
        "4": "below limit: the value is the limit below which the source cannot measure",
        "8": "missing: the source names the day and has no value for it",
        "16": "absent: no source speaks of the day",
        "32": "filled: a missing value was filled in",
        "64": "suspect: the value is doubtful; with missing, it was negative or not readable, and is not taken",
        "128": "ice: the river was frozen; a value is an estimate",
    },
    "missing": {
        "values.discharge": "1 of 4 days have no value: their flags give the reason.",
        "area": "No value was converted with an area.",
        "known_at": "The answer is as known now.",
    },
}
