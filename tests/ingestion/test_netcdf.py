"""Damaged files at which the library that reads NetCDF crashes or never ends are refused, and the process goes on."""

import struct
from collections.abc import Callable

import pytest

from ingestion.base import SourceError, described
from ingestion.netcdf import opened
from testing.files import caravan as caravan_files

# HDF5 stores texts in a heap: a signature, 12 bytes, then objects, each with a number, 6 bytes and its size; the one
# with the number 0 is what is free.
SIGNATURE, HEADER, OBJECT = b"GCOL", 16, 16


def without_signature() -> bytes:
    return caravan_files.netcdf().replace(SIGNATURE, b"GCOX")


def with_too_little_free() -> bytes:
    content = bytearray(caravan_files.netcdf())
    at = content.index(SIGNATURE) + HEADER
    while (number := struct.unpack_from("<H", content, at)[0]) != 0:
        size = struct.unpack_from("<Q", content, at + 8)[0]
        assert number < 1000
        at += OBJECT + -(-size // 8) * 8
    struct.pack_into("<Q", content, at + 8, OBJECT)
    return bytes(content)


@pytest.mark.extended
@pytest.mark.parametrize("make", [without_signature, with_too_little_free])
def test_a_file_that_crashes_or_hangs_the_library_is_refused(make: Callable[[], bytes]) -> None:
    content = make()
    refused = pytest.raises(SourceError, match=r"damaged.*fetch the file again")
    with refused, opened(described("damaged.nc", content), content):
        pass


def test_the_same_file_undamaged_is_read() -> None:
    content = caravan_files.netcdf()
    with opened(described("whole.nc", content), content) as dataset:
        assert "streamflow" in dataset.variables
