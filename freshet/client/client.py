"""The client: answers of the API as they are documented there, each with its type."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime
from types import TracebackType
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ValidationError

from app.alerts.schemas import Alert, Alerts
from app.basins.observations.schemas import Observations
from app.basins.schemas import BasinDetail, BasinPage, BasinSummary
from app.forecasts.exceedance.schemas import ExceedanceOfRun
from app.forecasts.rain_margin.schemas import RainMarginOfRun
from app.forecasts.runs.schemas import RunPage, RunSummary
from app.forecasts.schemas import BasinForecast, BasinForecasts
from app.jobs.schemas import Job, JobPage
from app.models.schemas import ModelPage, ModelSummary
from freshet.client.connection import Connection
from freshet.client.problems import ServiceError
from hydrology.base.errors import DataProblem

ENDED = ("succeeded", "failed", "cancelled")
SECONDS_BETWEEN_LOOKS = 0.3

Answer = TypeVar("Answer", bound=BaseModel)
Page = TypeVar("Page", BasinPage, RunPage, ModelPage, JobPage, Alerts)


class Client:
    """Talks to one service. Unknown fields of a newer service's answers are ignored.

    Every method raises `Refused` where the service reports a problem, with its type, title and detail, and
    `ServiceError` where it does not answer. Reading requests are retried while the service is unavailable.

    Args:
        address: such as http://127.0.0.1:8000.
        key: of an operator or admin; without one only public data can be read.

    Raises:
        InvalidInput: the address cannot be used.
    """

    def __init__(self, address: str, key: str | None = None) -> None:
        self._connection = Connection(address, key)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; `with` does so, too."""
        self._connection.close()

    def ready(self) -> bool:
        """Return whether the service can answer."""
        return self._connection.is_up("/health/ready")

    def basins(self, q: str | None = None, huc: str | None = None, bbox: str | None = None) -> Iterator[BasinSummary]:
        """Yield basins in the order of their identifiers.

        Args:
            q: a part of the identifier or the name.
            huc: the beginning of the hydrologic unit code.
            bbox: `minlon,minlat,maxlon,maxlat`.
        """
        return (item for page in self._pages(BasinPage, "/v1/basins", q=q, huc=huc, bbox=bbox) for item in page.basins)

    def basin(self, basin: str) -> BasinDetail:
        """Return what is known of a basin."""
        return self._read(BasinDetail, f"/v1/basins/{basin}")

    def forecast(
        self, basin: str, *, units: str = "m3/s", members: bool = False, known_at: datetime | None = None
    ) -> BasinForecast:
        """Return the latest forecast of a basin.

        Args:
            units: of discharge: m3/s, mm/day or cfs.
            members: whether to include every member.
            known_at: as of an instant, with its offset.
        """
        path = f"/v1/basins/{basin}/forecasts/latest"
        return self._read(BasinForecast, path, units=units, members=members, known_at=known_at)

    def forecasts(
        self, basins: Sequence[str], *, units: str = "m3/s", known_at: datetime | None = None
    ) -> BasinForecasts:
        """Return the latest forecasts of up to 500 basins in one answer."""
        asked = {"basins": ",".join(basins), "units": units, "known_at": known_at}
        return self._read(BasinForecasts, "/v1/forecasts", **asked)

    def forecast_of_run(self, run: str, basin: str, *, units: str = "m3/s", members: bool = False) -> BasinForecast:
        """Return the forecast of a given run for a basin."""
        return self._read(BasinForecast, f"/v1/runs/{run}/basins/{basin}", units=units, members=members)

    def runs(
        self, basin: str | None = None, *, t0_from: date | None = None, t0_to: date | None = None
    ) -> Iterator[RunSummary]:
        """Yield runs, the newest first: of a basin, with T0 in a period."""
        asked = {"basin": basin, "t0_from": t0_from, "t0_to": t0_to}
        return (item for page in self._pages(RunPage, "/v1/runs", **asked) for item in page.runs)

    def observations(
        self,
        basin: str,
        product: str,
        variable: str | None = None,
        *,
        start: date | None = None,
        end: date | None = None,
        units: str | None = None,
    ) -> Observations:
        """Return daily series of a product in a basin.

        Args:
            product: `usgs` for gauged discharge, or a weather product; `basin` lists the stored ones.
            units: of discharge: m3/s (default), mm/day, cfs, or `source` for the unit that it is stored in.
        """
        asked = {"product": product, "variable": variable, "start": start, "end": end, "units": units}
        return self._read(Observations, f"/v1/basins/{basin}/observations", **asked)

    def exceedance(self, basin: str, *, discharge: float | None = None, units: str = "m3/s") -> ExceedanceOfRun:
        """Return the exceedance probabilities of a basin's levels, or of a discharge."""
        return self._read(ExceedanceOfRun, f"/v1/basins/{basin}/exceedance", discharge=discharge, units=units)

    def rain_margin(self, basin: str, *, discharge: float | None = None, units: str = "m3/s") -> RainMarginOfRun:
        """Return the rain that takes flow to a basin's levels, or to a discharge."""
        return self._read(RainMarginOfRun, f"/v1/basins/{basin}/rain-margin", discharge=discharge, units=units)

    def alerts(self, least_severity: str = "advisory") -> Iterator[Alert]:
        """Yield the active alerts of all basins."""
        return (
            item for page in self._pages(Alerts, "/v1/alerts", least_severity=least_severity) for item in page.alerts
        )

    def models(self) -> Iterator[ModelSummary]:
        """Yield model versions, the newest first."""
        return (item for page in self._pages(ModelPage, "/v1/models") for item in page.models)

    def post_job(self, kind: str, params: dict[str, Any]) -> Job:
        """Post a job, once."""
        return _parsed(Job, self._connection.post("/v1/jobs", {"kind": kind, "params": params}))

    def job(self, job: str) -> Job:
        """Return a job's current state."""
        return self._read(Job, f"/v1/jobs/{job}")

    def jobs(self, *, status: str | None = None, parent: str | None = None) -> Iterator[Job]:
        """Yield jobs, the newest first: of a status, or the parts of another job."""
        return (item for page in self._pages(JobPage, "/v1/jobs", status=status, parent=parent) for item in page.jobs)

    def watch(self, job: str, on_look: Callable[[Job], None] = lambda _job: None) -> Job:
        """Wait until a job has ended, and return it.

        Args:
            on_look: called with the job's current state at each poll.

        Raises:
            DataProblem: it failed or was cancelled; the sentence is the job's.
        """
        while (found := self.job(job)).status not in ENDED:
            on_look(found)
            time.sleep(SECONDS_BETWEEN_LOOKS)
        on_look(found)
        if found.status != "succeeded":
            result = (found.problem and found.problem.detail) or "somebody asked for it."
            raise DataProblem(f"Job {job} {found.status}: {result}")
        return found

    def get(self, path: str, **params: Any) -> Any:
        """Return the JSON of any path that has no method here."""
        content = self._connection.get(path, params)
        try:
            return json.loads(content)
        except ValueError:
            raise _no_answer(path) from None

    def _read(self, answer: type[Answer], path: str, **params: Any) -> Answer:
        """Return the answer of a path; days and instants among the parameters are written in ISO 8601."""
        written = {name: value.isoformat() if isinstance(value, date) else value for name, value in params.items()}
        return _parsed(answer, self._connection.get(path, written))

    def _pages(self, page: type[Page], path: str, **params: Any) -> Iterator[Page]:
        """Yield the pages of a list.

        Raises:
            ServiceError: pagination leads back to a page already read.
        """
        seen: set[str] = set()
        found = self._read(page, path, **params)
        yield found
        while found.next is not None:
            if found.next in seen:
                raise ServiceError(
                    f"The pages of {path} lead back to a page already read: report this to the operator of the service."
                )
            seen.add(found.next)
            found = self._read(page, found.next)
            yield found


def _parsed(answer: type[Answer], content: bytes) -> Answer:
    try:
        return answer.model_validate_json(content, extra="ignore")
    except ValidationError:
        raise _no_answer(answer.__name__) from None


def _no_answer(what: str) -> ServiceError:
    return ServiceError(f"The answer is not {what} as this version of Freshet knows it: use the service's version.")
