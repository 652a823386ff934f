"""Files of trained ensembles: their description, weights, error model and snow, and saved states."""

import json
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np

from benchmarks.fuzz.target import Target, laid_down, scratch
from extensions.shipping.attachments import write_errors
from extensions.shipping.writing import Finished, write
from hydrology.base.calendar import day
from models import checkpoint, saved_state
from models.ensemble import Ensemble
from models.networks import build
from models.pretrained import SHELF, attachments, form
from models.pretrained.form import CARD, load, owner
from models.saved_state import Owner, SavedState
from testing.networks import config

MEMBER = "member-00.safetensors"
NAME = "small"


@cache
def small() -> form.Ensemble:
    """Return an ensemble of one untrained member of four cells."""
    training = config()
    network = build(training.network, training.inputs, seed=0, basins=1)
    scaler = {"auxiliary_mean": [0.0] * 3, "auxiliary_sd": [1.0] * 3, "static_mean": [0.0] * 4, "static_sd": [1.0] * 4}
    origin = form.Origin.model_validate(
        {
            "config": training.model_dump(mode="json"),
            "scaler": scaler,
            "basins": ["USGS-01013500"],
            "attribute_ranges": dict.fromkeys(training.inputs.static, (0.0, 1.0)),
            "data_hash": "0",
            "code_version": "0",
            "uses": "best",
        }
    )
    folder = scratch() / NAME
    weights = checkpoint.dump({name: tensor.half() for name, tensor in network.state_dict().items()}, {})
    write(folder, origin, [Finished(0, 0, weights, {})])
    (folder / CARD).write_text("A card.\n")
    return form.read(folder)


@cache
def _files() -> dict[str, bytes]:
    """Return the files of the small ensemble."""
    return {path.name: path.read_bytes() for path in small().folder.iterdir() if path.is_file()}


def _changed(name: str, content: bytes) -> Path:
    """Return a folder with the small ensemble, one file of it other."""
    for file, blob in (_files() | {name: content}).items():
        laid_down(f"{NAME}/{file}", blob)
    return scratch() / NAME


def _read_description(content: bytes) -> None:
    load(form.read(_changed(form.DESCRIPTION, content)))


def _descriptions() -> list[bytes]:
    return [_files()[form.DESCRIPTION]]


def _read_weights(content: bytes) -> None:
    """Read weights that the description names: whoever ships an ensemble writes both."""
    described = small().description.model_dump(mode="json")
    described["members"][0]["sha256"] = sha256(content).hexdigest()
    folder = _changed(MEMBER, content)
    laid_down(f"{NAME}/{form.DESCRIPTION}", json.dumps(described).encode())
    load(form.read(folder))


def _read_errors(content: bytes) -> None:
    _changed(attachments.ERRORS_FILE, content)
    attachments.read_errors(small())


def _read_snow(content: bytes) -> None:
    _changed(attachments.SNOW_FILE, content)
    attachments.read_snow(small())


@cache
def _loaded() -> tuple[Ensemble, Owner]:
    return load(small()), owner(small())


def _read_state(content: bytes) -> None:
    ensemble, whose = _loaded()
    saved_state.parse(content, whose, ensemble).of(["USGS-01013500"])


def _states() -> Iterator[bytes]:
    ensemble, whose = _loaded()
    cells = {name: np.asarray(tensor) for name, tensor in ensemble.networks[0].empty_state(1).items()}
    yield saved_state.dump(SavedState(whose, ("USGS-01013500",), day("2005-04-30"), (400,), [cells]))
    yield from _headers()


def _weights() -> list[bytes]:
    return [_files()[MEMBER], *_headers()]


def _headers() -> Iterator[bytes]:
    """Give files of safetensors whose headers are not ours."""
    for metadata in (None, {}, {"header": "[" * 5000}, {"header": "null"}, {"header": "[]"}, {"header": "\ud800"}):
        for name in ("a\n\x1b", "a" * 4000):
            shown = {"__metadata__": metadata, name: {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]}}
            header = json.dumps(shown).encode()
            yield len(header).to_bytes(8, "little") + header


def _errors() -> Iterator[bytes]:
    """Give the error model of a shipped ensemble, for two basins of it."""
    shipped = attachments.read_errors(form.read(SHELF / "mclstm-maurer-447"))
    assert shipped is not None
    basins = dict(list(shipped.basins.items())[:2])
    few = attachments.ShippedErrors(
        shipped.period, shipped.days, shipped.shape, shipped.regional, shipped.for_unseen, basins
    )
    write_errors(small(), few)
    yield (scratch() / NAME / attachments.ERRORS_FILE).read_bytes()
    yield from _headers()


def _snow() -> Iterator[bytes]:
    shown = json.loads((SHELF / "mclstm-maurer-447" / attachments.SNOW_FILE).read_bytes())
    shown["content"], shown["snow"]["cells"] = small().content, {"0": [1, 2]}
    yield json.dumps(shown).encode()


_TENSORS = ("dtype", "F16", "shape", "data_offsets", "__metadata__", "header", "BOOL", "F8_E4M3")

TARGETS = {
    "ensemble-weights": Target(_read_weights, _weights, _TENSORS, longest=32_768, in_c=True),
    "ensemble-description": Target(_read_description, _descriptions, ("config", "twin", "tuning", "1e999")),
    "ensemble-errors": Target(_read_errors, _errors, _TENSORS, longest=65_536, in_c=True),
    "ensemble-snow": Target(_read_snow, _snow, ("cells", "bands", "1e999")),
    "saved-state": Target(_read_state, _states, _TENSORS, longest=16_384, in_c=True),
}
