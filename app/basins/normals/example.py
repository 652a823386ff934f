"""The answer that the documentation shows: three days of a snowy river in spring."""

from typing import Any

NORMALS: dict[str, Any] = {
    "basin": "USGS-13235000",
    "basin_kind": "usgs",
    "product": "maurer_extended",
    "credits": {
        "usgs": {
            "credit": "Discharge by the U.S. Geological Survey, National Water Information System.",
            "licence": "public domain (USA)",
        }
    },
    "area": None,
    "near_days": 7,
    "least_years": 10,
    "time": ["2008-04-19", "2008-04-20", "2008-04-21"],
    "variables": {
        "discharge": {
            "kind": "observed",
            "source": "usgs",
            "units": "m3/s",
            "record": {"first_day": "1980-01-01", "last_day": "2014-12-31"},
            "mean": [32.23468, 33.18496, 34.14046],
            "p10": [15.56294, 16.20573, 17.04108],
            "p25": [21.50664, 22.14377, 22.90125],
            "median": [29.44952, 30.72378, 31.14853],
            "p75": [39.64359, 40.70547, 41.62576],
            "p90": [51.56498, 52.66933, 54.11349],
            "years": [34, 34, 34],
        },
        "precipitation": {
            "kind": "observed",
            "source": "maurer_extended",
            "units": "mm/day",
            "record": {"first_day": "1980-01-01", "last_day": "2008-12-31"},
            "mean": [2.423595, 2.397929, 2.430357],
            "p10": [0.0, 0.0, 0.0],
            "p25": [0.0, 0.0, 0.0],
            "median": [0.505, 0.5, 0.5],
            "p75": [2.92, 2.7875, 2.765],
            "p90": [7.044, 6.992, 6.992],
            "years": [28, 28, 28],
        },
        "storage": {
            "kind": "simulated",
            "source": "01a206766b9fdb78c34b49",
            "units": "mm",
            "record": {"first_day": "1980-12-31", "last_day": "2008-12-31"},
            "mean": [529.3097, 527.9806, 526.5559],
            "p10": [283.5465, 282.5089, 281.1108],
            "p25": [372.2808, 372.2808, 372.2808],
            "median": [532.5172, 531.6963, 528.083],
            "p75": [651.9701, 650.5813, 649.2784],
            "p90": [835.8834, 833.3597, 831.3128],
            "years": [27, 27, 27],
        },
        "snow": None,
    },
    "missing": {
        "variables.snow": "No snow cells have been chosen for this basin, whose reference snow is stored: evaluate the "
        "version (freshet evaluate).",
        "area": "No value was converted with an area.",
    },
}
