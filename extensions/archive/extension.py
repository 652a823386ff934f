"""What the archive of forecasts adds to the core."""

from jobspec.extensions import Extension

EXTENSION = Extension(
    package=__package__,
    routers=["endpoints:router"],
    commands={"archive": "command:archive"},
    job_kinds={"job_kind:ArchiveJob": "job_handlers:archive"},
    after_daily="job_handlers:extend_archive",
    daily_folders=["archive"],
    settings="settings:ArchiveSettings",
    guide=["archive.md"],
)
