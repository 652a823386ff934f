"""The stores that a service begins with: some basins with a current version of an untrained ensemble."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchmarks.speed.country import PRODUCT, SyntheticCountry
from benchmarks.speed.warm_forecast import CLOCK, SPIN_UP, prepare
from benchmarks.speed.weather_traces import T0
from hydrology.base.calendar import Day
from ingestion.base import Source
from jobspec.feed_kinds import NewFeed, read_settings
from records.access import keys
from records.database.engine import Database
from records.feeds import feeds
from records.versions import promotions

BASINS = 3
FIRST_T0 = T0 - SPIN_UP + 1
"""Forecasts are issued from here on to T0, each from the states of the day before."""


def prepared(file: Path) -> tuple[Path, str]:
    """Store some synthetic basins with states until T0 in a SQLite file, and return it and the token of an admin."""
    return storing(file, SyntheticCountry(BASINS), PRODUCT, T0)


def storing(
    file: Path,
    country: Source,
    product: str,
    day: Day,
    settings: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> tuple[Path, str]:
    """Store basins with a current version and its states until a day in a SQLite file, and return it and a token.

    Args:
        settings: of feeds, by their names.
    """
    database = Database(f"sqlite:///{file}")
    database.migrate()
    with database.transaction() as session:
        for name, of_feed in settings.items():
            feeds.create(session, NewFeed(name=name, settings=read_settings(of_feed)), None, CLOCK.wall())
    version = prepare(database, country, product, day)
    with database.transaction() as session:
        promotions.promote(session, version, country.basins(), reason="first", by="measurement", at=CLOCK.now())
        _, token = keys.make(session, "measurement", "admin", None, CLOCK.wall())
    database.close()
    return file, token
