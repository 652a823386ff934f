"""What plots add to the core."""

from importlib.util import find_spec

from jobspec.extensions import Extension

CAN_DRAW = find_spec("matplotlib") is not None
EXTENSION = Extension(
    package=__package__,
    routers=["endpoints:router"] if CAN_DRAW else [],
    hydrograph="hydrograph" if CAN_DRAW else None,
    costs={"/v1/basins/{basin}/hydrograph": 40},
    commands={"plot": "command:plot"},
    panel="Forecasts",
)
