"""The answer that the documentation shows: a few levels of a snowy river, and one that was set."""

from typing import Any

from hydrology.extremes.thresholds import WHAT

FIXED: dict[str, Any] = {
    "name": "bankfull",
    "discharge": 210.0,
    "direction": "rising",
    "set_at": "2026-11-22T09:30:00Z",
}
_YEARS: dict[str, Any] = {
    "years": 34,
    "left_out_years": 2,
    "dry_years": 0,
    "period": {"first_day": "1980-10-01", "last_day": "2014-09-30"},
}
_SAMPLED = (
    "90%, of 2000 samples drawn from the distribution and fitted anew. With a short record it covers the true level "
    "less often than stated."
)
THRESHOLDS: dict[str, Any] = {
    "basin": "USGS-13235000",
    "basin_kind": "usgs",
    "product": "usgs",
    "credit": {
        "credit": "Discharge by the U.S. Geological Survey, National Water Information System.",
        "licence": "public domain (USA)",
    },
    "units": "m3/s",
    "area": None,
    "record": [
        {
            "kind": "flood",
            "method": "gev",
            "direction": "rising",
            "what": WHAT["flood"],
            "interval": _SAMPLED,
            **_YEARS,
            "levels": [
                {
                    "name": "gev-10",
                    "return_period_years": 10,
                    "exceeded_percent": None,
                    "discharge": 188.4216,
                    "low": 166.1024,
                    "high": 210.1497,
                    "reason": None,
                }
            ],
        },
        {
            "kind": "flow-duration",
            "method": "share-of-days",
            "direction": "falling",
            "what": WHAT["flow-duration"],
            "interval": None,
            **_YEARS,
            "levels": [
                {
                    "name": "exceeded-90",
                    "return_period_years": None,
                    "exceeded_percent": 90,
                    "discharge": 7.36238,
                    "low": None,
                    "high": None,
                    "reason": "It is a share of the record's own days, so it has no interval.",
                }
            ],
        },
    ],
    "model": {
        "version": "01a2067bd48b7179f7e477",
        "period": {"first_day": "1981-01-01", "last_day": "2008-12-31"},
        "area": {"name": "maurer_extended", "km2": 1163.5},
        "attributes_assumed": [],
        "computed_at": "2026-11-22T09:35:00Z",
        "levels": [
            {
                "kind": "flood",
                "method": "gev",
                "direction": "rising",
                "what": WHAT["flood"],
                "interval": _SAMPLED,
                "years": 27,
                "left_out_years": 2,
                "dry_years": 0,
                "period": {"first_day": "1981-10-01", "last_day": "2008-09-30"},
                "levels": [
                    {
                        "name": "model-gev-10",
                        "return_period_years": 10,
                        "exceeded_percent": None,
                        "discharge": 161.73,
                        "low": 143.58,
                        "high": 179.92,
                        "reason": None,
                    }
                ],
            }
        ],
    },
    "fixed": [FIXED],
    "missing": {
        "record.levels.return_period_years": "A share of the days has none.",
        "record.levels.exceeded_percent": "A return period has none.",
        "record.interval": "The levels are counted: they have none.",
        "area": "No value was converted with an area.",
    },
}
