"""Requests as people write them, and the ways in which one can be wrong."""

import copy
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from jobspec.kinds import KINDS, REQUESTABLE

PERIOD = "1999-10-01..2008-09-30"
SCRATCH = {
    "inputs": {"product": "daymet", "static": ["p_mean"]},
    "network": {"architecture": "lstm", "cells": 8},
    "train_period": PERIOD,
    "windows": {"batch": 4},
    "schedule": {"kind": "staircase", "epochs": 3, "rates": [[0, 0.01]]},
}
TUNING = {"parent": "011cb6d0d4209b8d7f6a51", "train_period": PERIOD, "validation_period": "1980-10-01..1989-09-30"}
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("ingest", {"from": ["/srv/camels"], "product": "daymet", "basins": ["USGS-01013500"]}),
    ("fetch", {"feed": "usgs-flow", "basins": ["USGS-01013500"], "period": PERIOD}),
    ("archive", {}),
    ("backfill", {"feed": "ahead", "days": 100, "horizon": 7}),
    ("bridge", {"name": "live_as_maurer", "fit": {"from": "live", "to": "maurer_extended", "period": PERIOD}}),
    ("bridge", {"name": "ifs_as_live", "fit": {"from": "past_ifs", "to": "live", "model": "ecmwf_ifs"}, "basins": []}),
    ("fuse", {"name": "maurer_daymet", "of": ["maurer_extended", "daymet"]}),
    ("replay", {"period": PERIOD, "latency_days": 2, "horizon": 7, "traces": 3}),
    ("daily", {"feeds": ["usgs-flow"], "horizon": 7}),
    ("climate", {"basin": "USGS-01013500", "product": "daymet", "period": PERIOD}),
    ("training", {"config": SCRATCH, "label": "a label", "compare": {"period": PERIOD, "margin": 0.1}}),
    ("training", {"config": TUNING | {"schedule": {"steps": 50}}, "basins": ["USGS-01013500"]}),
    ("retraining", {"version": "a", "judge_on": PERIOD, "label": "a label", "margin": 0.1, "promote": True}),
    ("forecast", {"basins": ["USGS-01013500"], "horizon": 3, "t0": "2008-04-01", "version": "a"}),
    (
        "what-if",
        {
            "basins": ["USGS-01013500"],
            "t0": "2008-04-01",
            "changes": {"degrees": 2.0, "storm": {"mm": 30.0, "lead": 2}, "increment": {"mm": 10.0, "where": "snow"}},
            "note": "a warm storm",
        },
    ),
    ("volumes", {"basins": ["USGS-01013500"], "t0": "2008-04-01", "season": "04-01..07-31", "version": "a"}),
    ("evaluation", {"period": PERIOD, "version": "a"}),
    ("calibration", {"period": PERIOD, "version": "a"}),
    ("reforecast", {"period": PERIOD, "version": "a", "every": 7, "horizon": 3, "basins": ["USGS-01013500"]}),
    ("verification", {"version": "a"}),
    ("levels", {"version": "a", "basins": ["USGS-01013500"]}),
    ("comparison", {"period": PERIOD, "versions": ["a", "b"]}),
    ("pretrained", {"name": "mclstm-maurer-447", "promote": True}),
    ("check", {}),
    ("prune", {}),
]


@dataclass(frozen=True)
class Wrong:
    """A request that must be refused, and the name that the refusal must contain."""

    kind: str
    params: Any
    name: str


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return where the objects of a request stand."""
    if isinstance(value, dict):
        return [path, *(place for key, part in value.items() for place in _places(part, (*path, key)))]
    return []


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        value = value[part]
    return value


@st.composite
def wrong_requests(draw: st.DrawFn) -> Wrong:
    """Spoil a request: a field that is misspelt, a value of another type, or a kind that there is not."""
    kind, right = draw(st.sampled_from(REQUESTS))
    params = copy.deepcopy(right)
    how = draw(st.sampled_from(["field", "type", "kind"]))
    if how == "kind":
        unknown = draw(
            st.sampled_from(
                [*(name.upper() for name in REQUESTABLE), *sorted(KINDS.keys() - REQUESTABLE.keys()), "forecasts"]
            )
        )
        return Wrong(unknown, params, unknown)
    place = _at(params, draw(st.sampled_from(_places(params))))
    if not place:
        return Wrong(kind, {"field": 1}, "field")
    field = draw(st.sampled_from(sorted(place)))
    if how == "type":
        place[field] = draw(st.sampled_from(_others(place[field])))
        return Wrong(kind, params, field)
    misspelt = field + draw(st.sampled_from(["s", "_", "x"]))
    place[misspelt] = place.pop(field)
    return Wrong(kind, params, misspelt)


def _others(value: Any) -> list[Any]:
    """Return values of another type than a field's."""
    return [other for other in (5, "five", True, 0.5, [None], {"a": 1}) if not _could_be(value, other)]


def _could_be(value: Any, other: Any) -> bool:
    same = type(value) is type(other) or (isinstance(value, float) and type(other) is int)
    return same or (isinstance(value, dict | list) and isinstance(other, dict | list))
