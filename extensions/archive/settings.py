"""Settings of the archive."""

from runtime.settings import EnvironmentSettings, Folder


class ArchiveSettings(EnvironmentSettings):
    """Where the archive is.

    Attributes:
        archive: the folder of the archive that every issued forecast is appended to and that `/v1/archive` serves; none
            by default.
    """

    archive: Folder | None = None
