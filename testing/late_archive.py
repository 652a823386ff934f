"""An archive whose days are taken out of a store and brought back later, as feeds bring them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time

import numpy as np
from sqlalchemy import delete
from sqlalchemy.orm import Session

from hydrology.base.basins import gauge_product
from hydrology.base.calendar import Day, Period, as_date, day
from hydrology.base.products import WEATHER
from hydrology.base.series import DailySeries
from hydrology.weather.bridge import BRIDGED
from hydrology.weather.forcing import WeatherForecast, WeatherIssue
from ingestion.base import BasinData, SourceFile, SourceSeries
from operations.basin_data.ingest import store
from records.database.engine import Database
from records.series import series
from records.series.year_rows import SERIES
from records.weather import weather_issues
from runtime.clock import Clock

FILE = SourceFile("late.csv", "0" * 64, 1)


@dataclass(frozen=True)
class LateArchive:
    """All days of the weather of a product and of the flow of some basins.

    Attributes:
        series: by basin and product, each variable's.
    """

    product: str
    series: Mapping[tuple[str, str], Mapping[str, DailySeries]]

    @classmethod
    def take(cls, database: Database, product: str, names: Sequence[str], until: Day) -> "LateArchive":
        """Take the days after one out of a store."""
        with database.transaction() as session:
            products = [(name, of) for name in names for of in (product, gauge_product(name))]
            archive = cls(product, {key: _observed(session, *key) for key in products})
            for name, of in products:
                session.execute(delete(SERIES).filter_by(basin_id=name, product=of))
        for days in {one.period.first for of in archive.series.values() for one in of.values()}:
            archive.bring(database, Clock(), Period(days, until))
        return archive

    def bring(
        self,
        database: Database,
        clock: Clock,
        days: Period,
        *,
        weather: bool = True,
        flow: bool = True,
        variables: Collection[str] | None = None,
    ) -> None:
        """Bring some days of the weather, of the flow, or of chosen variables."""
        with database.transaction() as session:
            for (name, product), of in self.series.items():
                if not (weather if product == self.product else flow):
                    continue
                brought = tuple(
                    SourceSeries(product, variable, one.over(shared), FILE)
                    for variable, one in of.items()
                    if (variables is None or variable in variables) and (shared := one.period.overlap(days))
                )
                store(session, BasinData(basin=name, series=brought, files=(FILE,)), clock)

    def values(self, name: str, days: Period) -> dict[str, np.ndarray]:
        """Return a basin's weather of some days."""
        of = self.series[name, self.product]
        return {variable: of[variable].over(days).values.astype(np.float32) for variable in BRIDGED}

    def forecast(
        self,
        database: Database,
        at: datetime,
        first: Day,
        days: int,
        *,
        warmer: Sequence[float] = (0.0,),
        model: str = "late",
        wetter: float = 1.0,
    ) -> str:
        """Store the forecast of a weather model and return its id.

        It is the weather that comes, each trace by some degrees too warm, with a factor of precipitation.
        """
        issue = WeatherIssue(
            source="late",
            model=model,
            reference_time=datetime.combine(as_date(first), time(), at.tzinfo),
            available_time=at,
        )
        forecasts = []
        for name in dict.fromkeys(name for name, _ in self.series):
            values = self.values(name, Period(first, first + np.timedelta64(days - 1, "D")))
            values["precipitation"] = wetter * values["precipitation"]
            of_traces = {
                variable: np.stack([one + degrees * (variable in ("tmax", "tmin")) for degrees in warmer])
                for variable, one in values.items()
            }
            forecasts.append(
                WeatherForecast(
                    issue=issue,
                    basin=name,
                    traces=tuple(f"t{number}" for number in range(len(warmer))),
                    first=day(str(first)),
                    values={variable: one.astype(np.float32) for variable, one in of_traces.items()},
                    units={variable: WEATHER[variable].unit for variable in BRIDGED},
                )
            )
        with database.transaction() as session:
            return weather_issues.store(session, forecasts, at, operational=True).issue_id


def _observed(session: Session, name: str, product: str) -> dict[str, DailySeries]:
    ((_, found),) = series.read_product(session, [name], product)
    wanted = BRIDGED if product != gauge_product(name) else ("discharge",)
    return {variable: one for variable, one in found.items() if isinstance(one, DailySeries) and variable in wanted}
