"""A basin's climate from its stored weather: its indices, with the years they cover, and its potential evaporation."""

from dataclasses import asdict, dataclass

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem, InvalidInput, counted
from hydrology.base.reasons import Reason
from hydrology.weather.climate import (
    CLIMATE,
    ClimateIndices,
    climate_indices,
    daylength,
    extraterrestrial_radiation,
    net_radiation,
    potential_evapotranspiration,
    priestley_taylor,
)
from jobspec.network import TEMPERATURES
from jobspec.training import InputsConfig
from models.forcing import Forcing, mean_temperature
from records.basins import basins
from records.basins.ownership import Basin
from records.database.work import Work
from records.runs import states
from records.series import series

_VARIABLES = ("precipitation", "tmin", "tmax")
_ENERGY = ("srad", "vp")
_ELEVATION = "elev_mean"
_JOULES = 1e-6  # MJ/J


@dataclass(frozen=True, slots=True)
class Climate:
    basin: str
    product: str
    period: Period
    years: int
    evaporation: str
    indices: ClimateIndices

    @property
    def source(self) -> str:
        """Description of the weather they were computed from."""
        return f"{self.product} {self.period}, {counted(self.years, 'year')}, {self.evaporation}"


def compute(work: Work, basin: str, product: str | None = None, period: Period | None = None) -> Climate:
    """Compute a basin's climate indices from a product, and store them as its attributes.

    Potential evapotranspiration is Priestley and Taylor's where radiation and vapour pressure are stored, as CAMELS has
    it, else Oudin's, from temperature and latitude. The period is whole years, by default all stored calendar years.
    Refused where the basin's source supplies its climate, or a day of the period is missing.
    """
    with work.database.transaction() as session:
        basins.lock(session, basin)
        stored = basins.get(session, basin)
        _require_vacant(stored)
        product = product or _only_product(session, basin)
        period = period or _calendar_years(session, basin, product)
        years = _whole_years(period)
        climate = Climate(basin, product, period, years, *_indices(session, stored, product, period))
        numbers = {name: getattr(climate.indices, name) for name in CLIMATE}
        texts = {name: value for name, value in asdict(climate.indices).items() if name not in CLIMATE}
        changes = basins.upsert(
            session, Basin(basin, attributes=numbers, texts=texts | {basins.CLIMATE_SOURCE: climate.source})
        )
        if basins.attributes_revised(session, basin, changes):
            states.invalidate_all(session, basin, absent(Reason.CLIMATE_COMPUTED), work.clock.wall())
    return climate


def _only_product(session: Session, basin: str) -> str:
    stored = {(entry.product, entry.variable) for entry in series.catalogue(session, basin)}
    products = sorted(
        product for product in {name for name, _ in stored} if stored.issuperset((product, name) for name in _VARIABLES)
    )
    if not products:
        raise DataProblem(f"No weather of {basin} is stored: fetch or ingest some years of it.")
    if len(products) > 1:
        raise InvalidInput(f"{basin} has weather of {', '.join(products)}: name one of them (--product).")
    return products[0]


def _calendar_years(session: Session, basin: str, product: str) -> Period:
    stored = [part for (_, _), part in series.extent(session, [basin], product, _VARIABLES).items()]
    if len(stored) < len(_VARIABLES):
        raise DataProblem(f"{basin} has no {', '.join(_VARIABLES)} of {product}: fetch or ingest them.")
    first, last = max(part.first for part in stored), min(part.last for part in stored)
    day = np.timedelta64(1, "D")
    january = (first - day).astype("datetime64[Y]") + np.timedelta64(1, "Y")
    after = (last + day).astype("datetime64[Y]")
    if january >= after:
        raise DataProblem(
            f"{basin} has {first}..{last} of {product}, no whole calendar year: fetch more, or name days."
        )
    return Period(january.astype("datetime64[D]"), after.astype("datetime64[D]") - day)


def _whole_years(period: Period) -> int:
    """Return the number of whole years; part of a year would give some seasons more weight."""
    first = period.first.astype("datetime64[M]")
    after = period.last + np.timedelta64(1, "D")
    months = int((after.astype("datetime64[M]") - first).astype(int))
    same_day = after - after.astype("datetime64[M]") == period.first - first
    if months < 12 or months % 12 or not same_day:
        raise InvalidInput(
            f"Climate indices are of whole years, and {period} is not: end it a year or more after its first day, the "
            "day before, like 1999-10-01..2008-09-30."
        )
    return months // 12


def _require_vacant(basin: Basin) -> None:
    """Raise where the basin has an index from elsewhere: all must have one source."""
    shown = [name for name in CLIMATE if name in basin.attributes]
    if shown and basins.CLIMATE_SOURCE not in basin.texts:
        raise DataProblem(
            f"{basin.id} has {', '.join(shown)} from its source or an operator, and a version may have learnt with "
            "these: they are not replaced, so give the missing indices in the same way."
        )


def _indices(session: Session, basin: Basin, product: str, period: Period) -> tuple[str, ClimateIndices]:
    """Return whose potential evapotranspiration it is, and the indices."""
    if basin.latitude is None:
        raise DataProblem(f"The location of {basin.id} is not known, and evaporation depends on it: give its latitude.")
    stored = {entry.variable for entry in series.catalogue(session, basin.id) if entry.product == product}
    wanted = (*_VARIABLES, *_ENERGY) if stored.issuperset(_ENERGY) else _VARIABLES
    weather = {name: _whole(session, basin.id, product, name, period) for name in wanted}
    temperature = (weather["tmin"] + weather["tmax"]) / 2
    above = extraterrestrial_radiation(period.days, basin.latitude)[:, 0]
    if wanted == _VARIABLES:
        evaporation, pet = "evapotranspiration by Oudin", potential_evapotranspiration(temperature, above)
    else:
        elevation = basin.attributes.get(_ELEVATION, 0.0)
        evaporation = f"evapotranspiration by Priestley and Taylor at {elevation:.0f} m"
        radiation = weather["srad"] * daylength(period.days, basin.latitude)[:, 0] * _JOULES
        net = net_radiation(radiation, above, weather["tmax"], weather["tmin"], weather["vp"], elevation)
        pet = priestley_taylor(net, temperature, elevation)
    return evaporation, climate_indices(weather["precipitation"], temperature, pet, period.days)


def _whole(session: Session, basin: str, product: str, variable: str, period: Period) -> Array:
    stored = series.read(session, basin, product, variable, period)
    missing = np.ones(len(period), dtype=bool) if stored is None else np.isnan(stored.values)
    if stored is None or missing.any():
        first = period.days[int(missing.argmax())]
        raise DataProblem(
            f"{basin} has no {variable} of {product} on {int(missing.sum())} of the {len(period)} days of {period}, "
            f"{first} the first: fetch or ingest them, or choose other years."
        )
    return stored.values.astype(np.float64)


def mean_pet(basin: Basin, forcing: Forcing, inputs: InputsConfig) -> float | Absent:
    """Return mean potential evapotranspiration in mm/day, or why it is unknown.

    Days with a missing temperature are left out.
    """
    if lacking := [name for name in TEMPERATURES if name not in inputs.auxiliary]:
        return absent(Reason.PET_LACKS_TEMPERATURE, variables=" and ".join(lacking))
    if basin.latitude is None:
        return absent(Reason.PET_LACKS_LATITUDE)
    radiation = extraterrestrial_radiation(forcing.period.days, basin.latitude)[:, 0]
    return float(np.nanmean(potential_evapotranspiration(mean_temperature(forcing, inputs)[0], radiation)))
