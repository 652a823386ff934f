"""What the spread of forecasts adds to the core."""

from jobspec.extensions import Extension

EXTENSION = Extension(package=__package__, routers=["endpoints:router"])
