"""What grids of weather add to the core, where the libraries that read them are installed."""

from importlib.util import find_spec

from jobspec.extensions import Extension

CAN_READ = all(find_spec(library) is not None for library in ("eccodes", "exactextract"))
EXTENSION = Extension(
    package=__package__,
    feed_kinds={
        "feed_kinds:GridSettings": "feeds:observed_feed",
        "feed_kinds:GridForecastSettings": "feeds:forecast_feed",
    }
    if CAN_READ
    else {},
    weather_grid="feeds:read_forecast" if CAN_READ else None,
    guide=["grid.md"],
)
