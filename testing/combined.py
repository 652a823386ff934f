"""A country with a second weather product, a version on it, and one that combines both."""

import dataclasses
from collections.abc import Mapping

import numpy as np
from sqlalchemy.orm import Session

from records.basins import basins
from records.database.engine import Database
from records.series import series
from records.versions import combinations, versions
from records.versions.versions import NewVersion, Version
from runtime.clock import Clock
from testing.country import BASINS
from testing.records import a_source

FIRST, SECOND = "synthetic", "second"
WEATHER = ("precipitation", "tmax", "tmin", "srad", "vp")


def add_second_product(session: Session, clock: Clock, factor: float = 1.2) -> None:
    """Store a second product in every basin: the first with its precipitation times a factor."""
    source = a_source(session)
    for basin in BASINS:
        stored = basins.get(session, basin)
        basins.upsert(session, dataclasses.replace(stored, areas={**stored.areas, SECOND: stored.areas[FIRST]}))
        for entry in series.catalogue(session, basin):
            if entry.product == FIRST and entry.variable in WEATHER:
                first = series.read(session, basin, FIRST, entry.variable)
                assert first is not None
                times = factor if entry.variable == "precipitation" else 1
                second = dataclasses.replace(first, values=(first.values * times).astype(np.float32))
                series.write(session, basin, SECOND, entry.variable, second, source, clock.now())


def second_version(session: Session, first: Version, members: slice = slice(1, None)) -> Version:
    """Store a version on the second product, with some members of the first."""
    fields = {part.name: getattr(first, part.name) for part in dataclasses.fields(NewVersion)}
    config = first.config | {"inputs": first.config["inputs"] | {"product": SECOND}}
    fields |= {"product": SECOND, "config": config, "label": "on the second product"}
    return versions.create(session, NewVersion(**fields), versions.members_of(session, first.id)[members])


def combined(database: Database, clock: Clock, weights: tuple[float, float] = (0.7, 0.3)) -> Version:
    """Add a second product, a version on it, and one that combines the newest version with it."""
    with database.transaction() as session:
        add_second_product(session, clock)
        first = versions.newest(session)
        second = second_version(session, first)
        shares: Mapping[str, float] = dict(zip((first.id, second.id), weights, strict=True))
        return combinations.combine(session, shares, label="both", wall=clock.wall(), now=clock.now())
