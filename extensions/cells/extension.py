"""What series of cells add to the core."""

from jobspec.extensions import Extension

EXTENSION = Extension(
    package=__package__,
    routers=["endpoints:router"],
    commands={"cells": "command:cells"},
    guide=["cells.md"],
)
