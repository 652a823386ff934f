"""Everything that can be read of a service: each address of its OpenAPI document, in each form that it has."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import httpx2
from netCDF4 import Dataset

from extensions.edr import FORECASTS
from testing.country import BASINS
from testing.filled_store import FILLED_UNTIL, FilledStore
from testing.synthetic import archive as synthetic

OF_THE_PROCESS = ("/metrics", "/v1/status", "/health/live", "/health/ready", "/v1/archive", "/v1/archive/{path}")
"""The addresses that describe the running service and not its stored data."""
AREA = "POLYGON((-180 -90,180 -90,180 90,-180 90,-180 -90))"
NETCDF = "application/x-netcdf"

Answers = dict[tuple[str, str], bytes]
"""The status and the bytes of each answer, by its address and form."""


def answers(address: str, stored: FilledStore) -> Answers:
    """Return what a service answers at each address in each form."""
    headers = {"Authorization": f"Bearer {stored.token}", "Host": "localhost"}  # a link repeats the host
    with httpx2.Client(base_url=address, headers=headers, trust_env=False, timeout=60) as client:
        document = client.get("/openapi.json").raise_for_status().json()
        shown = {}
        gauge = client.get(f"/v1/basins/{BASINS[0]}").raise_for_status().json()
        place = f"POINT({gauge['longitude']} {gauge['latitude']})"
        for path, form in readable(document, stored, place):
            answer = client.get(path, headers={"Accept": form})
            content = _without_time(answer.content) if form == NETCDF and answer.is_success else answer.content
            shown[path, form] = f"{answer.status_code} ".encode() + content
        return shown


def readable(document: dict[str, Any], stored: FilledStore, place: str) -> Iterator[tuple[str, str]]:
    """Return the addresses of an OpenAPI document, each with a form that it can be had in."""
    names = {name: getattr(stored, name) for name in FilledStore.__dataclass_fields__}
    names |= {
        "basin": BASINS[0],
        "collection": FORECASTS,
        "job": stored.ended[0],
        "day": stored.t0,
        "issue": f"{FILLED_UNTIL:%Y-%m-%d}",
        "instance": stored.run,
    }
    for path, methods in document["paths"].items():
        if "get" in methods and path not in OF_THE_PROCESS:
            needed = [one["name"] for one in methods["get"].get("parameters", []) if one["required"]]
            coords = place if path.endswith("/position") else AREA
            asked = {"product": synthetic.PRODUCT, "bbox": "-180,-90,180,90", "coords": coords}
            query = "?" + urlencode({name: asked[name] for name in needed if name in asked})
            for form in methods["get"]["responses"]["200"]["content"]:
                yield path.format_map(names) + query, form


def _without_time(content: bytes) -> bytes:
    """Return all that a NetCDF file holds, without the second of creation that HDF5 writes into it."""
    with Dataset("memory.nc", memory=content) as file:
        file.set_auto_maskandscale(False)
        parts = [file.__dict__, *((name, part.__dict__, part[...].tobytes()) for name, part in file.variables.items())]
        return repr(parts).encode()
