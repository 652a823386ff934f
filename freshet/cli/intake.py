"""Files that a command reads: from anywhere, with its downloads shown."""

from freshet.cli.progress import Reporter
from operations.basin_data.source_paths import Intake
from runtime.settings import Settings


def any_intake(settings: Settings, reporter: Reporter) -> Intake:
    """Return an intake that reads files from anywhere and shows downloads."""

    def show(received: int, size: int | None) -> None:
        reporter.show("download", received, size or received, "bytes")

    return Intake(settings.data / "downloads", settings.ingest_hosts, None, show, lambda _name: None)
