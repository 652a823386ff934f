"""What the General Adapter of Delft-FEWS adds to the core."""

from jobspec.extensions import Extension

EXTENSION = Extension(package=__package__, commands={"fews": "command:fews"}, panel="Forecasts", guide=["fews.md"])
