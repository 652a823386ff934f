"""What training curves add to the core."""

from jobspec.extensions import Extension

EXTENSION = Extension(
    package=__package__,
    routers=["endpoints:router"],
    commands={"models curves": "command:curves"},
    model_section="section:section",
    training_events="events:EventWriter",
    guide=["curves.md"],
)
