"""The archive of all issued forecasts."""

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from freshet.client.resource import Resource

if TYPE_CHECKING:
    import xarray


class Archives(Resource):
    """The archive of all issued forecasts."""

    def archive(self) -> Any:
        """Return the stores of the archive, as the API answers them."""
        return json.loads(self._connection.get("/v1/archive", {}))

    def archive_file(self, path: str, *, byte_range: str | None = None) -> bytes:
        """Return a file of the archive, or a part of it.

        Args:
            path: such as forecasts.zarr/zarr.json.
            byte_range: such as bytes=0-99.
        """
        headers = {} if byte_range is None else {"Range": byte_range}
        return self._connection.get(f"/v1/archive/{path}", {}, headers)

    def open_archive(self, name: str = "forecasts.zarr") -> "xarray.Dataset":
        """Return a store of the archive as a dataset, whose values are read when they are used."""
        import xarray

        from freshet.client.archive_store import ArchiveReader

        store = ArchiveReader(partial(self._of_store, name))
        dataset: xarray.Dataset = xarray.open_zarr(store, consolidated=True, zarr_format=3, chunks=None)
        return dataset

    def _of_store(self, name: str, path: str, byte_range: str | None) -> bytes:
        return self.archive_file(f"{name}/{path}", byte_range=byte_range)
