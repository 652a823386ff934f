"""A Zarr store in a folder whose new metadata become visible at once.

Readers take the consolidated metadata of the root, one file. Values are written first, where no metadata of a reader
reaches; then the root's metadata are replaced by a rename, which makes all of them visible together. Whatever an
interrupted write leaves behind is invisible, and the next one overwrites it.
"""

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zarr.core.buffer import default_buffer_prototype
from zarr.storage import LocalStore, WrapperStore

if TYPE_CHECKING:
    from zarr.abc.store import ByteRequest
    from zarr.core.buffer import Buffer, BufferPrototype

ROOT = "zarr.json"
Json = dict[str, Any]


class StagedStore(WrapperStore[LocalStore]):
    """A store whose metadata are held back until `commit`. One process at a time may write it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(LocalStore(folder))
        self._folder = folder
        self._metadata: dict[str, bytes] = {}
        root = folder / ROOT
        self.exists_already = root.exists()
        stored: Json = json.loads(root.read_bytes()) if self.exists_already else {}
        self.attributes: Json = stored.get("attributes", {})
        # The arrays' own metadata may be older, if a commit was interrupted: the root's are the truth.
        for path, of_array in stored.get("consolidated_metadata", {}).get("metadata", {}).items():
            self._metadata[f"{path}/{ROOT}"] = json.dumps(of_array).encode()

    async def get(
        self, key: str, prototype: "BufferPrototype", byte_range: "ByteRequest | None" = None
    ) -> "Buffer | None":
        """Return the value of a key; of metadata the held ones alone."""
        if not key.endswith(ROOT):
            return await super().get(key, prototype, byte_range)
        held = self._metadata.get(key)
        return None if held is None else default_buffer_prototype().buffer.from_bytes(held)

    async def set(self, key: str, value: "Buffer") -> None:
        """Write a value; hold metadata back. Those of the root are written by `commit` alone."""
        if not key.endswith(ROOT):
            write(self._folder / key, value.to_bytes())
        elif key != ROOT:
            self._metadata[key] = value.to_bytes()

    async def set_if_not_exists(self, key: str, value: "Buffer") -> None:
        """Hold metadata back as `set` does: the library writes those of missing parents so."""
        if key not in self._metadata:
            await self.set(key, value)

    def clear_row(self, array: str, row: int) -> None:
        """Remove what an interrupted write left behind in a row that is not visible yet."""
        shutil.rmtree(self._folder / array / "c" / str(row), ignore_errors=True)

    def commit(self) -> None:
        """Make all writes visible: first in the root's metadata, then in those of each array."""
        arrays = {key.removesuffix(f"/{ROOT}"): json.loads(held) for key, held in sorted(self._metadata.items())}
        root = {
            "zarr_format": 3,
            "node_type": "group",
            "attributes": self.attributes,
            "consolidated_metadata": {"kind": "inline", "must_understand": False, "metadata": arrays},
        }
        write(self._folder / ROOT, json.dumps(root).encode())
        for key, held in self._metadata.items():
            file = self._folder / key
            if not file.exists() or file.read_bytes() != held:
                write(file, held)


def write(file: Path, content: bytes) -> None:
    """Replace a file as a whole. The part's name is always the same: what a killed process leaves is overwritten."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f".{file.name}.part")
    with part.open("wb") as opened:
        opened.write(content)
        opened.flush()
        os.fsync(opened.fileno())
    part.replace(file)
