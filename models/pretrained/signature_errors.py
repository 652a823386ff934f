"""The shipped errors of signatures that are estimated without a gauge, by shipped ensemble.

`signature_errors.json` is written by `python -m benchmarks.regional signatures`, from basins never seen.
"""

from collections.abc import Mapping
from functools import lru_cache

from pydantic import TypeAdapter

from hydrology.extremes.signatures import SignatureErrors
from models.pretrained import SHELF, form

FILE = SHELF / "signature_errors.json"
BY_ENSEMBLE = TypeAdapter(Mapping[str, SignatureErrors])


@lru_cache(maxsize=1)
def shipped_signature_errors() -> Mapping[str, SignatureErrors]:
    """Return the errors by the name of the shipped ensemble."""
    return BY_ENSEMBLE.validate_json(form.read_file(FILE))
