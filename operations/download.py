"""Where the data of a source are: a path as it is, a URL after it was fetched."""

from collections.abc import Callable, Collection
from pathlib import Path
from urllib.parse import urldefrag

from hydrology.errors import InvalidInput
from ingestion.addresses import HostPort
from ingestion.download import fetch


def local(
    text: str, folder: Path, allowed: Collection[HostPort], on_progress: Callable[[int, int | None], None]
) -> Path:
    """Return the path of a source; what a URL names is fetched into `folder` first.

    A URL may end in `#sha256=` and 64 hexadecimal digits, which what comes is held against.

    Args:
        text: a path or a URL.
        folder: where downloads go.
        allowed: hosts with their ports that need no public address.
        on_progress: called with the bytes that are here and the bytes there will be (None: the server does not say).

    Raises:
        InvalidInput: the fragment is no checksum.
        DownloadError: it cannot be fetched.
    """
    if "://" not in text:
        return Path(text)
    url, fragment = urldefrag(text)
    algorithm, _, checksum = fragment.partition("=")
    if fragment and (algorithm != "sha256" or len(checksum) != 64):
        raise InvalidInput(f"#{fragment} is not a checksum: end the URL with #sha256= and 64 hexadecimal digits.")
    return fetch(url, folder, sha256=checksum or None, allowed=allowed, on_progress=on_progress)
