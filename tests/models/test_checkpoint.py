"""Weight files of others are read whole or refused in a sentence."""

import json

import pytest
import torch

from hydrology.base.errors import DataProblem
from models import checkpoint


def blob(metadata: object, name: str = "a") -> bytes:
    """Return safetensors with one empty tensor."""
    shown = {"__metadata__": metadata, name: {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]}}
    header = json.dumps(shown).encode()
    return len(header).to_bytes(8, "little") + header


def test_written_data_are_read_back() -> None:
    tensors, header = checkpoint.parse(checkpoint.dump({"a": torch.ones(2)}, {"step": 3}))
    assert tensors["a"].tolist() == [1, 1]
    assert header == {"step": 3}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        bytes(50),
        blob(None),
        blob({}),
        blob({"header": "["}),
        blob({"header": "[" * 5000}),
        blob({"header": "null"}),
        blob({"header": "[]"}),
        blob({"other": "{}"}, "a\n\x1b" * 1000),
    ],
)
def test_a_file_that_is_not_a_checkpoint_is_refused_in_a_short_sentence(content: bytes) -> None:
    with pytest.raises(DataProblem, match="cannot be read") as problem:
        checkpoint.parse(content)
    assert len(str(problem.value)) < 400
    assert str(problem.value).isprintable()
