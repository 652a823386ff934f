"""The archive of a service as a store of the library `zarr`, which reads it by ranges of bytes."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable

from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
from zarr.core.buffer import Buffer, BufferPrototype

from freshet_client.connection import Refused

Read = Callable[[str, str | None], bytes]


class ArchiveReader(Store):
    """A store that only reads.

    Args:
        read: returns a file, or the range of its bytes that a header `Range` names; raises Refused.
    """

    supports_writes = False
    supports_deletes = False
    supports_listing = False

    def __init__(self, read: Read) -> None:
        super().__init__(read_only=True)
        self._read = read

    def __eq__(self, other: object) -> bool:
        """Return whether it reads the same store."""
        return self is other

    __hash__ = Store.__hash__

    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Return a file or a part of it. None where there is none."""
        try:
            content = await asyncio.to_thread(self._read, key, _header(byte_range))
        except Refused as refusal:
            if refusal.status == 404:
                return None
            raise
        return prototype.buffer.from_bytes(content)

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        """Return parts of files."""
        return [await self.get(key, prototype, byte_range) for key, byte_range in key_ranges]

    async def exists(self, key: str) -> bool:
        """Return whether there is a file."""
        try:
            await asyncio.to_thread(self._read, key, "bytes=0-0")
        except Refused as refusal:
            return refusal.status != 404
        return True

    async def set(self, key: str, value: Buffer) -> None:
        """Refuse to write."""
        raise NotImplementedError("the archive of a service is only read")

    async def delete(self, key: str) -> None:
        """Refuse to delete."""
        raise NotImplementedError("the archive of a service is only read")

    def list(self) -> AsyncIterator[str]:
        """Refuse to list: the consolidated metadata name all arrays."""
        raise NotImplementedError("the archive of a service has no list of files")

    def list_prefix(self, _prefix: str) -> AsyncIterator[str]:
        """Refuse to list."""
        return self.list()

    def list_dir(self, _prefix: str) -> AsyncIterator[str]:
        """Refuse to list."""
        return self.list()


def _header(byte_range: ByteRequest | None) -> str | None:
    match byte_range:
        case RangeByteRequest(start, end):
            return f"bytes={start}-{end - 1}"
        case OffsetByteRequest(offset):
            return f"bytes={offset}-"
        case SuffixByteRequest(suffix):
            return f"bytes=-{suffix}"
    return None
