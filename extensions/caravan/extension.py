"""What file sets of Caravan add to the core."""

from jobspec.extensions import Extension

EXTENSION = Extension(
    package=__package__,
    sources={"caravan": "source:CaravanSource"},
    commands={"ingest caravan": "command:caravan"},
)
