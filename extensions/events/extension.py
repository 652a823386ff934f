"""What the scores of events add to the core."""

from jobspec.extensions import Extension

EXTENSION = Extension(
    package=__package__,
    routers=["endpoints:router"],
    commands={"events": "command:events"},
    panel="Alerts and skill",
)
