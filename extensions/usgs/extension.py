"""What the service of USGS adds to the core."""

from jobspec.extensions import Extension

EXTENSION = Extension(
    package=__package__,
    routers=("endpoints:router",),
    commands={"ratings versions": "command:show_versions", "ratings decide": "command:decide"},
    feed_kinds={
        "feed_kinds:UsgsSettings": "feed:discharge_feed",
        "feed_kinds:RatingsSettings": "ratings:ratings_feed",
        "feed_kinds:UsgsNowSettings": "measured:measured_feed",
    },
    gauges={"USGS": "gauges:gauge"},
    settings="settings:UsgsService",
)
