"""The store that the drills begin with."""

from pathlib import Path

from benchmarks.speed.country import PRODUCT, SyntheticCountry
from benchmarks.speed.warm_forecast import CLOCK, SPIN_UP, prepare
from benchmarks.speed.weather_traces import T0
from records import keys, promotions
from records.engine import Database

BASINS = 3
FIRST_T0 = T0 - SPIN_UP + 1
"""Forecasts are made from here on to T0, each from the states of the day before."""


def prepared(file: Path) -> tuple[Path, str]:
    """Keep some basins with a current version in a SQLite file, and return it and the token of an operator."""
    database, country = Database(f"sqlite:///{file}"), SyntheticCountry(BASINS)
    database.migrate()
    version = prepare(database, country, PRODUCT, T0)
    with database.transaction() as session:
        promotions.promote(session, version, country.basins(), reason="first", by="drill", at=CLOCK.now())
        _, token = keys.make(session, "drill", "admin", None, CLOCK.wall())
    database.close()
    return file, token
