"""Own basins into the records, and observations into the data folder."""

import os
import tempfile
from datetime import datetime
from pathlib import Path

from sqlalchemy.orm import Session

from app.user_basins.schemas import OwnBasin
from hydrology.errors import InvalidInput
from records import basins, states
from records.ids import sha256

TAKEN = ("USGS", "SYNTH", "CARAVAN")
_M2_PER_KM2 = 1e6


class TakenNamespace(InvalidInput):
    """The basin belongs to a namespace that has a source of its own."""

    kind = "taken-namespace"


def register(session: Session, basin: str, own: OwnBasin, at: datetime) -> bool:
    """Keep what is said of an own basin, and return whether it is new.

    A state of which an attribute is revised counts no more.

    Raises:
        TakenNamespace: the basin is not an own one.
    """
    namespace = basin.partition("-")[0]
    if namespace in TAKEN:
        raise TakenNamespace(f"{namespace} has a source of its own: name yours in another namespace, like OWN-mill.")
    area = {own.product: own.area_km2 * _M2_PER_KM2}
    attributes = own.attributes | {"area_km2": own.area_km2}
    said = basins.Basin(basin, own.name, own.latitude, own.longitude, own.huc, area, attributes)
    changes = basins.upsert(session, said)
    if any(name.startswith("attributes.") and old is not None for name, (old, _) in changes.items()):
        states.invalidate_all(session, basin, "an attribute was revised", at)
    return "id" in changes


def keep_upload(data: Path, content: bytes, suffix: str) -> Path:
    """Keep an upload under the SHA-256 of what it holds, whole or not at all, and return where."""
    folder = data / "uploads"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"{sha256(content)}{suffix}"
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as part:  # its mode is 600
        try:
            part.write(content)
            part.flush()
            os.fsync(part.fileno())
            Path(part.name).replace(path)
        except BaseException:
            Path(part.name).unlink(missing_ok=True)
            raise
    return path
