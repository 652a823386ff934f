"""What EDR adds to the core."""

from extensions.edr import FORECASTS
from jobspec.extensions import Extension

EXTENSION = Extension(
    package=__package__,
    routers=["endpoints:router"],
    tags={"edr": "Forecasts and observed flow for clients of OGC API - EDR."},
    guide=["edr.md"],
    path_examples={"collection": FORECASTS, "instance": "{run}"},
    costs={"/v1/edr/collections": 8, "/v1/edr/collections/{rest:path}": 8},
)
