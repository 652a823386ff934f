"""What plots add to the core."""

from jobspec.extensions import Extension

EXTENSION = Extension(package=__package__, commands={"plot": "command:plot"}, panel="Forecasts")
