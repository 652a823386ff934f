"""/v1/weather: weather forecasts as sent and fetched."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response

from app.exports.answers import JsonAnswer, documented_responses
from app.exports.fields import Listing, documented_list, listing
from app.http.api_keys import KeyFirstRoute
from app.http.conditional import FOR_EVER
from app.http.dependencies import BasinId, OptionalBasin, Reading, ServiceClock, id_path
from app.http.limits.body_limit import LARGEST_UPLOAD, MIB
from app.http.problems import UnsupportedMedia
from app.jobs.posting import Job, JobPoster, Upload, documented_posting, upload_of
from app.weather.schemas import BasinWeather, WeatherDetail, WeatherPage, detail, of_basin
from jobspec.fields import NAMED
from jobspec.jobs.data import WeatherJob, WeatherParams
from jobspec.new_data import WeatherDocument
from records.basins import basins
from records.weather import weather_issues
from records.weather.weather_issues import UnknownWeather

router = APIRouter(prefix="/weather", tags=["weather"], route_class=KeyFirstRoute)

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

WeatherUpload = Annotated[
    Upload,
    Depends(
        upload_of(
            _SUFFIXES,
            refusal=f"Weather forecasts come as {', '.join(_SUFFIXES)}: name one of them in the Content-Type header.",
            empty="it is empty: send a weather forecast",
        )
    ),
]
WeatherId = Annotated[str, id_path("A weather forecast's id.", "01a1f9952f438adb871a00")]
_Name = Annotated[str | None, Query(pattern=NAMED)]


@router.get("", summary="List weather forecasts", **documented_list(WeatherPage, basins.UnknownBasin))
def list_weather(
    session: Reading,
    clock: ServiceClock,
    page: Annotated[Listing, listing(WeatherPage)],
    basin: OptionalBasin = None,
    source: Annotated[_Name, Query(description="Only weather forecasts of this source.")] = None,
    model: Annotated[_Name, Query(description="Only weather forecasts of this model.")] = None,
) -> Response:
    """The weather forecasts known by the service's clock, the latest stored first, a page at a time: follow `next`
    until it is null. Every forecast that arrives is stored and never changes."""
    if basin is not None:
        basins.require(session, basin)
    chosen = {"basin": basin, "source": source, "model": model, "after": page.after}
    return page.of(weather_issues.list_issues(session, clock.now(), **chosen, limit=page.sought), list)


@router.get("/{weather}", summary="Read a weather forecast", **documented_responses(WeatherDetail, UnknownWeather))
def read_weather(session: Reading, clock: ServiceClock, weather: WeatherId, answer: JsonAnswer) -> Response:
    """Its source and model, and for each basin its days, traces and variables. Basins may still be added; stored ones
    never change."""
    return answer.of(detail(session, weather, clock.now()))


@router.get(
    "/{weather}/basins/{basin}",
    summary="A weather forecast's values for a basin",
    **documented_responses(BasinWeather, UnknownWeather),
)
def read_weather_of_basin(
    session: Reading, clock: ServiceClock, weather: WeatherId, basin: BasinId, answer: JsonAnswer
) -> Response:
    """Daily values of each variable and trace: precipitation (mm/day), temperature (°C), radiation (W/m², the mean over
    daylight) and vapour pressure (Pa). It never changes, so it may be cached forever."""
    return answer.of(of_basin(session, weather, basin, clock.now()), cache_control=FOR_EVER)


@router.post(
    "",
    status_code=202,
    summary="Send a weather forecast",
    description="One weather forecast of any basins, of one trace or several, at most "
    f"{LARGEST_UPLOAD // MIB} MiB at once. A job checks and stores it: a basin with invalid weather is refused "
    "by name, and the others are stored; the job's messages call the file as the header `Content-Disposition: "
    "attachment; filename=...` does; repeating the request stores nothing new. One sent with an operator's key is "
    "used by forecasts that name it; one sent with an admin's key is used like those of a feed.",
    responses=documented_posting(UnsupportedMedia),
    openapi_extra=_BODY,
)
def post_weather(poster: JobPoster, upload: WeatherUpload) -> Job:
    def job(stored: str, name: str) -> WeatherJob:
        return WeatherJob(params=WeatherParams(weather_file=stored, name=name))

    return poster.post_file(upload, "weather", job, "weather posted")
