"""What the service of Daymet adds to the core."""

from jobspec.extensions import Extension

EXTENSION = Extension(
    package=__package__,
    feed_kinds={"feed_kinds:DaymetSettings": "feed:weather_feed"},
    settings="settings:DaymetService",
)
