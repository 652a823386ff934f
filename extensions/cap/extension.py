"""What messages of the Common Alerting Protocol and feeds of alerts add to the core."""

from jobspec.extensions import Extension

EXTENSION = Extension(
    package=__package__,
    routers=["endpoints:router"],
    commands={"alerts cap": "command:cap"},
    alert_feed="feed_selection:feed_address",
    guide=["cap.md"],
)
