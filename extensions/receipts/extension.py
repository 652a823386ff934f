"""What receipts of runs add to the core."""

from jobspec.extensions import Extension

EXTENSION = Extension(package=__package__, commands={"reproduce": "command:reproduce"}, panel="Forecasts")
