"""Digests are stored and compared with later ones: their values never change."""

from pathlib import Path

import numpy as np

from hydrology.base import digests

RIVER = "5f5a8ed8f139be6df7cf8f4a91d3e4649961a98c82fd521c18d6f292b031a319"


def test_of_bytes_and_files(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"river")
    assert digests.sha256(b"river") == digests.file_sha256(file) == RIVER
    assert digests.short_name(b"river") == RIVER[:16]
    assert digests.owned_digest("run basin", b"river", 8).hex() == "1fb02f5759ba97ae"


def test_of_json_values() -> None:
    expected = "e57f5d37865437a82e1108bafb4e5213dfe7e9085f5c253341ebbab30cac5faf"
    assert (
        digests.fingerprint({"b": [1, 2.5], "a": None}) == digests.fingerprint({"a": None, "b": [1, 2.5]}) == expected
    )


def test_of_arrays() -> None:
    arrays = {"cells": np.arange(6, dtype=np.float32).reshape(2, 3), "sum": np.array(2, np.float32)}
    expected = "4425a002bdab2bdcbbb442719d71f82a2dcf37a7630275bd12c680ec55b5bace"
    assert digests.named_arrays_sha256(arrays) == expected
    inputs = np.array([1, np.nan], np.float32)
    expected = "973ed3c56fa0edfdd8b40dc0052e43819d2eab7cc34b2a77dee102f0b92e5d31"
    assert digests.inputs_sha256(inputs) == digests.inputs_sha256(np.array([1, -np.nan], np.float32)) == expected
