"""The locations of the forcing that are basins here, and the version that computes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from extensions.fews.run_file import MODEL_VERSION, RunFile
from extensions.fews.series import ImportedSeries, Location
from hydrology.base.absent import Absent
from hydrology.base.basins import basin_id
from hydrology.base.errors import DataProblem, InvalidInput
from hydrology.base.products import WEATHER
from hydrology.base.units import Area, area_by
from hydrology.weather.climate import BasinClimate
from operations.basin_data.basins import Attributes, completed
from operations.basin_data.check_incoming import climates
from operations.forecasting.forecast import basins_by_version
from operations.versions.learnt_days import attribute_means
from operations.versions.load_networks import LoadedVersion, load_version
from records.basins import basins
from records.basins.ownership import Basin
from records.database.engine import Database


class NothingComputed(DataProblem):
    """No location of a run could be computed."""


def nothing(failures: Mapping[str, str]) -> NothingComputed:
    location, reason = next(iter(failures.items()), ("the forcing", "it has no weather."))
    return NothingComputed(f"No location can be computed. {location}: {reason}")


@dataclass(frozen=True, slots=True)
class Place:
    """A location of the forcing that is a basin here; `attributes` are those that each part takes, or why not known."""

    basin: Basin
    area: Area
    attributes: Mapping[str, Attributes | Absent]
    climate: BasinClimate | None

    def shown(self, location: str) -> Location:
        return Location(location, self.basin.name, self.basin.latitude, self.basin.longitude)


def select(
    database: Database, asked: RunFile, given: Sequence[ImportedSeries], failures: dict[str, str]
) -> tuple[LoadedVersion, dict[str, Place]]:
    """Return the version, and the locations that it can compute. Add the failures of the others."""
    ids: dict[str, str] = {}
    for location in dict.fromkeys(series.location for series in given if series.parameter in WEATHER):
        try:
            ids[location] = basin_id(location)
        except InvalidInput as problem:
            failures[location] = f"{problem} The IdMap of the General Adapter can give it another name."
    places: dict[str, Place] = {}
    with database.reading() as session:
        unknown = basins.unknown(session, list(ids.values()))
        failures |= {location: str(unknown[basin]) for location, basin in ids.items() if basin in unknown}
        ids = {location: basin for location, basin in ids.items() if basin not in unknown}
        if not ids:
            raise nothing(failures)
        groups = basins_by_version(session, list(ids.values()), asked.properties.get(MODEL_VERSION))
        if len(groups) > 1:
            raise InvalidInput(
                f"The locations use {len(groups)} versions: give the property {MODEL_VERSION}, or run them apart."
            )
        loaded = load_version(session, next(iter(groups)))
        attributes = {name: _attributes(session, one, [*ids.values()]) for name, _, one in loaded.shares}
        for location, basin in ids.items():
            stored = basins.get(session, basin)
            area = area_by(stored.areas, loaded.version.area_products)
            if area is None:
                failures[location] = f"{basin} has no area: give it (freshet basins add {basin} --area KM2)."
            else:
                of_parts = {name: of[basin] for name, of in attributes.items()}
                places[location] = Place(stored, area, of_parts, climates(session, [stored])[basin])
    return loaded, places


def _attributes(session: Session, loaded: LoadedVersion, ids: Sequence[str]) -> dict[str, Attributes | Absent]:
    names, means = loaded.config.inputs.static, attribute_means(loaded.version)
    assuming = basins.assuming(session, ids)
    values = basins.attributes_of(session, ids, names)
    return {
        basin: completed(basin, names, row, means, basin in assuming) for basin, row in zip(ids, values, strict=True)
    }
