"""What weights of versions add to the core."""

from jobspec.extensions import Extension

EXTENSION = Extension(package=__package__, commands={"models combine": "command:combine"})
