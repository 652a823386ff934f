"""/v1/weather"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from app.http.api_keys import By, Operator
from app.http.conditional import FOR_EVER, NOT_MODIFIED, SHORTLY, IfNoneMatch, tagged
from app.http.dependencies import (
    BasinId,
    IdCursor,
    JobSender,
    OpenDatabase,
    OptionalBasin,
    PageLimit,
    Reading,
    ServiceClock,
    ServiceSettings,
)
from app.http.limits.body_limit import LARGEST_UPLOAD, MIB
from app.http.pagination import next_page
from app.http.problems import Fault, InvalidRequest, UnsupportedMedia, documented, documented_writing
from app.jobs import service as jobs
from app.jobs.endpoints import POSTED, IdempotencyKey, posted
from app.jobs.schemas import Job
from app.weather import service
from app.weather.schemas import BasinWeather, WeatherDetail, WeatherPage
from jobspec.fields import ID, NAME
from jobspec.jobs.data import WeatherJob, WeatherParams
from jobspec.weather import WeatherDocument
from records.basins import basins
from records.basins.basins import UnknownBasin
from records.database.ids import new_id
from records.jobs.job_limits import TooManyUnfinishedJobs
from records.jobs.jobs import IdempotencyConflict
from records.weather.weather_issues import UnknownWeather
from workers.queue import uploads

router = APIRouter(prefix="/weather", tags=["weather"])

_SUFFIXES = {
    "application/json": ".json",
    "text/csv": ".csv",
    "application/x-netcdf": ".nc",
    "application/netcdf": ".nc",
}
_CSV = (
    "source,model,reference_time,basin,trace,date,precipitation_mm_per_day,tmax_degC,tmin_degC\n"
    "our-own,two-guesses,2026-11-22T00:00:00Z,OWN-mill,wet,2026-11-22,7.5,8,2\n"
)


def _document_schema() -> dict[str, Any]:
    """Return the JSON schema without references, which would point into the OpenAPI document."""
    schema = WeatherDocument.model_json_schema()
    schema["properties"]["basins"]["additionalProperties"] = schema.pop("$defs")["TracesOfBasin"]
    return schema


_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "JSON as shown; CSV with a row for each basin, trace and day; or NetCDF-CF with stations, days, "
        "realizations and a forecast_reference_time.",
        "content": {
            "application/json": {"schema": _document_schema()},
            "text/csv": {"schema": {"type": "string", "minLength": 1}, "example": _CSV},
            "application/x-netcdf": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}

WeatherId = Annotated[
    str,
    Path(description="A weather forecast's id.", pattern=ID, examples=["01a1f9952f438adb871a00"]),
]
_Name = Annotated[str | None, Query(pattern=f"^{NAME}$")]


@router.get("", summary="List weather forecasts", responses=documented(UnknownBasin))
def list_weather(
    request: Request,
    response: Response,
    session: Reading,
    clock: ServiceClock,
    basin: OptionalBasin = None,
    source: Annotated[_Name, Query(description="Only weather forecasts of this source.")] = None,
    model: Annotated[_Name, Query(description="Only weather forecasts of this model.")] = None,
    after: IdCursor = None,
    limit: PageLimit = 100,
) -> WeatherPage:
    """The weather forecasts known by the service's clock, the latest stored first, a page at a time: follow `next`
    until it is null. Every forecast that arrives is stored and never changes."""
    if basin is not None:
        basins.require(session, basin)
    issues, more = service.issues(
        session, clock.now(), basin=basin, source=source, model=model, after=after, limit=limit
    )
    query = {"basin": basin, "source": source, "model": model, "limit": limit}
    following = next_page(request, response, query, issues[-1].id if more else None)
    return WeatherPage(weather=issues, next=following)


@router.get(
    "/{weather}",
    summary="Read a weather forecast",
    responses=NOT_MODIFIED | documented(UnknownWeather),
    response_model=WeatherDetail,
)
def read_weather(
    session: Reading, clock: ServiceClock, response: Response, weather: WeatherId, if_none_match: IfNoneMatch = None
) -> WeatherDetail | Response:
    """Its source and model, and for each basin its days, traces and variables. Basins may still be added; stored ones
    never change."""
    return tagged(service.detail(session, weather, clock.now()), response, if_none_match, SHORTLY)


@router.get(
    "/{weather}/basins/{basin}",
    summary="A weather forecast's values for a basin",
    responses=NOT_MODIFIED | documented(UnknownWeather),
    response_model=BasinWeather,
)
def read_weather_of_basin(
    session: Reading,
    clock: ServiceClock,
    response: Response,
    weather: WeatherId,
    basin: BasinId,
    if_none_match: IfNoneMatch = None,
) -> BasinWeather | Response:
    """Daily values of each variable and trace: precipitation (mm/day), temperature (°C), radiation (W/m², the mean over
    daylight) and vapour pressure (Pa). It never changes, so it may be cached forever."""
    return tagged(service.of_basin(session, weather, basin, clock.now()), response, if_none_match, FOR_EVER)


async def _content(request: Request, _key: Operator) -> bytes:
    """Return the body; a dependency, because the endpoint writes to disk and may block."""
    return await request.body()


def _suffix(request: Request, _key: Operator) -> str:
    result = request.headers.get("Content-Type", "nothing").partition(";")[0].strip().lower()
    if result not in _SUFFIXES:
        raise UnsupportedMedia(
            f"Weather forecasts come as {', '.join(_SUFFIXES)}: name one of them in the Content-Type header."
        )
    return _SUFFIXES[result]


@router.post(
    "",
    status_code=202,
    summary="Send a weather forecast",
    description="One weather forecast of any basins, of one trace or several, at most "
    f"{LARGEST_UPLOAD // MIB} MiB at once. A job checks and stores it: a basin with invalid weather is refused "
    "by name, and the others are stored; repeating the request stores nothing new. One sent with an operator's key is "
    "used by forecasts that name it; one sent with an admin's key is used like those of a feed.",
    responses=POSTED | documented_writing(IdempotencyConflict, TooManyUnfinishedJobs, UnsupportedMedia),
    openapi_extra=_BODY,
)
def post_weather(
    response: Response,
    key: Operator,
    actor: By,
    suffix: Annotated[str, Depends(_suffix)],
    content: Annotated[bytes, Depends(_content)],
    settings: ServiceSettings,
    database: OpenDatabase,
    sender: JobSender,
    clock: ServiceClock,
    idempotency_key: IdempotencyKey = None,
) -> Job:
    if not content.strip():
        raise InvalidRequest([Fault(location="body", field="", detail="it is empty: send a weather forecast")])
    # With an idempotency key, the same request again must name the same file.
    request = f"{key.id} weather {idempotency_key or new_id(clock.wall())}"
    maximum = settings.unfinished_jobs_per_key
    with uploads.stored(settings.data, content, suffix, request) as path:
        job = WeatherJob(params=WeatherParams(weather_file=str(path)))
        saved, created = jobs.post(
            database,
            sender,
            clock,
            key,
            job,
            actor=actor,
            idempotency_key=idempotency_key,
            most_unfinished=maximum,
            action="weather posted",
        )
    return posted(response, saved, created)
